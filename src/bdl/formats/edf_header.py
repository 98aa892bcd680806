"""The header of an EDF, EDF+ or BDF file, checked against the file's length.

An EDF file is a header of 256 bytes, 256 more for every signal, and data records of a fixed
size. All of it is plain text, so it can lie: a length that does not fit the file is an error.
Only a record count of -1 (a recording that was cut off while it was made) is filled in.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from bdl.errors import InputError
from bdl.formats.files import existing, reading

_FIELDS = (16, 80, 8, 8, 8, 8, 8, 80, 8, 32)
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


@dataclass(frozen=True)
class Signal:
    """One signal: its label, its samples a data record, and the line from digits to units."""

    label: str
    samples: int
    first: int
    gain: float
    shift: float

    @property
    def is_annotation(self) -> bool:
        """Whether the signal holds EDF+ annotations instead of samples."""
        return self.label in ("EDF Annotations", "BDF Annotations")


@dataclass(frozen=True)
class EdfHeader:
    """What the header says, verified; ``width`` is the samples of all signals in a record."""

    path: Path
    bdf: bool
    size: int
    records: int
    duration: float
    width: int
    signals: tuple[Signal, ...]
    start: datetime | None
    discontinuous: bool


def read_header(path: str | Path) -> EdfHeader:
    """Read and verify a header; an error says what does not fit.

    >>> read_header("/no/such.edf")
    Traceback (most recent call last):
    bdl.errors.InputError: /no/such.edf: no such file
    """
    file = existing(path)
    with reading(file, "an EDF or BDF file"), open(file, "rb") as stream:
        head = stream.read(256)
        bdf = head[:8] == b"\xffBIOSEMI"
        if len(head) < 256 or not (bdf or head[:8] == b"0       "):
            raise InputError(
                f"{file}: an EDF or BDF header expected, got {head[:8]!r}; is it another format?"
            )
        count = _whole(file, head[252:256], "number of signals")
        if not 1 <= count <= 9999:
            raise InputError(f"{file}: {count} signals; the header is damaged")
        size = _whole(file, head[184:192], "header size")
        about = stream.read(256 * count)
        length = file.stat().st_size
    if size != 256 * (count + 1) or len(about) < 256 * count:
        raise InputError(
            f"{file}: a header of {256 * (count + 1)} bytes belongs to {count} signals, the file "
            f"says {size} and has {min(length, 256 + len(about))}; it is truncated or damaged"
        )
    signals = _signals(file, about, count)
    width = sum(signal.samples for signal in signals)
    duration = _real(file, head[244:252], "duration of a data record")
    if not 0 <= duration < 1e9:
        raise InputError(f"{file}: a data record of {duration} s; the header is damaged")
    told = _whole(file, head[236:244], "number of data records")
    records = _records(file, length - size, width * (3 if bdf else 2), told)
    reserved = head[192:236].decode("ascii", "replace")
    return EdfHeader(
        file, bdf, size, records, duration, width, signals, _start(head), "F+D" in reserved[:5]
    )


def _records(file: Path, held: int, each: int, told: int) -> int:
    if told == -1 and held % each == 0:
        return held // each
    if held != told * each or told < 0:
        short = told >= 0 and held < told * each
        raise InputError(
            f"{file}: its header claims {told} data records of {each} bytes, the file holds "
            f"{held / each:.2f}; "
            + ("it is truncated" if short else "the header lies about the file's length")
        )
    return told


def _signals(file: Path, about: bytes, count: int) -> tuple[Signal, ...]:
    columns, at = [], 0
    for width in _FIELDS:
        part = about[at : at + width * count]
        columns.append([part[i * width : (i + 1) * width] for i in range(count)])
        at += width * count
    labels, _, _, pmin, pmax, dmin, dmax, _, samples, _ = columns
    signals, first = [], 0
    for i in range(count):
        label = labels[i].decode("latin-1").strip("\x00 ")
        what = f"signal {i} ({label})"
        number = _whole(file, samples[i], f"samples of {what}")
        if not 1 <= number <= 10**8:
            raise InputError(f"{file}: {what} has {number} samples a record; the header is damaged")
        low = _real(file, pmin[i], f"physical minimum of {what}")
        high = _real(file, pmax[i], f"physical maximum of {what}")
        dlow = _whole(file, dmin[i], f"digital minimum of {what}")
        dhigh = _whole(file, dmax[i], f"digital maximum of {what}")
        signal = Signal(label, number, first, 1.0, 0.0)
        if not signal.is_annotation:
            if dhigh <= dlow or high == low:
                raise InputError(
                    f"{file}: {what} maps digits {dlow} to {dhigh} on {low} to {high}; two "
                    "different ends are needed"
                )
            gain = (high - low) / (dhigh - dlow)
            signal = Signal(label, number, first, gain, low - dlow * gain)
        signals.append(signal)
        first += number
    return tuple(signals)


def _text(file: Path, raw: bytes, what: str) -> str:
    try:
        return raw.decode("ascii").strip("\x00 ")
    except UnicodeDecodeError:
        raise InputError(f"{file}: {what}: plain text expected, got {raw!r}") from None


def _whole(file: Path, raw: bytes, what: str) -> int:
    text = _text(file, raw, what)
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{file}: {what}: a whole number expected, got {text!r}") from None


def _real(file: Path, raw: bytes, what: str) -> float:
    text = _text(file, raw, what)
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not np.isfinite(number):
        raise InputError(f"{file}: {what}: a number expected, got {text!r}")
    return number


def _start(head: bytes) -> datetime | None:
    """Local start, without a zone; None where it is not given or anonymised beyond use."""
    try:
        day, month, year = (int(part) for part in head[168:176].decode("ascii").split("."))
        hour, minute, second = (int(part) for part in head[176:184].decode("ascii").split("."))
        year += 1900 if year >= 85 else 2000
        words = head[88:168].decode("ascii", "replace").split(" ")
        if words[0] == "Startdate" and len(words) > 1 and words[1].count("-") == 2:
            date = words[1].split("-")
            day, month, year = int(date[0]), MONTHS.index(date[1].upper()) + 1, int(date[2])
        return datetime(year, month, day, hour, minute, second)
    except (ValueError, IndexError):
        return None
