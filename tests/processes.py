"""Commands that are ended by signals, and whether any process they started outlives them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


class Family:
    """A command and every process that it starts, told by the folder in which they work.

    A variable of the environment would not do: a process that gives itself a title, as those of Ray
    do, writes it over them.
    """

    def __init__(self, *words: object) -> None:
        """Start Python with these words, such as ``-m bdl fit``."""
        self.folder = Path(tempfile.mkdtemp(prefix="family"))
        # No pipes: they would stay open as long as any process that inherits them.
        self.process = subprocess.Popen(
            [sys.executable, *map(str, words)],
            env={**os.environ, "PYTHONPATH": str(SOURCE), "COLUMNS": "200"},
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            # A parent in the background may ignore it, and children would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def members(self) -> list[int]:
        """Processes of the family that are alive."""
        ids = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (folder / "cwd").readlink() == self.folder:  # a zombie has none
                    ids.append(int(folder.name))
        return ids

    def workers(self) -> int:
        """Number of processes beside the command itself."""
        return len([pid for pid in self.members() if pid != self.process.pid])

    def end(self, number: signal.Signals, seconds: float = 10.0) -> list[int]:
        """Send a signal to the command alone; processes that are alive so many seconds later.

        Time in which one of them waits for a busy processor does not count, up to two minutes.
        """
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)
        until, counted = time.monotonic() + 120, 0.0
        while (left := self.members()) and counted < seconds and time.monotonic() < until:
            self.process.poll()
            time.sleep(0.1)
            counted += 0.0 if any(map(_is_runnable, left)) else 0.1
        return left

    def kill(self) -> None:
        """End all that is left."""
        for pid in self.members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder)


def _is_runnable(pid: int) -> bool:
    """Whether a process computes, or would if it could."""
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state in "RD"
    return False


@contextmanager
def started(*words: object) -> Iterator[Family]:
    """A running command; nothing of it is left afterwards."""
    family = Family(*words)
    try:
        yield family
    finally:
        family.kill()
