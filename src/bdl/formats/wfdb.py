"""WFDB records (PhysioNet) and their annotations.

One header file ``<record>.hea`` is one recording, named by its stem. Values come in physical
units; samples marked invalid are NaN. Signal files must be as long as the header says, lie beside
it, and add up to its checksums where it has them. The header's start has no UTC offset, so it is
kept only where the zone is given. Annotations stand on the record's sample clock; an event type
is the annotation's symbol (``N``, ``V``, ...) or its note (``(AFIB``).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError, require
from bdl.events import Events
from bdl.formats.files import existing, matching, reading
from bdl.formats.layout import Layout
from bdl.formats.wfdb_annotations import read_annotation_file
from bdl.formats.zones import in_zone
from bdl.recording import RecordingInfo, Recordings, Values
from bdl.value_readers import WholeReader

_WHAT = "a WFDB record"
# Bytes a sample in each storage format whose length is fixed.
_BYTES = {"8": 1.0, "16": 2.0, "24": 3.0, "32": 4.0, "61": 2.0, "80": 1.0, "160": 2.0, "212": 1.5}


@dataclass(frozen=True)
class WfdbReader(WholeReader):
    """Reads the values of WFDB records."""

    records: dict[str, tuple[Path, tuple[str, ...]]]

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        """Header and signal files of the recording."""
        return tuple(map(Path, self.records[info.id][1]))

    def read(self, info: RecordingInfo) -> Values:
        """All values of one recording: (samples, channels)."""
        wfdb = require("wfdb", "ecg")
        header, _ = self.records[info.id]
        with reading(header, _WHAT), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record = wfdb.rdrecord(str(header.with_suffix("")), physical=False)
            if isinstance(record, wfdb.Record):
                _verify_sums(header, record)
                record.p_signal = record.dac()
            else:
                record = wfdb.rdrecord(str(header.with_suffix("")))
            names = _names(record.sig_name)
            chosen = [names.index(name) for name in info.channels]
            values: Values = record.p_signal[:, chosen].astype(np.float32)
        if values.shape != (info.samples, len(info.channels)):
            raise InputError(
                f"{header}: {info.samples} samples expected, {len(values)} came; it is truncated"
            )
        if np.isinf(values).any():
            raise InputError(f"{header}: infinite values; is a gain zero?")
        return values


def _verify_sums(header: Path, record: Any) -> None:
    """A signal's samples add up to the header's checksum, modulo 65,536."""
    for i, told in enumerate(record.checksum or ()):
        if told is None:
            continue
        found = int(record.d_signal[:, i].astype(np.int64).sum())
        if (found - told) % 65536:
            raise InputError(
                f"{header}: signal {record.sig_name[i]!r} does not add up to the header's "
                "checksum; the signal file is damaged"
            )


def read_wfdb(files: Iterable[Path], layout: Layout) -> Recordings:
    """Open WFDB records by their header files; only headers are read."""
    require("wfdb", "ecg")
    infos: list[RecordingInfo] = []
    records: dict[str, tuple[Path, tuple[str, ...]]] = {}
    notes: list[str] = []
    for file in files:
        header = read_header(file)
        id = file.stem
        if id in records:
            raise InputError(f"two recordings have the id {id!r}: {records[id][0]} and {file}")
        samples, names = header.sig_len, _names(header.sig_name)
        used = _signal_files(file, header)
        wanted = layout.channels or tuple(names)
        for name in wanted:
            if name not in names:
                raise InputError(f"{file}: channel {name!r} is missing; it has {', '.join(names)}")
        if any(frame and frame > 1 for frame in getattr(header, "samps_per_frame", None) or ()):
            notes.append(f"{file}: signals of several samples a frame were averaged to the frame")
        period = 1.0 / header.fs
        local = None
        if header.base_date is not None and header.base_time is not None:
            local = datetime.combine(header.base_date, header.base_time)
        start, changes = in_zone(local, layout.zone, period, samples)
        infos.append(
            RecordingInfo(id, samples, wanted, period, start, changes, layout.group_of(id))
        )
        records[id] = (file.resolve(), (str(file), *map(str, used)))
    return Recordings(tuple(infos), WfdbReader(records), tuple(notes))


def read_header(file: Path) -> Any:
    """A record's header, its rate, length and file names checked."""
    wfdb = require("wfdb", "ecg")
    existing(file)
    with reading(file, _WHAT), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        header = wfdb.rdheader(str(file.resolve().with_suffix("")))
        rate, length = float(header.fs), header.sig_len
    if not (math.isfinite(rate) and rate > 0):
        raise InputError(f"{file}: a positive sampling rate expected, got {rate}")
    if length is None or not 0 <= length < 2**48:
        raise InputError(f"{file}: the header does not say how long the record is; got {length}")
    for name in (*(getattr(header, "file_name", None) or ()), *(getattr(header, "seg_name", ()))):
        # A header is data from outside: it must not open files elsewhere, or over the network.
        if any(mark in name for mark in ("/", "\\", ":", "\x00")) or name in ("", ".", ".."):
            raise InputError(f"{file}: the signal file {name!r} must lie beside the header")
    if not header.n_sig or (hasattr(header, "file_name") and not header.sig_name):
        raise InputError(f"{file}: the record has no signals")
    if not hasattr(header, "file_name"):
        with reading(file, _WHAT), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = wfdb.rdheader(str(file.resolve().with_suffix("")), rd_segments=True)
            header.sig_name = header.sig_name or whole.get_sig_name()
    return header


def _signal_files(file: Path, header: Any) -> list[Path]:
    """The signal files of a record, each at least as long as the header says."""
    if not hasattr(header, "file_name"):
        return [file.with_name(f"{name}.hea") for name in header.seg_name if name != "~"]
    names = list(dict.fromkeys(header.file_name))
    for name in names:
        signal_file = existing(file.with_name(name))
        rows = [i for i, other in enumerate(header.file_name) if other == name]
        each = [
            _BYTES.get(str(header.fmt[i]), 0.0) * (header.samps_per_frame[i] or 1) for i in rows
        ]
        needed = (header.byte_offset[rows[0]] or 0) + math.floor(sum(each) * header.sig_len)
        held = signal_file.stat().st_size
        if held < needed:
            raise InputError(
                f"{signal_file}: {needed:,} bytes belong to {header.sig_len:,} samples, the file "
                f"holds {held:,}; it is truncated"
            )
    return [file.with_name(name) for name in names]


def _names(labels: Iterable[str | None]) -> list[str]:
    """Signal names; a repeated one gets a number."""
    names: list[str] = []
    for label in labels:
        name, number = label or "(no name)", 1
        while name in names:
            number += 1
            name = f"{label or '(no name)'} ({number})"
        names.append(name)
    return names


def read_beats(
    path: str | Path,
    *,
    extension: str = "atr",
    labels: Literal["symbol", "aux_note"] = "symbol",
) -> Events:
    """Annotations of one record, or of all records of a folder, in seconds.

    With ``labels="aux_note"`` only annotations with a note are events, named by the note.
    """
    require("wfdb", "ecg")
    place = Path(path)
    if place.is_file() and place.suffix != ".hea":
        extension = place.suffix.lstrip(".") or extension
        place = place.with_suffix(".hea")
    recordings: list[str] = []
    types: list[str] = []
    times: list[NDArray[np.float64]] = [np.zeros(0)]
    for file in matching(place, (".hea",)):
        rate = float(read_header(file).fs)
        found = read_annotation_file(file.with_suffix(f".{extension}"))
        texts = found.symbols if labels == "symbol" else found.notes
        keep = np.array([bool(text) for text in texts], dtype=bool)
        recordings += [file.stem] * int(keep.sum())
        types += [text for text in texts if text]
        times.append(found.samples[keep] / (found.rate or rate))
    together = np.concatenate(times)
    return Events.of(recordings, types, together) if len(together) else Events.empty()
