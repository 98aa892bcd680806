"""Simulated scalp EEG, written as the files of CHB-MIT: PhysioNet's EDF or Kaggle's Feather files.

There are six recordings per case, one hour each by default. As PhysioNet's files a recording may
have no seizure; as Kaggle's each has at least one, as in the published snapshot.
"""

from __future__ import annotations

from contextlib import ExitStack
from datetime import time
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
from numpy.random import default_rng
from numpy.typing import NDArray

from bdl.datasets.chbmit import FOLDER, TABLE, eeg_signal, patient
from bdl.datasets.chbmit.eeg_files import CHANNELS, RATE
from bdl.datasets.dataset import Progress
from bdl.errors import require
from bdl.formats.atomic_files import atomic

PER_CASE = 6
CASES = 24
# For each case its recordings: file stem, and onset and offset of each seizure in seconds.
SeizuresByCase = dict[str, list[tuple[str, list[tuple[int, int]]]]]


def write(
    folder: Path,
    *,
    recordings: int,
    days: float | None,
    seed: int,
    progress: Progress,
    source: Literal["physionet", "kaggle"],
) -> None:
    """Write the recordings and the lists of their seizures."""
    seconds = max(60, round((1 / 24 if days is None else days) * 86400))
    listed: SeizuresByCase = {}
    for number in range(recordings):
        # With more recordings than cases have, the cases get further ones in turn.
        turn, rest = divmod(number, PER_CASE * CASES)
        case, of_case = divmod(rest, PER_CASE)
        name = f"chb{case + 1:02d}"
        stem = f"{name}_{turn * PER_CASE + of_case + 1:02d}"
        person = patient.draw(default_rng([seed, 1 << 32, case]))
        rng = default_rng([seed, number])
        least = 1 if source == "kaggle" else 0
        values, seizures = eeg_signal.draw(rng, person, seconds, least=least)
        if source == "kaggle":
            _write_feather(folder / FOLDER / f"{stem}.ftr", values)
        else:
            _write_edf(folder / name / f"{stem}.edf", values, start=of_case)
        listed.setdefault(name, []).append((stem, seizures))
        progress(number + 1, recordings)
    if source == "kaggle":
        _write_table(folder / TABLE, listed)
    else:
        _write_summaries(folder, listed, seconds)


def _write_feather(file: Path, values: NDArray[np.float32]) -> None:
    table = pa.table({name: values[:, i] for i, name in enumerate(CHANNELS)})
    with atomic(file) as temporary:
        feather.write_feather(table, str(temporary), compression="lz4")


def _write_edf(file: Path, values: NDArray[np.float32], *, start: int) -> None:
    """Write the 23 signals of the published files: T7-P7 also reversed, T8-P8 twice."""
    edfio = require("edfio", "eeg")
    columns = {name: values[:, i] for i, name in enumerate(CHANNELS)}
    labelled = [*columns.items(), ("P7-T7", -columns["T7-P7"]), ("T8-P8", columns["T8-P8"])]
    signals = [
        edfio.EdfSignal(
            np.clip(data, -1600, 1600).astype(np.float64),
            RATE,
            label=label,
            physical_dimension="uV",
            physical_range=(-1600, 1600),
        )
        for label, data in labelled
    ]
    with atomic(file) as temporary:
        edfio.Edf(signals, starttime=time(11 + start, 42, 54)).write(temporary)


def _write_table(file: Path, listed: SeizuresByCase) -> None:
    rows = ["series_id,onset,offset"]
    for recordings in listed.values():
        for stem, seizures in recordings:
            rows += [f"{stem}.edf,{onset},{offset}" for onset, offset in seizures]
    with atomic(file) as temporary:
        temporary.write_text("\n".join(rows) + "\n")


def _write_summaries(folder: Path, listed: SeizuresByCase, seconds: int) -> None:
    with ExitStack() as all_or_none:
        for name, recordings in listed.items():
            rule = "*" * 25
            lines = [f"Data Sampling Rate: {RATE} Hz", rule, "", "Channels in EDF Files:", rule]
            labels = (*CHANNELS, "P7-T7", "T8-P8")
            lines += [f"Channel {i}: {label}" for i, label in enumerate(labels, start=1)]
            for k, (stem, seizures) in enumerate(recordings):
                begin = (11 + k % PER_CASE) * 3600 + 42 * 60 + 54
                lines += [
                    "",
                    f"File Name: {stem}.edf",
                    f"File Start Time: {_clock(begin)}",
                    f"File End Time: {_clock(begin + seconds)}",
                    f"Number of Seizures in File: {len(seizures)}",
                ]
                for i, (onset, offset) in enumerate(seizures, start=1):
                    mark = f" {i}" if len(seizures) > 1 else ""
                    lines.append(f"Seizure{mark} Start Time: {onset} seconds")
                    lines.append(f"Seizure{mark} End Time: {offset} seconds")
            target = all_or_none.enter_context(atomic(folder / name / f"{name}-summary.txt"))
            target.write_text("\n".join(lines) + "\n")


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
