"""Recordings in EDF, EDF+ and BDF files.

One file is one recording, named by its stem. Its clock is that of the fastest chosen signal; a
slower one repeats its samples. A signal label that repeats gets `` (2)``, `` (3)`` after it. An
EDF+D file with gaps between its data records is irregular, which is an error unless ``regular`` is
set; the gaps are then filled with NaN.

edfio parses the header (see `bdl.formats.edf_header`). It reads one signal at a time, and BDF
files only whole, so that data records are mapped into memory and converted here, some at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bdl.errors import InputError, require
from bdl.formats.channel_names import channel_names, channel_units, chosen_channels
from bdl.formats.edf_header import WHAT, EdfHeader, EdfSignal, read_header
from bdl.formats.files import reading
from bdl.formats.recordings.recording_format import GroupPattern, RecordingFormat, group_of
from bdl.formats.time_zones import start_in_zone
from bdl.recording import RecordingInfo, Recordings
from bdl.sampling import nearest_sample
from bdl.value_readers import ValueReader, Values

_CHUNK = 1 << 20  # samples of all signals
_SUBJECT = "^(sub-[A-Za-z0-9]+)_"  # in names of BIDS


class EdfRecordings(RecordingFormat):
    """EDF, EDF+ and BDF files.

    Parameters
    ----------
    channels
        Name of a signal, in the order given; all by default. A 10-20 electrode has one name
        however files write it: Fp1 is also EEG FP1-REF.
    aliases
        Name to use for a label, LABEL=NAME, if files label the same signal differently.
    channel_units
        Unit of a channel, CHANNEL=UNIT, where the file names none or a wrong one.
    period
        Seconds between two samples, if the file's own is to be checked.
    zone
        Zone of the file's start, which has none: an IANA name such as ``Europe/Zurich`` or a UTC
        offset such as ``+02:00``. Without it local times are right unless clocks are set.
    group_pattern
        Regular expression on the id; its first parenthesised group is the recording's group. By
        default the subject of a BIDS name is: sub-01 of sub-01_ses-2_eeg.
    regular
        Fill gaps between data records with missing values instead of refusing them.
    """

    kind: Literal["edf"] = "edf"
    suffixes: ClassVar[tuple[str, ...]] = (".edf", ".bdf")
    in_bids: ClassVar[str | None] = "sub-*/**/*eeg.?df"  # also ieeg
    channels: tuple[str, ...] | None = None
    aliases: dict[str, str] = Field(default_factory=dict)
    channel_units: dict[str, str] = Field(default_factory=dict)
    period: float | None = Field(default=None, gt=0)
    zone: str | None = None
    group_pattern: GroupPattern = None
    regular: bool = False

    def read(self, path: Path) -> Recordings:
        """Open one file; only its header is read."""
        require("edfio", "eeg")
        header = read_header(path)
        signals = [signal for signal in header.signals if not signal.is_annotation]
        if not signals:
            raise InputError(f"{path}: the file holds annotations only, no signals")
        labels = [signal.label for signal in signals]
        names = channel_names(labels, self.aliases)
        chosen_places = chosen_channels(names, labels, self.channels, path)
        named = {name: signals[place] for name, place in chosen_places.items()}
        channels, chosen = tuple(named), tuple(named.values())
        samples_per_record = max(signal.samples for signal in chosen)
        if header.duration == 0 or any(signal.samples == 0 for signal in chosen):
            rates = [f"{name} {named[name].samples}/{header.duration:g} s" for name in channels]
            raise InputError(
                f"{path}: sampling rates expected, got {', '.join(rates[:30])}; choose the "
                "channels that have one (--channel)"
            )
        period = header.duration / samples_per_record
        if self.period is not None and abs(self.period - period) > 1e-9 * period:
            raise InputError(
                f"{path}: a period of {self.period} s asked for, the file has {period}"
            )
        samples, places = header.records * samples_per_record, None
        slow = [name for name in channels if named[name].samples < samples_per_record]
        notes: tuple[str, ...] = ()
        if slow:
            rates = [f"{name} ({named[name].samples / header.duration:g} Hz)" for name in slow]
            notes = (
                f"{path}: signals slower than {1 / period:g} Hz repeat their samples: "
                f"{', '.join(rates)}",
            )
        if header.discontinuous and (gaps := _gaps(header, samples_per_record, period)):
            places, samples, note = gaps
            if not self.regular:
                raise InputError(
                    f"{note}; ask for a regular clock (regular=True, --regular) to fill them"
                )
            notes += (f"{note}, filled with missing values",)
        start, changes, zone_note = start_in_zone(header.start, self.zone, period, samples, path)
        group = group_of(path.stem, self.group_pattern or _SUBJECT)
        units = channel_units(
            channels, [signal.unit for signal in chosen], self.channel_units, path
        )
        info = RecordingInfo(
            path.stem, samples, channels, period, start, changes, group, units=units
        )
        return Recordings((info,), EdfReader(header, chosen, places), notes + zone_note)


@dataclass(frozen=True)
class EdfReader(ValueReader):
    """Reads the values of one EDF or BDF file."""

    header: EdfHeader
    signals: tuple[EdfSignal, ...]  # the chosen ones
    places: NDArray[np.int64] | None  # first sample of each data record, if there are gaps

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        return (self.header.path,)

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        if self.places is not None:
            yield self.read(info)
            return
        records = max(1, _CHUNK // max(1, self.header.width))
        for first in range(0, self.header.records, records):
            yield self._physical(slice(first, first + records)).reshape(-1, len(info.channels))

    def read(self, info: RecordingInfo) -> Values:
        records = self._physical(slice(None))
        if self.places is None:
            return records.reshape(info.samples, len(info.channels))
        values = np.full((info.samples, len(info.channels)), np.nan, np.float32)
        for place, record in zip(self.places.tolist(), records, strict=True):
            values[place : place + len(record)] = record
        return values

    def _physical(self, records: slice) -> Values:
        """Some records in physical units: (records, samples, channels)."""
        with reading(self.header.path, WHAT):
            digital = _digital(self.header)[records]
            samples_per_record = max(signal.samples for signal in self.signals)
            values = np.empty((len(digital), samples_per_record, len(self.signals)), np.float32)
            for i, signal in enumerate(self.signals):
                part = digital[:, signal.first : signal.first + signal.samples]
                if self.header.bdf:
                    wide = part.astype(np.int32)
                    part = wide[..., 0] | (wide[..., 1] << 8) | (wide[..., 2] << 16)
                    part = (part ^ 0x800000) - 0x800000
                physical = part.astype(np.float64) * signal.gain + signal.offset
                values[:, :, i] = physical[
                    :, np.arange(samples_per_record) * signal.samples // samples_per_record
                ]
        return values


def _digital(header: EdfHeader) -> NDArray[np.generic]:
    """The file's samples as (records, width); BDF as (records, width, 3) bytes."""
    shape = (header.records, header.width) + ((3,) if header.bdf else ())
    kind = np.uint8 if header.bdf else np.dtype("<i2")
    if header.records == 0:
        return np.zeros(shape, kind)
    return np.memmap(header.path, kind, "r", header.size, shape)


def _gaps(
    header: EdfHeader, samples_per_record: int, period: float
) -> tuple[NDArray[np.int64], int, str] | None:
    """First sample of every data record of an EDF+D file, its length and a note; None if regular.

    The first annotation of each record is its time.
    """
    timekeeping = next((signal for signal in header.signals if signal.is_annotation), None)
    if timekeeping is None:
        raise InputError(f"{header.path}: EDF+D without annotations: the records have no times")
    with reading(header.path, WHAT):
        records = _digital(header)[:, timekeeping.first : timekeeping.first + timekeeping.samples]
        times = np.array([float(record.tobytes().split(b"\x14", 1)[0]) for record in records])
    elapsed = times - times[0] if len(times) else times
    if not np.isfinite(elapsed).all() or (np.abs(elapsed) > 1e9).any():
        raise InputError(f"{header.path}: damaged times of the data records")
    places = nearest_sample(elapsed, period)
    steps = np.diff(places)
    if (steps < samples_per_record).any():
        record = int(np.argmax(steps < samples_per_record)) + 1
        raise InputError(
            f"{header.path}: data record {record} begins at {times[record]} s, before the one "
            "before ends"
        )
    gaps = steps > samples_per_record
    if not gaps.any():
        return None
    missing = int((steps[gaps] - samples_per_record).sum())
    note = f"{header.path}: EDF+D: {missing:,} missing samples in {int(gaps.sum()):,} gaps"
    samples = int(places[-1]) + samples_per_record
    if samples > 100 * header.records * samples_per_record:
        raise InputError(f"{note}, more than 99 of 100; are the times right?")
    return places, samples, note
