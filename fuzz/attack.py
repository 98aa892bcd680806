"""Cases run in a worker process; another one goes on after a case that killed it or took long."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 10.0  # of processor time that a case may take: a busy machine changes nothing
ASLEEP = 30  # times as long may pass while a case waits for something
START = 600.0  # seconds that a worker may take until its first case


@dataclass(frozen=True)
class Case:
    """What came of one case."""

    number: int
    target: str
    outcome: str
    detail: str


def attack(
    names: list[str],
    seed: int,
    first: int,
    last: int,
    keep: str | None = None,
    seconds: float = SECONDS,
) -> Iterator[Case]:
    """Yield the outcome of each case, in order.

    Parameters
    ----------
    names
        Names that targets begin with; none for all targets.
    seed
        Seed of the cases.
    first, last
        Number of the first case, and of the one after the last.
    keep
        Folder for the files of bad cases.
    seconds
        Processor time that a case may take; one that takes longer hangs.
    """
    while first < last:
        words = json.dumps(
            {"names": names, "seed": seed, "first": first, "last": last, "keep": keep}
        )
        worker = subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker", words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).parents[1],
        )
        messages = _lines(worker)
        targets = _parsed(messages.get(timeout=START))["ready"]
        _parsed(messages.get(timeout=START))  # every whole file was read
        try:
            while first < last:
                try:
                    line = _parsed(_next(messages, worker.pid, seconds))
                except (queue.Empty, EOFError) as ended:
                    outcome = "hang" if isinstance(ended, queue.Empty) else "crash"
                    yield Case(first, targets[first % len(targets)], outcome, str(worker.poll()))
                    first += 1
                    break
                yield Case(line["case"], line["target"], line["outcome"], line["detail"])
                first = line["case"] + 1
        finally:
            worker.kill()
            worker.wait()


def _lines(worker: subprocess.Popen[bytes]) -> queue.Queue[bytes]:
    """The lines that a process prints, as they come; an empty one is its end."""
    lines: queue.Queue[bytes] = queue.Queue()

    def listen() -> None:
        assert worker.stdout is not None
        with worker.stdout as stream:
            for line in stream:
                lines.put(line)
        lines.put(b"")

    threading.Thread(target=listen, daemon=True).start()
    return lines


def _next(lines: queue.Queue[bytes], process: int, seconds: float) -> bytes:
    """The next line; no line within so many seconds of the process's own time raises `Empty`."""
    until, most = time.monotonic() + ASLEEP * seconds, _processor_time(process) + seconds
    while True:
        try:
            return lines.get(timeout=seconds / 4)
        except queue.Empty:
            if _processor_time(process) >= most or time.monotonic() >= until:
                raise


def _processor_time(process: int) -> float:
    """Seconds that a process has computed."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _parsed(line: bytes) -> dict[str, Any]:
    if not line:
        raise EOFError("the worker has ended; `python -m fuzz.worker` tells why")
    message: dict[str, Any] = json.loads(line)
    return message
