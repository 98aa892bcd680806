"""What the package keeps for itself (processed files, edits, the state of a stream); live lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bdl.detector.stream_state import pack, unpack
from bdl.explore.journal import Change, Entry, Journal, Label
from bdl.formats.done_files import DoneFiles, stamps
from bdl.live.line_formats import LineReader
from bdl.live.line_scan import scan
from fuzz.target import Target, WrongError, contents

LINES = b"time,x,y\n0.5,1,2\n1.0,,4\n1.5,3,4\n"
OBJECTS = b'{"time": 0.5, "values": [1, 2]}\n{"time": 1, "values": {"x": 1, "y": null}}\n'
PLAIN = b'{"time": 0.5, "values": [1.25e-3, -2]}\n{"values": [null, 12345.678], "time": 1}\n'
STATE = pack({"late": 2, "start": None}, {"intake": {"pending": np.arange(6.0)}})


def targets() -> Iterator[Target]:
    """One target per record."""
    with TemporaryDirectory() as name:
        _write(Path(name))
        files = contents(Path(name))
    for file, read in (("done.json", _done), ("journal.jsonl", _journal)):
        yield Target(f"kept {file}", {file: files[file]}, (file,), read)
    yield Target("kept stream", {"state": STATE}, ("state",), _state)
    for name, lines in (("csv", LINES), ("ndjson", OBJECTS)):
        yield Target(f"lines {name}", {"lines": lines}, ("lines",), _lines)
    yield Target("lines scan", {"lines": PLAIN + OBJECTS}, ("lines",), _scanned)


def _write(folder: Path) -> None:
    DoneFiles(folder / "done.json", purpose="p").write({"a": stamps([])})
    before, after = (Label(recording="a", event="beat", time=time) for time in (1.0, 2.0))
    change = Change(id=0, before=before, after=after)
    journal = Journal(folder / "journal.jsonl", table="t", digest="d")
    journal.append(Entry(number=1, at="2024-01-01", changes=(change,)))
    journal.append(Entry(number=2, at="2024-01-01", undo=1))


def _done(folder: Path) -> None:
    DoneFiles(folder / "done.json", purpose="p").is_new(folder / "done.json")


def _journal(folder: Path) -> None:
    for entry in Journal(folder / "journal.jsonl", table="t", digest="d").entries:
        for label in (side for change in entry.changes for side in (change.before, change.after)):
            if label is not None and not np.isfinite(label.time):
                raise WrongError("a time that is not finite")


def _state(folder: Path) -> None:
    saved = (folder / "state").read_bytes()
    header, _ = unpack(saved, "state")
    if saved != STATE or header["late"] != 2:
        raise WrongError("a damaged state was read")


def _lines(folder: Path) -> None:
    reader = LineReader(["x", "y"])
    for line in (folder / "lines").read_bytes().decode("utf-8", "replace").splitlines():
        sample = reader.sample(line)
        if sample is not None and np.isinf(sample.values).any():
            raise WrongError("infinite values")


def _scanned(folder: Path) -> None:
    """What compiled code reads must be what the other reader does."""
    text = (folder / "lines").read_bytes()
    lines = text.split(b"\n")
    _, scanned = scan([text], 2)
    for place in np.flatnonzero(scanned.read).tolist():
        sample = LineReader(["x", "y"], "ndjson").sample(lines[place].decode())
        assert sample is not None
        time = np.nan if sample.time is None else sample.time
        same = np.array_equal(scanned.values[place], np.float32(sample.values), equal_nan=True)
        if not same or not np.array_equal(scanned.times[place], time, equal_nan=True):
            raise WrongError(f"{lines[place]!r}: {scanned.values[place]} at {scanned.times[place]}")
