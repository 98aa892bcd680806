"""The header of an EDF, EDF+ or BDF file, checked against the file's length.

edfio parses the fields of the header, but trusts the file: it repairs a wrong number of data
records with a warning and reads what is there. Lengths are therefore checked here: one that does
not fit the file is an error, except a number of records of -1 (an interrupted recording), which is
filled in.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from bdl.errors import InputError, require
from bdl.formats.files import existing, reading

WHAT = "an EDF or BDF file"
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class EdfSignal:
    """One signal of a data record; a digital value ``d`` is ``d * gain + offset`` in its unit."""

    label: str
    samples: int  # per data record
    first: int  # place of its first sample in a data record
    gain: float
    offset: float
    is_annotation: bool  # whether it holds EDF+ annotations instead of samples
    unit: str = ""  # physical dimension, such as uV; empty if the file names none


@dataclass(frozen=True)
class EdfHeader:
    """A verified header."""

    path: Path
    bdf: bool  # whether samples have three bytes instead of two
    size: int  # bytes of the header
    records: int  # number of data records
    duration: float  # seconds per data record
    width: int  # samples of all signals per data record
    signals: tuple[EdfSignal, ...]  # annotations included
    start: datetime | None  # local, without a zone
    discontinuous: bool  # whether there may be gaps between data records (EDF+D)


def read_header(path: str | Path) -> EdfHeader:
    """Read and verify a header; an error says what does not fit.

    Examples
    --------
    >>> read_header("/no/such.edf")
    Traceback (most recent call last):
    bdl.errors.InputError: /no/such.edf: no such file
    """
    file = existing(path)
    with reading(file, WHAT), open(file, "rb") as stream:
        head = stream.read(256)
        bdf = head[:8] == b"\xffBIOSEMI"
        if len(head) < 256 or not (bdf or head[:8] == b"0       "):
            raise InputError(
                f"{file}: an EDF or BDF header expected, got {head[:8]!r}; is it another format?"
            )
        count = _whole(file, head[252:256], "number of signals")
        size = _whole(file, head[184:192], "length of the header")
        if not 1 <= count <= 9999:
            raise InputError(f"{file}: {count} signals; the header is damaged")
        raw = head + stream.read(256 * count)
        length = file.stat().st_size
        if size != 256 * (count + 1) or len(raw) < size:
            raise InputError(
                f"{file}: a header of {256 * (count + 1)} bytes belongs to {count} signals, the "
                f"file says {size} and has {min(length, len(raw))}; it is truncated or damaged"
            )
        parsed = _parse(raw, bdf)
        signals = _signals(file, raw, parsed)
        duration = float(head[244:252])
        if not 0 <= duration < 1e9:
            raise InputError(f"{file}: a data record of {duration} s; the header is damaged")
        claimed = _whole(file, head[236:244], "number of data records")
        width = sum(signal.samples for signal in signals)
        records = _records(file, length - size, width * (3 if bdf else 2), claimed)
        start = _start(raw, bdf)
    return EdfHeader(
        file, bdf, size, records, duration, width, signals, start, "F+D" in parsed.reserved[:5]
    )


def _whole(file: Path, field: bytes, what: str) -> int:
    try:
        return int(field)
    except ValueError as error:
        raise InputError(
            f"{file}: the {what} in its header is not a whole number, {field!r}; it is damaged, or "
            "another kind of file"
        ) from error


def _parse(raw: bytes, bdf: bool) -> Any:
    """The header as edfio sees it, without data and with annotations as ordinary signals.

    Records of a file with annotations only last 0 s, which edfio does not allow for such signals.
    """
    edfio = require("edfio", "eeg")
    plain = raw[:244] + b"1       " + raw[252:]
    plain = plain.replace(b"F Annotations ", b"F annotations ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = edfio.read_bdf if bdf else edfio.read_edf
        return read(plain, header_encoding="latin-1")


def _signals(file: Path, raw: bytes, parsed: Any) -> tuple[EdfSignal, ...]:
    signals: list[EdfSignal] = []
    first = 0
    for number, signal in enumerate(parsed.signals):
        label = raw[256 + 16 * number : 272 + 16 * number].decode("latin-1").strip("\x00 ")
        where = f"{file}: signal {number} ({label})"
        samples = signal.samples_per_data_record
        if not 1 <= samples <= 10**8:
            raise InputError(f"{where} has {samples} samples per record; the header is damaged")
        is_annotation = label in ("EDF Annotations", "BDF Annotations")
        gain, offset = 1.0, 0.0
        if not is_annotation:
            low, high = signal.digital_min, signal.digital_max
            bottom, top = signal.physical_min, signal.physical_max
            if high <= low or bottom == top or not np.isfinite([bottom, top]).all():
                raise InputError(
                    f"{where} maps digits {low} to {high} on {bottom} to {top}; two different "
                    "numbers are needed"
                )
            gain = (top - bottom) / (high - low)
            offset = bottom - low * gain
            if not abs(offset) + (1 << 24) * abs(gain) < _LARGEST:
                raise InputError(
                    f"{where} has a range of {bottom:g} to {top:g}, beyond what a value can be"
                )
        unit = str(signal.physical_dimension).strip("\x00 ")
        signals.append(EdfSignal(label, samples, first, gain, offset, is_annotation, unit))
        first += samples
    return tuple(signals)


def _records(file: Path, held: int, record_size: int, claimed: int) -> int:
    if claimed == -1 and held % record_size == 0:
        return held // record_size
    if held != claimed * record_size or claimed < 0:
        short = claimed >= 0 and held < claimed * record_size
        raise InputError(
            f"{file}: its header claims {claimed} data records of {record_size} bytes, the file "
            f"holds {held / record_size:.2f}; "
            + ("it is truncated" if short else "the header does not fit the file's length")
        )
    return claimed


def _start(raw: bytes, bdf: bool) -> datetime | None:
    """Local start, without a zone; None if it is not given."""
    # An anonymised or invalid EDF+ date leaves the date of plain EDF, which edfio then reads.
    for header in (raw, raw[:88] + b" " * 80 + raw[168:]):
        with suppress(ValueError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start: datetime = _parse(header, bdf).startdatetime
            return start
    return None
