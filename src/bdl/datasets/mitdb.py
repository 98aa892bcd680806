"""MIT-BIH Arrhythmia Database: two-lead ECG, 360 Hz (PhysioNet, ODC-By 1.0).

Layout: WFDB files as published, ``NNN.hea``, ``NNN.dat``, ``NNN.atr``. Task ``beats``: every
annotation whose symbol is a beat is one event of type ``beat``. Task ``afib``: an episode runs
from a rhythm note ``(AFIB`` to the next rhythm note, or to the end of the record. The leads are
named by their place, modified limb lead II first where a record has it, because the leads differ
from record to record. A record is a group, but 201 and 202, which come from one patient.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

from bdl.datasets.dataset import Dataset, Settings
from bdl.errors import ConfigError, InputError, require
from bdl.events import Events, IntervalType
from bdl.recording import RecordingInfo, Recordings, Values

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
    """
    if task not in ("beats", "afib"):
        raise ConfigError(f"mitdb: task beats or afib expected, got {task!r}")
    wfdb = require("wfdb", "ecg")
    headers = sorted(path.glob("*.hea")) if path.is_dir() else []
    if not headers:
        raise InputError(f"{path}: no .hea file; the folder of MIT-BIH records expected")
    infos, parts = [], []
    for header in headers:
        stem = str(header.with_suffix(""))
        absent = [s for s in (".dat", ".atr") if not header.with_suffix(s).exists()]
        if absent:
            raise InputError(f"{header}: {' and '.join(absent)} missing beside it")
        head = wfdb.rdheader(stem)
        if head.n_sig != 2:
            raise InputError(f"{header}: 2 leads expected, got {head.n_sig}")
        period = 1 / head.fs
        group = "201" if header.stem == "202" else header.stem
        infos.append(RecordingInfo(header.stem, head.sig_len, CHANNELS, period, group=group))
        notes = wfdb.rdann(stem, "atr")
        found = _beats(notes) if task == "beats" else _episodes(notes, head.sig_len)
        kinds = "beat" if task == "beats" else [AFIB.onset, AFIB.offset] * (len(found) // 2)
        if len(found):
            parts.append(Events.of(header.stem, kinds, found * period))

    def read(info: RecordingInfo) -> Values:
        record = wfdb.rdrecord(str(path / info.id))
        # Lead II is the one all but two records share; a stable sort puts it first.
        order = sorted(range(2), key=lambda i: record.sig_name[i] != "MLII")
        return np.ascontiguousarray(record.p_signal[:, order], dtype=np.float32)

    settings = BEAT_SETTINGS if task == "beats" else AFIB_SETTINGS
    intervals = () if task == "beats" else (AFIB,)
    recordings = Recordings(tuple(infos), read)
    return Dataset("mitdb", recordings, Events.concat(parts), intervals, settings, (LICENCE,))


def _beats(notes: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    keep = [symbol in BEATS for symbol in notes.symbol]
    return np.asarray(notes.sample, dtype=np.float64)[keep]


def _episodes(notes: Any, samples: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Alternating onset and offset samples; a rhythm note opens and so closes the one before."""
    bounds: list[int] = []
    inside = False
    for sample, text in zip(notes.sample, notes.aux_note, strict=True):
        if not text.startswith("("):
            continue
        now = text.rstrip("\x00") == "(AFIB"
        if now != inside:
            bounds.append(int(sample))
            inside = now
    if inside:
        bounds.append(samples - 1)
    return np.array(bounds, dtype=np.float64)
