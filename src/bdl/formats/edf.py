"""EDF, EDF+ and BDF recordings and their annotations.

One file is one recording, named by its stem. Samples are memory-mapped and turned into physical
units on demand. All chosen channels must have one sampling rate. The header's start has no UTC
offset, so it is kept only where the zone is given. A signal label that repeats gets `` (2)``,
`` (3)`` after it. An EDF+D file with gaps between its data records is irregular: an error unless
a regular clock was asked for, which fills them with NaN.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError, require
from bdl.events import Events
from bdl.formats.edf_header import EdfHeader, Signal, read_header
from bdl.formats.files import matching, reading
from bdl.formats.layout import Layout
from bdl.formats.spans import Spans, to_events
from bdl.formats.zones import in_zone
from bdl.intervals import IntervalType
from bdl.recording import RecordingInfo, Recordings, Values
from bdl.sampling import nearest_sample
from bdl.value_readers import ValueReader

SUFFIXES = (".edf", ".bdf")
_SAMPLES = 1 << 20


@dataclass(frozen=True)
class EdfPart:
    """One opened file: its header, the chosen signals and each record's first sample."""

    header: EdfHeader
    signals: tuple[Signal, ...]
    places: NDArray[np.int64] | None


@dataclass(frozen=True)
class EdfReader(ValueReader):
    """Reads the values of EDF and BDF files."""

    parts: dict[str, EdfPart]

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        """The file that holds the recording."""
        return (self.parts[info.id].header.path,)

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        """Values of one recording in order, some data records at a time."""
        part = self.parts[info.id]
        if part.places is not None:
            yield self.read(info)
            return
        each = part.signals[0].samples
        records = max(1, _SAMPLES // max(1, part.header.width))
        for first in range(0, part.header.records, records):
            last = min(first + records, part.header.records)
            yield _physical(part, first, last).reshape((last - first) * each, -1)

    def read(self, info: RecordingInfo) -> Values:
        """All values of one recording: (samples, channels)."""
        part = self.parts[info.id]
        values = _physical(part, 0, part.header.records)
        if part.places is None:
            return values.reshape(info.samples, len(info.channels))
        out = np.full((info.samples, len(info.channels)), np.nan, np.float32)
        for place, record in zip(part.places.tolist(), values, strict=True):
            out[place : place + len(record)] = record
        return out


def _digits(header: EdfHeader) -> NDArray[np.generic]:
    """The file's samples as (records, width); BDF as (records, width, 3) bytes."""
    shape = (header.records, header.width) + ((3,) if header.bdf else ())
    kind = np.uint8 if header.bdf else np.dtype("<i2")
    if header.records == 0:
        return np.zeros(shape, kind)
    return np.memmap(header.path, kind, "r", header.size, shape)


def _physical(part: EdfPart, first: int, last: int) -> Values:
    """Some records as (records, samples, channels)."""
    header = part.header
    with reading(header.path, "an EDF or BDF file"):
        held = _digits(header)[first:last]
        out = np.empty((last - first, part.signals[0].samples, len(part.signals)), np.float32)
        for i, signal in enumerate(part.signals):
            digits = held[:, signal.first : signal.first + signal.samples]
            if header.bdf:
                wide = digits.astype(np.int32)
                digits = wide[..., 0] | (wide[..., 1] << 8) | (wide[..., 2] << 16)
                digits = (digits ^ 0x800000) - 0x800000
            out[:, :, i] = digits.astype(np.float64) * signal.gain + signal.shift
    return out


def read_edf(files: Iterable[Path], layout: Layout) -> Recordings:
    """Open EDF and BDF files, one recording each; only headers are read."""
    require("edfio", "eeg")
    infos: list[RecordingInfo] = []
    parts: dict[str, EdfPart] = {}
    notes: list[str] = []
    for file in files:
        info, part, told = _open(file, layout)
        if info.id in parts:
            raise InputError(
                f"two recordings have the id {info.id!r}: {parts[info.id].header.path} and {file}"
            )
        infos.append(info)
        parts[info.id] = part
        notes += told
    return Recordings(tuple(infos), EdfReader(parts), tuple(notes))


def _open(file: Path, layout: Layout) -> tuple[RecordingInfo, EdfPart, list[str]]:
    header = read_header(file)
    named = _named(header)
    wanted = layout.channels or tuple(named)
    for name in wanted:
        if name not in named:
            raise InputError(f"{file}: channel {name!r} is missing; it has {', '.join(named)}")
    signals = tuple(named[name] for name in wanted)
    if not signals:
        raise InputError(f"{file}: the file holds annotations only, no signals")
    counts = {signal.samples for signal in signals}
    if len(counts) > 1 or header.duration == 0:
        rates = ", ".join(
            f"{name} {named[name].samples}/{header.duration:g} s" for name in wanted[:30]
        )
        raise InputError(
            f"{file}: channels of one sampling rate expected, got {rates}; choose the channels"
        )
    each = signals[0].samples
    period = header.duration / each
    if layout.period is not None and abs(layout.period - period) > 1e-9 * period:
        raise InputError(f"{file}: a period of {layout.period} s asked for, the file has {period}")
    places: NDArray[np.int64] | None = None
    notes: list[str] = []
    samples = header.records * each
    if header.discontinuous:
        places, samples, notes = _places(header, each, period, layout.regular)
    start, changes = in_zone(header.start, layout.zone, period, samples)
    id = file.stem
    info = RecordingInfo(id, samples, wanted, period, start, changes, layout.group_of(id))
    return info, EdfPart(header, signals, places), notes


def _named(header: EdfHeader) -> dict[str, Signal]:
    """Signals that hold samples, by label; a repeated label gets a number."""
    named: dict[str, Signal] = {}
    for signal in header.signals:
        if signal.is_annotation:
            continue
        name, number = signal.label or "(no label)", 1
        while name in named:
            number += 1
            name = f"{signal.label or '(no label)'} ({number})"
        named[name] = signal
    return named


def _places(
    header: EdfHeader, each: int, period: float, regular: bool
) -> tuple[NDArray[np.int64] | None, int, list[str]]:
    """First sample of every data record of an EDF+D file, by its timekeeping annotations."""
    keeper = next((signal for signal in header.signals if signal.is_annotation), None)
    if keeper is None:
        raise InputError(f"{header.path}: EDF+D without annotations: the records have no times")
    with reading(header.path, "an EDF+ file"):
        held = _digits(header)[:, keeper.first : keeper.first + keeper.samples]
        onsets = [float(record.tobytes().split(b"\x14", 1)[0]) for record in held]
    times = np.array(onsets)
    away = times - times[0] if len(times) else times
    if not np.isfinite(away).all() or (np.abs(away) > 1e9).any():
        raise InputError(f"{header.path}: damaged times of the data records")
    places = nearest_sample(away, period)
    steps = np.diff(places)
    if (steps < each).any():
        at = int(np.flatnonzero(steps < each)[0]) + 1
        raise InputError(
            f"{header.path}: data record {at} begins at {times[at]} s, before the one before ends"
        )
    gaps = np.flatnonzero(steps > each)
    if not len(gaps):
        return None, header.records * each, []
    missing = int((steps[gaps] - each).sum())
    told = f"{header.path}: EDF+D: {missing:,} missing samples in {len(gaps):,} gaps"
    if not regular:
        raise InputError(f"{told}; ask for a regular clock (regular=True, --regular) to fill them")
    samples = int(places[-1]) + each
    if samples > 100 * header.records * each:
        raise InputError(f"{told}, more than 99 of 100; are the times right?")
    return places, samples, [f"{told}, filled with missing values"]


def read_annotations(
    path: str | Path, *, intervals: Iterable[IntervalType] | None = None
) -> Events:
    """Annotations of EDF+ and BDF+ files: texts with a duration become onset and offset."""
    edfio = require("edfio", "eeg")
    spans = Spans()
    for file in matching(path, SUFFIXES):
        header = read_header(file)
        with reading(file, "an EDF or BDF file"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = edfio.read_bdf if header.bdf else edfio.read_edf
            found = read(file).annotations
        for onset, duration, text in found:
            if text.strip():
                end = None if duration is None else onset + duration
                spans.add(file.stem, text.strip(), float(onset), end)
    return to_events(spans, path, intervals)
