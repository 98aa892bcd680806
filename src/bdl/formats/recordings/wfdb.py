"""Recordings in WFDB records (PhysioNet).

One header file ``<record>.hea`` is one recording, named by its stem. Values are in physical
units; samples marked invalid are NaN. Signal files must be as long as the header says, be beside
it, and add up to its checksums if it has them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from bdl.errors import InputError, require
from bdl.formats.channel_names import channel_names, channel_units, chosen_channels
from bdl.formats.files import reading
from bdl.formats.recordings.recording_format import GroupPattern, RecordingFormat, group_of
from bdl.formats.time_zones import start_in_zone
from bdl.formats.wfdb_header import WHAT, read_header, signal_files
from bdl.recording import RecordingInfo, Recordings
from bdl.value_readers import Values, WholeReader


class WfdbRecordings(RecordingFormat):
    """WFDB records (PhysioNet), by their header files.

    Parameters
    ----------
    channels
        Name of a signal, in the order given; all by default.
    aliases
        Name to use for a label, LABEL=NAME, if files label the same signal differently.
    channel_units
        Unit of a channel, CHANNEL=UNIT, where the file names none or a wrong one.
    zone
        Zone of the record's start, which has none: an IANA name such as ``Europe/Zurich`` or a
        UTC offset such as ``+02:00``. Without it local times are right unless clocks are set.
    group_pattern
        Regular expression on the id; its first parenthesised group is the recording's group.
    """

    kind: Literal["wfdb"] = "wfdb"
    suffixes: ClassVar[tuple[str, ...]] = (".hea",)
    channels: tuple[str, ...] | None = None
    aliases: dict[str, str] = Field(default_factory=dict)
    channel_units: dict[str, str] = Field(default_factory=dict)
    zone: str | None = None
    group_pattern: GroupPattern = None

    def read(self, path: Path) -> Recordings:
        """Open one record; only its header is read."""
        require("wfdb", "ecg")
        header = read_header(path)
        files = tuple(signal_files(path, header))
        names = channel_names(header.sig_name, self.aliases)
        places = chosen_channels(names, header.sig_name, self.channels, path)
        channels = tuple(places)
        notes: tuple[str, ...] = ()
        if any(frame and frame > 1 for frame in getattr(header, "samps_per_frame", None) or ()):
            notes = (f"{path}: signals of several samples per frame were averaged to the frame",)
        local = None
        if header.base_date is not None and header.base_time is not None:
            local = datetime.combine(header.base_date, header.base_time)
        period, samples, id = 1.0 / header.fs, header.sig_len, path.stem
        start, changes, zone_note = start_in_zone(local, self.zone, period, samples, path)
        group = group_of(id, self.group_pattern)
        header_units = getattr(header, "units", None) or [""] * len(names)
        units = channel_units(
            channels,
            [header_units[place] or "" for place in places.values()],
            self.channel_units,
            path,
        )
        info = RecordingInfo(id, samples, channels, period, start, changes, group, units=units)
        return Recordings((info,), WfdbReader(path.resolve(), files, places), notes + zone_note)


@dataclass(frozen=True)
class WfdbReader(WholeReader):
    """Reads the values of one WFDB record."""

    header: Path
    signals: tuple[Path, ...]  # signal files
    places: Mapping[str, int]  # number of the signal of each channel

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        return (self.header, *self.signals)

    def read(self, info: RecordingInfo) -> Values:
        wfdb = require("wfdb", "ecg")
        name = str(self.header.with_suffix(""))
        with reading(self.header, WHAT), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record = wfdb.rdrecord(name, physical=False)
            if isinstance(record, wfdb.Record):
                _verify_sums(self.header, record)
                record.p_signal = record.dac()
            else:
                record = wfdb.rdrecord(name)
            chosen = [self.places[channel] for channel in info.channels]
            values: Values = record.p_signal[:, chosen].astype(np.float32)
        if values.shape != (info.samples, len(info.channels)):
            raise InputError(
                f"{self.header}: {info.samples} samples expected, got {len(values)}; it is "
                "truncated"
            )
        if np.isinf(values).any():
            raise InputError(f"{self.header}: infinite values; is a gain zero?")
        return values


def _verify_sums(header: Path, record: Any) -> None:
    """Check that a signal's samples add up to the header's checksum, modulo 65,536."""
    for i, checksum in enumerate(record.checksum or ()):
        if checksum is None:
            continue
        total = int(record.d_signal[:, i].astype(np.int64).sum())
        if (total - checksum) % 65536:
            raise InputError(
                f"{header}: signal {record.sig_name[i]!r} does not add up to the header's "
                "checksum; the signal file is damaged"
            )
