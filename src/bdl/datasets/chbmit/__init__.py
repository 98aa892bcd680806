"""CHB-MIT scalp EEG: seizures as intervals, 21 bipolar channels, 256 Hz (PhysioNet, ODC-By 1.0).

Two published forms are read, distinguished by the contents of the folder.

- Kaggle's snapshot of recordings with seizures: ``seizure_events.csv`` (series_id, onset, offset
  in seconds) and ``seizure_256Hz_dataset/*.ftr``, one Feather file per recording. The SHA-256 of
  the table, and optionally of the sorted list of Feather checksums, is compared with the paper's;
  a note states the result, and a difference is not an error. Scored over recordings with a seizure.
- PhysioNet's own: ``chbNN/chbNN_MM.edf`` and ``chbNN/chbNN-summary.txt``, including recordings
  without seizures, in which detections are false alarms; ``positive_only`` leaves them out.

Missing values and absent channels are zero; values are in microvolts, and the settings divide
them by 100.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from bdl.datasets.benchmark import Benchmark, Scale, Settings
from bdl.datasets.chbmit.eeg_files import CHANNELS, RATE, read_edfs, read_feathers
from bdl.datasets.chbmit.published import (
    SEIZURE_RECORDINGS,
    GroupBy,
    compare_cases,
    compare_feathers,
    compare_table,
    group_of,
)
from bdl.datasets.chbmit.seizure_lists import Seizures, read_summary, read_table
from bdl.datasets.dataset import Dataset, Simulator
from bdl.datasets.downloads import Download, Kaggle, PhysioNet
from bdl.datasets.raw_files import contents
from bdl.errors import InputError, some
from bdl.events import Events
from bdl.intervals import IntervalType
from bdl.recording import Recordings

if TYPE_CHECKING:
    from bdl.decoding.grid import Grid
    from bdl.density import DensityKind

TABLE, FOLDER = "seizure_events.csv", "seizure_256Hz_dataset"
INTERVAL = IntervalType("seizure", onset="onset", offset="offset")
# The paper's studies use the snapshot, in which every recording has a seizure.
SNAPSHOT: dict[str, Any] = {"options": {"source": "kaggle"}}


class CHBMIT(Dataset):
    """Seizure onsets and offsets in scalp EEG.

    Parameters
    ----------
    source
        Published form: ``kaggle`` (Feather files) or ``physionet`` (EDF files). None reads
        the form that the folder contains, and simulates and downloads PhysioNet's.
    group
        ``person`` (chb21 is the person of chb01) or ``case`` (24 cases, as in the paper).
    positive_only
        Whether recordings without a seizure are left out, as in the paper: 141 remain in
        either form.
    checksums
        Whether all Feather files (8 GB in the full snapshot) are compared with the paper's.
    strict
        Whether an EDF file that lacks one of the 21 channels is an error; otherwise the channel
        is zero.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> CHBMIT(source="kaggle").simulate(folder, recordings=1, days=60 / 86400)
    >>> CHBMIT().load(folder).recordings["chb01_01"].values.shape
    (15360, 21)
    """

    kind: Literal["chbmit"] = "chbmit"
    source: Literal["physionet", "kaggle"] | None = None
    group: GroupBy = "person"
    positive_only: bool = False
    checksums: bool = False
    strict: bool = False

    licence = "Open Data Commons Attribution License 1.0"
    citation = (
        "Shoeb A. Application of machine learning to epileptic seizure onset detection and "
        "treatment. PhD thesis, MIT, 2009. https://doi.org/10.13026/C2K01R"
    )
    requires = "CHB-MIT, Kaggle snapshot (8.4 GB) or PhysioNet EDF"
    recording_count = sum(SEIZURE_RECORDINGS.values())
    window_bins = 3_600
    settings: ClassVar[Settings] = Settings(
        types=("onset", "offset"),
        tolerances=(1.0, 2.0, 5.0, 10.0, 20.0, 60.0),
        stride=256,
        window=3600.0,
        reference_spacing=883_728 / RATE,
        sigma=1.0,
        separation=145.0,
        scaling={"kind": "divisor", "by": 100.0},
        jitter=64,
    )
    scales: ClassVar[Mapping[str, Scale]] = {
        "small": Dataset.scales["small"].replace(**SNAPSHOT, grouped=36, days=0.01, window=300.0),
        "tiny": Dataset.scales["tiny"].replace(
            **SNAPSHOT, recordings=6, grouped=24, days=0.001, window=60.0
        ),
    }

    def read(self, path: Path) -> Benchmark:
        """Read the folder of the Kaggle snapshot or of the PhysioNet files."""
        if not path.is_dir():
            raise InputError(f"{path}: not a folder; CHB-MIT data expected in it")
        kaggle = (path / TABLE).exists() or (path / FOLDER).exists()
        physionet = any(path.rglob("*-summary.txt")) or any(path.rglob("*.edf"))
        if kaggle and self.source != "physionet":
            return self._read_snapshot(path)
        if physionet and self.source != "kaggle":
            return self._read_physionet(path)
        forms = {
            "kaggle": f"{TABLE} with {FOLDER}/ (Kaggle)",
            "physionet": "chbNN-summary.txt with .edf files (PhysioNet)",
        }
        expected = " or ".join(forms.values()) if self.source is None else forms[self.source]
        raise InputError(f"{path}: {expected} expected; the folder contains {contents(path)}")

    def simulator(self) -> Simulator:
        """Simulated EEG; an hour per recording by default."""
        from bdl.datasets.chbmit.simulated_eeg import write

        return partial(write, source=self.source or "physionet")

    def download(self) -> Download:
        if self.source == "kaggle":
            return Kaggle(dataset="werus23/chb-mit-scalp-eeg-database-seizure-only")
        return PhysioNet("chbmit/1.0.0", ("chb*/*.edf", "chb*/*-summary.txt"))

    @classmethod
    def grids(cls) -> Mapping[DensityKind, Grid]:
        """The grids of the paper; the window of the difference of means, 10 s, is ours."""
        from bdl.decoding.grid import paper_grids

        smooths, both = (0.0, 1.0, 2.0), (False, True)
        return paper_grids(
            thresholds=11, smooths=smooths, separation=145.0, window=10.0, alternations=both
        )

    def _read_snapshot(self, path: Path) -> Benchmark:
        table, folder = path / TABLE, path / FOLDER
        for part in (table, folder):
            if not part.exists():
                raise InputError(f"{part}: missing; the Kaggle snapshot is {TABLE} and {FOLDER}/")
        seizures = read_table(table)
        files = {
            file.stem: file
            for file in sorted(folder.glob("*.ftr"))
            if file.stem in seizures or not self.positive_only
        }
        absent = sorted(seizures.keys() - files.keys())
        if absent:
            raise InputError(
                f"{table}: {absent[0]!r} has no {absent[0]}.ftr in {folder} ({len(absent)} such); "
                "the snapshot is incomplete"
            )
        notes = [
            compare_table(table),
            compare_feathers([*files.values()])
            if self.checksums
            else "Feather files: checksums not compared (--option checksums=yes does)",
        ]
        recordings = read_feathers([*files.values()])
        return self._benchmark(recordings, seizures, table, notes, self.settings)

    def _read_physionet(self, path: Path) -> Benchmark:
        seizures: Seizures = {}
        for summary in sorted(path.rglob("*-summary.txt")):
            seizures |= read_summary(summary)
        files = {file.stem: file for file in sorted(path.rglob("*.edf"))}
        if not files:
            raise InputError(f"{path}: summaries but no .edf file; the recordings are missing")
        if not seizures:
            raise InputError(f"{path}: .edf files but no chbNN-summary.txt that lists seizures")
        notes = []
        unlisted = [id for id in files if id not in seizures]
        if unlisted:
            notes.append(f"left out, not in any summary: {some(unlisted, most=4)}")
        without_file = sorted(seizures.keys() - files.keys())
        if without_file:
            notes.append(f"in a summary but without a file: {some(without_file, most=4)}")
        listed = [
            file
            for id, file in files.items()
            if id in seizures and (seizures[id] or not self.positive_only)
        ]
        if self.positive_only and not listed:
            raise InputError(
                f"{path}: none of the {len(files)} recordings has a seizure in a summary; "
                "--option positive_only=no reads them"
            )
        recordings, channel_notes = read_edfs(listed, strict=self.strict)
        if not len(recordings):
            raise InputError(f"{path}: no .edf file has any of {some(CHANNELS, most=4)}")
        if self.positive_only:
            left_out = sum(id in files and not spans for id, spans in seizures.items())
            notes.append(f"left out, without a seizure: {left_out} recordings")
        settings = self.settings.replace(event_free="ignore" if self.positive_only else "count")
        return self._benchmark(recordings, seizures, path, notes + channel_notes, settings)

    def _benchmark(
        self,
        recordings: Recordings,
        seizures: Seizures,
        where: Path,
        notes: list[str],
        settings: Settings,
    ) -> Benchmark:
        infos = tuple(
            replace(info, group=group_of(info.id, self.group)) for info in recordings.infos
        )
        endpoints = []
        for info in infos:
            spans = np.array(seizures.get(info.id, []), dtype=np.float64).reshape(-1, 2)
            onsets, offsets = spans.T
            # The end may be the sample after the last, never later.
            wrong = (onsets < 0) | (offsets <= onsets) | (offsets > info.duration)
            if wrong.any():
                onset, offset = spans[wrong][0]
                raise InputError(
                    f"{where}: seizure from {onset:g} to {offset:g} s of {info.id!r} is not "
                    f"within its {info.duration:g} s"
                )
            types = [INTERVAL.onset, INTERVAL.offset] * len(spans)
            endpoints.append(Events.of(info.id, types, spans.ravel()))
        events = Events.concat(endpoints)
        without = len(infos) - len(set(events.recordings))
        if without:
            notes = [*notes, f"{without} recordings without a seizure"]
        notes = [*notes, compare_cases(events.recordings)]
        grouped = replace(recordings, infos=infos)
        return Benchmark(self.kind, grouped, events, (INTERVAL,), settings, tuple(notes))
