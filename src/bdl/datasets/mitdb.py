"""MIT-BIH Arrhythmia Database: two-lead ECG, 360 Hz (PhysioNet, ODC-By 1.0).

Files: WFDB records as published, ``NNN.hea``, ``NNN.dat``, ``NNN.atr``. Task ``beats``: each
annotation whose symbol is a beat is an event of type ``beat``. Beats are not annotated during
ventricular flutter, from ``[`` to ``]``: nothing is learned or scored there, as in the standard
for testing such detectors (ANSI/AAMI EC57). Task ``afib``: an episode begins at a rhythm note
``(AFIB`` and ends at the next rhythm note or at the end of the record. Leads differ between
records and are named by their position, modified limb lead II first where a record has it. The
group is the record, except that 201 and 202 come from one patient.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from bdl.datasets.benchmark import Benchmark, Settings
from bdl.datasets.dataset import Dataset
from bdl.datasets.downloads import Download, PhysioNet
from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.events import WfdbAnnotations
from bdl.formats.recording_files import read_files
from bdl.formats.recordings import WfdbRecordings
from bdl.intervals import IntervalType
from bdl.recording import RecordingInfo, Recordings

BEATS = frozenset("NLRBAaJSVrFejnE/fQ?")
CHANNELS = ("lead_1", "lead_2")
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


class MITDB(Dataset):
    """Heartbeats as point events, or episodes of atrial fibrillation as interval events.

    Parameters
    ----------
    task
        ``beats`` or ``afib``.

    Examples
    --------
    >>> MITDB(task="noise")
    Traceback (most recent call last):
    bdl.errors.ConfigError: MITDB: task: 'beats' or 'afib' expected, got 'noise'
    """

    kind: Literal["mitdb"] = "mitdb"
    task: Literal["beats", "afib"] = "beats"

    licence = "Open Data Commons Attribution License 1.0"
    citation = (
        "Moody GB, Mark RG. The impact of the MIT-BIH Arrhythmia Database. IEEE Eng in Med and "
        "Biol 20(3):45-50, 2001. https://doi.org/10.13026/C2F305"
    )
    requires = "MIT-BIH arrhythmia, PhysioNet"
    recording_count = 22
    window_bins = 5_400

    def read(self, path: Path) -> Benchmark:
        headers = sorted(path.glob("*.hea")) if path.is_dir() else []
        if not headers:
            raise InputError(f"{path}: no .hea file; the folder of MIT-BIH records expected")
        recordings = _two_leads(read_files(headers, WfdbRecordings()), path)
        if self.task == "beats":
            annotations = WfdbAnnotations().read(path)
            beats = annotations.select(types=BEATS)
            events = Events.of(beats.recording, "beat", beats.time)
            infos = tuple(_outside_flutter(info, annotations) for info in recordings.infos)
            return Benchmark(self.kind, replace(recordings, infos=infos), events, (), BEAT_SETTINGS)
        episodes = _episodes(path, recordings.infos)
        return Benchmark(self.kind, recordings, episodes, (AFIB,), AFIB_SETTINGS)

    def download(self) -> Download:
        record = "[0-9][0-9][0-9]"
        return PhysioNet("mitdb/1.0.0", (f"{record}.hea", f"{record}.dat", f"{record}.atr"))


def _two_leads(raw: Recordings, path: Path) -> Recordings:
    """The records with their leads named by position and their groups."""
    for info in raw.infos:
        if len(info.channels) != 2:
            raise InputError(f"{path / info.id}.hea: 2 leads expected, got {info.channels}")
    # Lead II is the one that all but two records share; it comes first.
    order = {info.id: [1, 0] if info.channels[1] == "MLII" else [0, 1] for info in raw.infos}
    infos = tuple(
        replace(
            info,
            channels=CHANNELS,
            units=tuple(info.units[i] for i in order[info.id]) if info.units else (),
            group="201" if info.id == "202" else info.id,
        )
        for info in raw.infos
    )
    return raw.change(lambda info, rows: np.ascontiguousarray(rows[:, order[info.id]]), infos)


def _outside_flutter(info: RecordingInfo, annotations: Events) -> RecordingInfo:
    """The record with its annotated spans, if it has ventricular flutter."""
    starts, ends = (annotations.times(info.id, symbol).tolist() for symbol in "[]")
    if not starts:
        return info
    if len(starts) == len(ends) + 1:
        ends.append(info.duration)  # flutter until the end of the record
    spans = zip([0.0, *ends], [*starts, info.duration], strict=True)
    return replace(info, annotated=tuple((start, end) for start, end in spans if start < end))


def _episodes(path: Path, infos: tuple[RecordingInfo, ...]) -> Events:
    """Onsets and offsets; a rhythm note begins its rhythm and ends the one before."""
    notes = WfdbAnnotations(labels="aux_note").read(path)
    episodes = []
    for info in infos:
        rhythms = notes.select(recordings=[info.id])
        bounds: list[float] = []
        for time, text in zip(rhythms.time, rhythms.event, strict=True):
            if text.startswith("(") and (text == "(AFIB") != bool(len(bounds) % 2):
                bounds.append(float(time))
        if len(bounds) % 2:
            bounds.append((info.samples - 1) * info.period)
        types = [AFIB.onset, AFIB.offset] * (len(bounds) // 2)
        episodes.append(Events.of(info.id, types, bounds))
    return Events.concat(episodes)
