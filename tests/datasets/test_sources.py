"""Every data set gives the chunks and files of its recordings."""

from __future__ import annotations

import numpy as np
import pytest

from bdl import datasets
from bdl.datasets.simulate import simulate


def check(recordings, suffixes):
    id = recordings.ids[0]
    files = recordings.files(id)
    assert {file.suffix for file in files} == suffixes
    assert all(file.is_file() for file in files)
    together = np.concatenate([*recordings.chunks(id)])
    np.testing.assert_array_equal(together, recordings[id].values)


@pytest.mark.parametrize(
    ("name", "suffixes", "options"),
    [
        ("sleep", {".parquet"}, {"days": 0.5}),
        ("chbmit", {".edf"}, {"days": 60 / 86400}),
        ("chbmit", {".ftr"}, {"days": 60 / 86400, "layout": "kaggle"}),
        ("fraud", {".csv"}, {}),
    ],
)
def test_simulated(tmp_path, name, suffixes, options):
    simulate(name, tmp_path, recordings=2, **options)
    check(datasets.load(name, tmp_path).recordings, suffixes)


@pytest.mark.parametrize(
    ("name", "suffixes"), [("hapt", {".parquet"}), ("mitdb", {".hea", ".dat"})]
)
def test_real(real, name, suffixes):
    check(datasets.load(name, real(name)).recordings, suffixes)
