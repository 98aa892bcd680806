"""The recordings of every data set give their chunks and files."""

from __future__ import annotations

import numpy as np
import pytest

from bdl.datasets import CHBMIT, HAPT, MITDB, BowShock, Dataset, Fraud, Sleep, Tables

SIMULATED = [
    (Sleep(), {".parquet"}, 0.5),
    (CHBMIT(), {".edf"}, 60 / 86400),
    (CHBMIT(source="kaggle"), {".ftr"}, 60 / 86400),
    (Fraud(), {".csv"}, None),
    (BowShock(trust=True), {".pkl"}, None),
]
REAL = [(HAPT(), {".parquet"}), (MITDB(), {".hea", ".dat"})]


def check(recordings, suffixes):
    id = recordings.ids[0]
    files = recordings.files(id)
    assert {file.suffix for file in files} == suffixes
    assert all(file.is_file() for file in files)
    together = np.concatenate([*recordings.chunks(id)])
    np.testing.assert_array_equal(together, recordings[id].values)


@pytest.mark.parametrize(("dataset", "suffixes", "days"), SIMULATED)
def test_simulated(tmp_path, dataset, suffixes, days):
    dataset.simulate(tmp_path, recordings=2, days=days)
    check(dataset.load(tmp_path).recordings, suffixes)


@pytest.mark.parametrize(("dataset", "suffixes"), REAL)
def test_real(real, dataset, suffixes):
    check(dataset.load(real(dataset.kind)).recordings, suffixes)


def test_own_files(tmp_path):
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings" / "a.csv").write_text("x\n1\n2\n3\n4\n")
    (tmp_path / "events.csv").write_text("recording,event,time\na,beat,1\n")
    tables = Tables(layout={"period": 1.0}, tolerances=(1.0,))
    check(tables.load(tmp_path).recordings, {".csv"})
    assert [file.name for file in tables.files(tmp_path)] == ["events.csv", "a.csv"]


def test_no_data_set_is_left_out():
    tested = {"tables", *(case[0].kind for case in (*SIMULATED, *REAL))}
    own = {
        kind for kind, cls in Dataset.kinds().items() if cls.__module__.startswith("bdl.datasets.")
    }
    assert own <= tested | {"doctest-clicks"}
