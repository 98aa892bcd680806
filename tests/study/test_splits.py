"""Splits: the paper's partitions, no unit torn, nothing empty, nothing twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pytest

from bdl.datasets.chbmit import FOLDER, TABLE
from bdl.datasets.chbmit.eeg_files import CHANNELS
from bdl.datasets.chbmit.published import SEIZURE_RECORDINGS
from bdl.errors import ConfigError
from bdl.study import catalogue
from bdl.study.data_source import DataSource
from bdl.study.splits import Fold, Folds, Holdout, ListedFolds, make_split

SERIES = {f"s{i:03d}": f"s{i:03d}" for i in range(277)}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of each published recording with a seizure, in the form of Kaggle's snapshot."""
    folder = tmp_path_factory.mktemp("chbmit")
    (folder / FOLDER).mkdir()
    flat = pa.table({channel: np.zeros(512, np.float32) for channel in CHANNELS})
    lines = ["series_id,onset,offset"]
    for case, count in SEIZURE_RECORDINGS.items():
        for number in range(count):
            feather.write_feather(flat, str(folder / FOLDER / f"{case}_{number:02d}.ftr"))
            lines.append(f"{case}_{number:02d}.edf,0.5,1.5")
    (folder / TABLE).write_text("\n".join(lines))
    return folder


def test_the_holdout_has_the_published_sizes():
    (part,) = make_split(catalogue.load("sleep-holdout").split, SERIES, calibrate=True)
    assert (len(part.train), len(part.calibration), len(part.test)) == (165, 56, 56)


def test_the_patient_holdout_has_the_published_cases_and_recordings(snapshot: Path):
    protocol = catalogue.load("chbmit-patient-holdout")
    benchmark = DataSource.of(protocol, snapshot).load()
    assert "recordings with a seizure: 141 of 24 cases, as published" in benchmark.notes
    groups = benchmark.recordings.groups
    (part,) = make_split(protocol.split, groups, calibrate=True)
    parts = (part.train, part.calibration, part.test)
    assert [len({groups[id] for id in ids}) for ids in parts] == [14, 5, 5]
    assert [len(ids) for ids in parts] == [81, 29, 31]


@pytest.mark.parametrize("name", ["chbmit-patient-holdout", "chbmit-patient-nested"])
def test_patient_studies_split_and_resample_24_cases(name: str, snapshot: Path):
    protocol = catalogue.load(name)
    assert (protocol.split.by, protocol.bootstrap.by) == ("group", "group")
    groups = DataSource.of(protocol, snapshot).load().recordings.groups
    assert len(set(groups.values())) == 24
    parts = make_split(protocol.split, groups, calibrate=True)
    for part in parts:
        assert {groups[id] for id in part.test}.isdisjoint(groups[id] for id in part.not_test)
    if name.endswith("nested"):
        assert sorted(id for part in parts for id in part.test) == sorted(groups)


def test_nested_folds_are_scikit_learns():
    from sklearn.model_selection import KFold, train_test_split

    names = np.array(sorted(SERIES))
    parts = make_split(catalogue.load("sleep-nested").split, SERIES, calibrate=True)
    folds = KFold(5, shuffle=True, random_state=20260718).split(names)
    for j, (part, (rest, test)) in enumerate(zip(parts, folds, strict=True)):
        train, calibration = train_test_split(names[rest], test_size=0.2, random_state=20260719 + j)
        assert part.test == tuple(sorted(names[test]))
        assert part.calibration == tuple(sorted(calibration))
        assert part.train == tuple(sorted(train))


def test_every_recording_is_tested_once_and_no_unit_is_torn():
    rng = np.random.default_rng(0)
    for _ in range(200):
        count = int(rng.integers(8, 60))
        groups = {f"r{i}": f"g{rng.integers(0, max(5, count // 3))}" for i in range(count)}
        folds = int(rng.integers(2, 4))
        by = "group" if rng.random() < 0.5 else "recording"
        if by == "group" and len(set(groups.values())) < 2 * folds:
            continue
        split = Folds(by=by, folds=folds, seed=int(rng.integers(100)), calibration=0.3)
        parts = make_split(split, groups, calibrate=True)
        assert sorted(id for part in parts for id in part.test) == sorted(groups)
        for part in parts:
            pieces = [set(part.train), set(part.calibration), set(part.test)]
            assert sorted(set.union(*pieces)) == sorted(groups)
            assert sum(map(len, pieces)) == count
            if by == "group":
                units = [{groups[id] for id in piece} for piece in pieces]
                assert sum(map(len, units)) == len(set.union(*units))


def test_a_split_does_not_depend_on_the_order_of_recordings():
    backwards = dict(reversed(SERIES.items()))
    split = Holdout(seed=1, calibration_seed=2)
    assert make_split(split, SERIES, calibrate=True) == make_split(split, backwards, calibrate=True)


GROUPS = {"a": "x", "b": "x", "c": "y", "d": "z"}


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Fold(train=("a",), calibration=("c",), test=("a",)), "train and test overlap"),
        (Fold(train=("a",), calibration=("a",), test=("c",)), "train and calibration overlap"),
        (Fold(train=(), calibration=("b",), test=("c",)), "train part is empty"),
        (Fold(train=("a",), calibration=(), test=("c",)), "calibration part is empty"),
        (Fold(train=("a",), calibration=("b",), test=()), "test part is empty"),
        (Fold(train=("a", "a"), calibration=("b",), test=("c",)), "is listed twice"),
        (Fold(train=("a",), calibration=("b",), test=("q",)), "no recording 'q'"),
        (Fold(train=("a",), calibration=("c",), test=("b",)), "group 'x' is divided"),
    ],
)
def test_a_wrong_part_is_refused(part: Fold, message: str):
    with pytest.raises(ConfigError, match=message):
        make_split(ListedFolds(by="group", parts=(part,)), GROUPS, calibrate=True)


def test_a_recording_tested_twice_is_refused():
    part = Fold(train=("a",), calibration=("c",), test=("d",))
    with pytest.raises(ConfigError, match="tested in fold 0 and again in fold 1"):
        make_split(ListedFolds(parts=(part, part)), GROUPS, calibrate=True)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_too_few_units_are_refused(count: int):
    groups = {f"r{i}": f"r{i}" for i in range(count)}
    with pytest.raises(ConfigError):
        make_split(Folds(folds=4, seed=0, calibration=0.2), groups, calibrate=True)
