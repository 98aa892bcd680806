"""MIT-BIH Arrhythmia Database: two-lead ECG, 360 Hz (PhysioNet, ODC-By 1.0).

Layout: WFDB files as published, ``NNN.hea``, ``NNN.dat``, ``NNN.atr``. Task ``beats``: every
annotation whose symbol is a beat is one event of type ``beat``. Task ``afib``: an episode runs
from a rhythm note ``(AFIB`` to the next rhythm note, or to the end of the record. The leads are
named by their place, modified limb lead II first where a record has it, because the leads differ
from record to record. A record is a group, but 201 and 202, which come from one patient.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from bdl.datasets.dataset import Dataset, Settings
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats.layout import Layout
from bdl.formats.wfdb import read_beats, read_wfdb
from bdl.intervals import IntervalType
from bdl.recording import RecordingInfo

BEATS = frozenset("NLRBAaJSVrFejnE/fQ?")
CHANNELS = ("lead_1", "lead_2")
LICENCE = "licence: ODC-By 1.0; Moody and Mark, MIT-BIH Arrhythmia Database, PhysioNet"
AFIB = IntervalType.named("afib")

BEAT_SETTINGS = Settings(
    types=("beat",),
    tolerances=(0.02, 0.05, 0.1, 0.15),
    stride=6,
    window=60.0,
    reference_spacing=0.8,
    sigma=0.02,
    separation=0.2,
)
AFIB_SETTINGS = Settings(
    types=(AFIB.onset, AFIB.offset),
    tolerances=(1.0, 2.0, 5.0, 10.0, 20.0),
    stride=90,
    window=600.0,
    reference_spacing=300.0,
    sigma=1.0,
    separation=5.0,
    event_free="count",
)


def load(path: Path, *, task: Literal["beats", "afib"] = "beats") -> Dataset:
    """Beats as point events, or episodes of atrial fibrillation as interval events.

    Parameters
    ----------
    path : folder of the WFDB files.
    task : ``beats`` or ``afib``.

    >>> load(Path("mitdb"), task="noise")
    Traceback (most recent call last):
    bdl.errors.ConfigError: mitdb: task beats or afib expected, got 'noise'
    """
    if task not in ("beats", "afib"):
        raise ConfigError(f"mitdb: task beats or afib expected, got {task!r}")
    headers = sorted(path.glob("*.hea")) if path.is_dir() else []
    if not headers:
        raise InputError(f"{path}: no .hea file; the folder of MIT-BIH records expected")
    raw = read_wfdb(headers, Layout())
    for info in raw.infos:
        if len(info.channels) != 2:
            raise InputError(f"{path / info.id}.hea: 2 leads expected, got {info.channels}")
    # Lead II is the one all but two records share; it comes first.
    order = {info.id: [1, 0] if info.channels[1] == "MLII" else [0, 1] for info in raw.infos}
    infos = tuple(
        replace(info, channels=CHANNELS, group="201" if info.id == "202" else info.id)
        for info in raw.infos
    )
    recordings = raw.change(lambda info, rows: np.ascontiguousarray(rows[:, order[info.id]]), infos)
    if task == "beats":
        return Dataset("mitdb", recordings, _beats(path), (), BEAT_SETTINGS, (LICENCE,))
    return Dataset("mitdb", recordings, _episodes(path, infos), (AFIB,), AFIB_SETTINGS, (LICENCE,))


def _beats(path: Path) -> Events:
    found = read_beats(path).select(types=BEATS)
    return Events.of(found.recording, "beat", found.time)


def _episodes(path: Path, infos: tuple[RecordingInfo, ...]) -> Events:
    """Onsets and offsets; a rhythm note opens its rhythm and so closes the one before."""
    notes = read_beats(path, labels="aux_note")
    parts = []
    for info in infos:
        found = notes.select(recordings=[info.id])
        bounds: list[float] = []
        for time, text in zip(found.time, found.event, strict=True):
            if text.startswith("(") and (text == "(AFIB") != bool(len(bounds) % 2):
                bounds.append(float(time))
        if len(bounds) % 2:
            bounds.append((info.samples - 1) * info.period)
        kinds = [AFIB.onset, AFIB.offset] * (len(bounds) // 2)
        parts.append(Events.of(info.id, kinds, bounds))
    return Events.concat(parts)
