"""Outputs to which a session writes its detections."""

from __future__ import annotations

import os
import stat
from typing import Any, Protocol


class Output(Protocol):
    """An output for lines of detections, which may know its current end."""

    def place(self) -> dict[str, Any] | None:
        """The current end of the output, as plain data; None if it is not known."""

    def write(self, lines: bytes) -> None:
        """Write lines completely."""


class OutputFile:
    """An open file, such as standard output.

    After a kill, the end of a regular file shows how much of the last lines was written; that of a
    pipe is not known. The descriptor is the number of the open file; 1 is standard output.
    """

    def __init__(self, descriptor: int = 1) -> None:
        self.descriptor = descriptor

    def place(self) -> dict[str, Any] | None:
        status = os.fstat(self.descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        return {"file": [status.st_dev, status.st_ino], "size": status.st_size}

    def write(self, lines: bytes) -> None:
        unwritten = memoryview(lines)
        while unwritten:
            unwritten = unwritten[os.write(self.descriptor, unwritten) :]


def unwritten(lines: bytes, before: dict[str, Any] | None, now: dict[str, Any] | None) -> bytes:
    """The part of some lines that still has to be written, after the process was killed.

    ``before`` and ``now`` are the ends of the output before the lines were written, and now. If it
    is not known how much was written, all lines are written again, so that none is lost.

    Examples
    --------
    >>> start = {"file": [1, 2], "size": 10}
    >>> unwritten(b"abc", start, {"file": [1, 2], "size": 12})
    b'c'
    >>> unwritten(b"abc", None, None)
    b'abc'
    """
    if before is None or now is None or before["file"] != now["file"]:
        return lines
    written = now["size"] - before["size"]
    return lines[written:] if 0 <= written <= len(lines) else lines
