"""The bow shock adapter: trust, hostile pickles, gaps, and both streams' bad input."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bdl import datasets
from bdl.datasets import Fraud
from bdl.errors import ConfigError, InputError

TABLE, EVENTS = "martian_bow_shock_dataset.pkl", "martian_bow_shock_events.csv"
COLUMNS = ["ws_totels_1_new", "ws_totels_8", "ws_totels_6", "ws_rho"]


def frame(rows: int = 50_000, start: str = "2012-03-01 00:00:00") -> pd.DataFrame:
    index = pd.date_range(start, periods=rows, freq="4s")
    values = np.random.default_rng(0).normal(size=(rows, 5))
    return pd.DataFrame(values, index=index, columns=pd.Index([*COLUMNS, "other"], dtype=object))


def put(folder, table: object, events: str = "events\n2012-03-01 01:00:00\n", protocol: int = 4):
    (folder / TABLE).write_bytes(pickle.dumps(table, protocol=protocol))
    (folder / EVENTS).write_text(events)
    return folder


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_days_and_times(tmp_path, protocol):
    events = "events\n2012-03-01 01:00:00\n2012-03-02 00:00:06\n"
    benchmark = datasets.load("bowshock", put(tmp_path, frame(), events, protocol), trust=True)
    assert benchmark.recordings.ids == ("day000", "day001", "day002")
    assert [info.samples for info in benchmark.recordings.infos] == [21_600, 21_600, 6_800]
    assert benchmark.events.times("day000", "crossing").tolist() == [3600.0]
    assert benchmark.events.times("day001", "crossing").tolist() == [8.0]
    np.testing.assert_allclose(
        benchmark.recordings["day001"].values, frame()[COLUMNS].to_numpy()[21_600:43_200], rtol=1e-6
    )
    assert benchmark.settings.event_free == "count"


def test_a_day_is_of_the_calendar_and_gaps_are_missing(tmp_path):
    holes = frame(30_000, "2012-03-01 12:00:00").drop(frame().index[:0])
    holes = holes.drop(holes.index[100:150])
    folder = put(tmp_path, holes, "events\n2012-03-01 13:00:00\n")
    benchmark = datasets.load("bowshock", folder, trust=True)
    values = benchmark.recordings["day000"].values
    lead = 12 * 900
    assert np.isnan(values[:lead]).all()
    assert np.flatnonzero(np.isnan(values[lead:, 0])).tolist() == [*range(100, 150)]
    assert benchmark.events.times("day000", "crossing").tolist() == [13 * 3600.0]
    assert "50 rows absent" in "\n".join(benchmark.notes)


def test_a_table_of_an_older_pandas(tmp_path):
    """Written by pandas 1.5.3 and NumPy 1.26, whose modules had other names."""
    golden = Path(__file__).parent / "golden/pandas-1.5.3.pkl"
    put(tmp_path, None, "events\n2012-03-01 00:00:08\n")
    shutil.copy(golden, tmp_path / TABLE)
    benchmark = datasets.load("bowshock", tmp_path, trust=True)
    expected = np.arange(150.0).reshape(30, 5)[:, :4]
    np.testing.assert_array_equal(benchmark.recordings["day000"].values, expected)
    assert benchmark.events.time.tolist() == [8.0]


def test_no_trust_no_pickle(tmp_path):
    with pytest.raises(ConfigError, match="--trust-pickle"):
        datasets.load("bowshock", put(tmp_path, frame()))


class Runs:
    """A pickle of this creates a file when it is opened carelessly."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


class Evaluates(Runs):
    """The same by way of eval."""

    def __reduce__(self):
        return eval, (f"__import__('os').mkdir({self.path!r})",)


def dotted(path: str) -> bytes:
    """A protocol 4 pickle that reaches for an attribute of an allowed class."""
    inner = pickle.dumps(path, protocol=4)[2:-1]
    return b"\x80\x04\x8c\x06pandas\x8c\x13DataFrame.to_pickle\x93" + inner + b"\x85R."


@pytest.mark.parametrize("kind", [Runs, Evaluates])
@pytest.mark.parametrize("inside", [False, True])
def test_hostile_pickles_do_not_run(tmp_path, kind, inside):
    target = tmp_path / "ran"
    hostile = kind(str(target))
    if inside:  # hidden in a column of an honest frame
        table = frame(10)
        table["note"] = pd.Series([hostile] * 10, index=table.index, dtype=object)
    put(tmp_path, table if inside else hostile)
    with pytest.raises(InputError, match="which no data frame needs; nothing was run"):
        datasets.load("bowshock", tmp_path, trust=True)
    assert not target.exists()
    # The same bytes do run in an ordinary loader, or this test would prove nothing.
    pickle.loads((tmp_path / TABLE).read_bytes())
    assert target.exists()


def test_hostile_attribute_path(tmp_path):
    put(tmp_path, frame(10))
    (tmp_path / TABLE).write_bytes(dotted(str(tmp_path / "ran")))
    with pytest.raises(InputError, match=r"DataFrame.to_pickle"):
        datasets.load("bowshock", tmp_path, trust=True)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("bytes_", [b"", b"\x80\x04garbage", pickle.dumps([1, 2])])
def test_not_a_frame(tmp_path, bytes_):
    put(tmp_path, frame(10))
    (tmp_path / TABLE).write_bytes(bytes_)
    with pytest.raises(InputError, match=TABLE):
        datasets.load("bowshock", tmp_path, trust=True)


def test_changed_frames(tmp_path):
    with pytest.raises(InputError, match="ws_rho missing"):
        datasets.load("bowshock", put(tmp_path, frame(10).drop(columns="ws_rho")), trust=True)
    with pytest.raises(InputError, match="indexed by time"):
        datasets.load("bowshock", put(tmp_path, frame(10).reset_index(drop=True)), trust=True)
    uneven = frame(10)
    uneven.index = uneven.index.where(np.arange(10) < 5, uneven.index + pd.Timedelta("2s"))
    with pytest.raises(InputError, match=r"row 5 .* not a multiple of 4 s"):
        datasets.load("bowshock", put(tmp_path, uneven), trust=True)
    twice = pd.concat([frame(10), frame(10)])
    with pytest.raises(InputError, match="row 10 repeats"):
        datasets.load("bowshock", put(tmp_path, twice), trust=True)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ("events\n2013-01-01 00:00:00\n", "1 events outside"),
        ("events\nsoon\n", "row 0: a time stamp expected, got 'soon'"),
        ("stamp\n2012-03-01 01:00:00\n", "column events missing"),
    ],
)
def test_bad_events(tmp_path, events, message):
    with pytest.raises(InputError, match=message):
        datasets.load("bowshock", put(tmp_path, frame(), events), trust=True)


def test_fraud_bad_input(tmp_path):
    Fraud().simulate(tmp_path, recordings=1, seed=0)
    table = tmp_path / "credit_card_fraud_dataset.csv"
    whole = table.read_text().splitlines()
    table.write_text("\n".join(whole[:200] + whole[210:]) + "\n")
    with pytest.raises(InputError, match="row 199 is stamped 209 s after the first"):
        datasets.load("fraud", tmp_path)
    table.write_text("\n".join(whole[:200] + whole[199:]) + "\n")
    with pytest.raises(InputError, match=r"row 199 .* repeated"):
        datasets.load("fraud", tmp_path)
    table.write_text("\n".join(whole[:100]) + "\n")
    with pytest.raises(InputError, match="events outside the 99 rows"):
        datasets.load("fraud", tmp_path)
    table.write_text("\n".join([whole[0].replace("V7", "W7"), *whole[1:]]) + "\n")
    with pytest.raises(InputError, match="V7 missing"):
        datasets.load("fraud", tmp_path)
    table.unlink()
    with pytest.raises(InputError, match=r"credit_card_fraud_dataset.csv missing"):
        datasets.load("fraud", tmp_path)


def test_fraud_as_kaggle_has_it(tmp_path):
    """The original creditcard.csv, with Time and Class, is read too."""
    rng = np.random.default_rng(0)
    rows = {f"V{i}": rng.normal(size=4000) for i in range(1, 29)}
    kinds = (np.arange(4000) % 1000 == 7).astype(int)
    whole = {"Time": np.arange(4000), **rows, "Amount": rng.random(4000), "Class": kinds}
    pl.DataFrame(whole).write_csv(tmp_path / "creditcard.csv")
    benchmark = datasets.load("fraud", tmp_path)
    assert [info.samples for info in benchmark.recordings.infos] == [3600, 400]
    assert benchmark.events.time.tolist() == [7.0, 1007.0, 2007.0, 3007.0]
