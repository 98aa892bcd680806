"""CHB-MIT scalp EEG: seizures as intervals, 21 bipolar channels, 256 Hz (PhysioNet, ODC-By 1.0).

Two layouts are read, told apart by what the folder holds.

- Kaggle's seizure-only snapshot: ``seizure_events.csv`` (series_id, onset, offset in seconds) and
  ``seizure_256Hz_dataset/*.ftr``, a Feather file a recording. The SHA-256 of the table, and on
  request of the sorted list of Feather checksums, is compared with the paper's and the outcome
  noted; it is never required. Scored over recordings with a seizure.
- PhysioNet's own: ``chbNN/chbNN_MM.edf`` and ``chbNN/chbNN-summary.txt``, recordings without
  seizures included, whose detections count as false alarms.

Missing values and absent channels are zero; values are in microvolts, and the settings divide
them by 100. The group is the person: chb21 is chb01 once more. With ``group="case"`` the 24 cases
stay apart, as in the paper.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from bdl.datasets import chbmit_files as files
from bdl.datasets.dataset import Dataset, Settings
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.intervals import IntervalType
from bdl.recording import Recordings

TABLE, FOLDER = "seizure_events.csv", "seizure_256Hz_dataset"
INTERVAL = IntervalType("seizure", onset="onset", offset="offset")
LICENCE = "licence: ODC-By 1.0; Shoeb 2010, Goldberger et al. 2000, CHB-MIT, PhysioNet"
TABLE_SHA256 = "4d4aa3d99b9dab7774008d10ee566e87eebe96ef6b04667582d161ac0e2698a2"
FEATHER_SHA256 = "ba9a7cadf3114f8d8abe829807690b472f65162db8d096a9195e90a096e674a4"
SETTINGS = Settings(
    types=("onset", "offset"),
    tolerances=(1.0, 2.0, 5.0, 10.0, 20.0, 60.0),
    stride=256,
    window=3600.0,
    reference_spacing=883_728 / files.RATE,
    sigma=1.0,
    separation=145.0,
    divisor=100.0,
    jitter=64,
)


def load(
    path: Path,
    *,
    group: Literal["person", "case"] = "person",
    checksums: bool = False,
    strict: bool = False,
) -> Dataset:
    """Seizure onsets and offsets.

    Parameters
    ----------
    path : folder of the Kaggle snapshot or of the PhysioNet files.
    group : ``person`` (chb21 joins chb01) or ``case`` (the paper's 24).
    checksums : read and check all Feather files (8 GB in the full snapshot) against the paper's.
    strict : a PhysioNet file that lacks one of the 21 channels is an error, not zeros.

    >>> import tempfile
    >>> from bdl.datasets.simulate import simulate
    >>> folder = Path(tempfile.mkdtemp())
    >>> simulate("chbmit", folder, recordings=1, days=60 / 86400, layout="kaggle")
    >>> load(folder).recordings["chb01_01"].values.shape
    (15360, 21)
    """
    if group not in ("person", "case"):
        raise ConfigError(f"chbmit: group person or case expected, got {group!r}")
    if not path.is_dir():
        raise InputError(f"{path}: not a folder; CHB-MIT data expected in it")
    if (path / TABLE).exists() or (path / FOLDER).exists():
        return _snapshot(path, group, checksums)
    if any(path.rglob("*-summary.txt")) or any(path.rglob("*.edf")):
        return _physionet(path, group, strict)
    there = ", ".join(sorted(entry.name for entry in path.iterdir())[:6])
    raise InputError(
        f"{path}: neither {TABLE} with {FOLDER}/ (Kaggle) nor chbNN-summary.txt with .edf files "
        f"(PhysioNet); the folder holds {there or 'nothing'}"
    )


def group_of(id: str, kind: Literal["person", "case"]) -> str:
    """Case or person of a recording.

    >>> group_of("chb21_03", "person"), group_of("chb21_03", "case"), group_of("chb17a_03", "case")
    ('chb01', 'chb21', 'chb17')
    """
    case = id[:5].lower()
    return "chb01" if case == "chb21" and kind == "person" else case


def _snapshot(path: Path, group: Literal["person", "case"], checksums: bool) -> Dataset:
    table, folder = path / TABLE, path / FOLDER
    for part in (table, folder):
        if not part.exists():
            raise InputError(f"{part}: missing; the Kaggle snapshot is {TABLE} and {FOLDER}/")
    listed = files.seizure_table(table)
    found = {file.stem: file for file in sorted(folder.glob("*.ftr"))}
    absent = sorted(listed.keys() - found.keys())
    if absent:
        raise InputError(
            f"{table}: {absent[0]!r} has no {absent[0]}.ftr in {folder} ({len(absent)} such); "
            "the snapshot is incomplete"
        )
    recordings = files.feathers([*found.values()])
    notes = [LICENCE, _verdict("events table", files.sha256(table), TABLE_SHA256)]
    if checksums:
        same = FEATHER_SHA256 in files.manifests([*found.values()])
        notes.append(f"Feather files: checksums {'match' if same else 'differ from'} the paper's")
    else:
        notes.append("Feather files: checksums not compared (checksums=True does)")
    return _dataset(recordings, group, listed, table, notes, "ignore")


def _verdict(what: str, came: str, paper: str) -> str:
    same = came == paper
    return f"{what}: SHA-256 {'matches' if same else 'differs from'} the paper's ({came[:12]}...)"


def _physionet(path: Path, group: Literal["person", "case"], strict: bool) -> Dataset:
    listed: dict[str, list[tuple[float, float]]] = {}
    for summary in sorted(path.rglob("*-summary.txt")):
        listed |= files.summary(summary)
    edfs = {file.stem: file for file in sorted(path.rglob("*.edf"))}
    if not edfs:
        raise InputError(f"{path}: summaries but no .edf file; the other half is missing")
    if not listed:
        raise InputError(f"{path}: .edf files but no chbNN-summary.txt that tells their seizures")
    notes = [LICENCE]
    unknown = [id for id in edfs if id not in listed]
    without = sorted(listed.keys() - edfs.keys())
    if unknown:
        notes.append(f"left out, no summary names them: {files.some(unknown)}")
    if without:
        notes.append(f"named in a summary but no file: {files.some(without)}")
    known = [file for id, file in edfs.items() if id in listed]
    recordings, told = files.edfs(known, strict=strict)
    if not len(recordings):
        raise InputError(f"{path}: no .edf file has any of {files.some(files.CHANNELS)}")
    return _dataset(recordings, group, listed, path, notes + told, "count")


def _dataset(
    recordings: Recordings,
    group: Literal["person", "case"],
    listed: dict[str, list[tuple[float, float]]],
    where: Path,
    notes: list[str],
    event_free: Literal["ignore", "count"],
) -> Dataset:
    infos = tuple(replace(info, group=group_of(info.id, group)) for info in recordings.infos)
    parts = []
    for info in infos:
        spans = np.array(listed.get(info.id, []), dtype=np.float64).reshape(-1, 2)
        # The end may be the sample after the last, never later.
        bad = (spans[:, 0] < 0) | (spans[:, 1] <= spans[:, 0]) | (spans[:, 1] > info.duration)
        if bad.any():
            first, last = spans[bad][0]
            raise InputError(
                f"{where}: seizure from {first:g} to {last:g} s of {info.id!r} does not lie within "
                f"its {info.duration:g} s"
            )
        parts.append(Events.of(info.id, [INTERVAL.onset, INTERVAL.offset] * len(spans),
                               spans.ravel()))  # fmt: skip
    events = Events.concat(parts)
    free = len(infos) - len(set(events.recordings))
    if free:
        notes.append(f"{free} recordings without a seizure")
    settings = SETTINGS.replace(event_free=event_free)
    grouped = replace(recordings, infos=infos)
    return Dataset("chbmit", grouped, events, (INTERVAL,), settings, tuple(notes))
