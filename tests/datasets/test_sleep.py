"""The sleep adapter on small files in the published layout, good and bad."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import numpy as np
import polars as pl
import pytest

from bdl import datasets
from bdl.errors import InputError

HEAD = "series_id,night,event,step,timestamp\n"


def series(name: str, steps: int, start: str = "2018-08-14T15:30:00", shift: int | None = None):
    """Rows of one series; the offset goes from -0400 to -0500 at step ``shift``."""
    first = datetime.fromisoformat(start).replace(tzinfo=timezone(timedelta(hours=-4)))
    stamps = []
    for step in range(steps):
        moment = first + timedelta(seconds=5 * step)
        if shift is not None and step >= shift:
            moment = moment.astimezone(timezone(timedelta(hours=-5)))
        stamps.append(moment.strftime("%Y-%m-%dT%H:%M:%S%z"))
    rng = np.random.default_rng(len(name))
    return pl.DataFrame(
        {
            "series_id": [name] * steps,
            "step": np.arange(steps, dtype=np.uint32),
            "timestamp": stamps,
            "anglez": rng.normal(size=steps).astype(np.float32),
            "enmo": rng.random(steps).astype(np.float32),
        }
    )


@pytest.fixture
def folder(tmp_path):
    frame = pl.concat([series("aaa", 900), series("bbb", 700, shift=300), series("ccc", 500)])
    # Row groups do not follow the series in the published file.
    frame.write_parquet(tmp_path / "train_series.parquet", row_group_size=400)
    (tmp_path / "train_events.csv").write_text(
        HEAD
        + "aaa,1,onset,100,x\naaa,1,wakeup,300,x\naaa,2,onset,,\naaa,2,wakeup,,\n"
        + "bbb,1,onset,50,x\nbbb,1,wakeup,120,x\nbbb,2,onset,400,x\nbbb,2,wakeup,,\n"
        + "bbb,3,onset,500,x\nbbb,3,wakeup,699,x\n"
    )
    return tmp_path


def test_pairs_are_kept_and_the_rest_counted(folder):
    benchmark = datasets.load("sleep", folder)
    assert benchmark.events.times("aaa", "onset").tolist() == [500.0]
    assert benchmark.events.times("bbb", "onset").tolist() == [250.0, 2500.0]
    assert benchmark.events.times("bbb", "wakeup").tolist() == [600.0, 3495.0]
    notes = "\n".join(benchmark.notes)
    assert "3 rows without a step" in notes
    assert "1 unpaired endpoints" in notes
    assert "1 series without any valid event retained" in notes
    assert benchmark.recordings.ids == ("aaa", "bbb", "ccc")


def test_values_and_local_time(folder):
    benchmark = datasets.load("sleep", folder)
    np.testing.assert_array_equal(
        benchmark.recordings["bbb"].values, series("bbb", 700).select("anglez", "enmo").to_numpy()
    )
    info = benchmark.recordings.info("bbb")
    assert info.offset_changes == ((300, -5 * 3600),)
    hours, weekdays = info.local_time(np.array([0, 299, 300, 699]))
    # 15:30 local; 25 minutes later the clock goes back by an hour; 16:28:15 EDT is 15:28 EST.
    assert hours.tolist() == [15, 15, 14, 15]
    assert set(weekdays.tolist()) == {1}


def test_steps_written_as_floats(folder):
    text = (folder / "train_events.csv").read_text().replace(",100,", ",100.0,")
    (folder / "train_events.csv").write_text(text)
    assert datasets.load("sleep", folder).events.times("aaa", "onset").tolist() == [500.0]


def test_a_table_without_any_step(folder):
    (folder / "train_events.csv").write_text(HEAD + "aaa,1,onset,,\naaa,1,wakeup,,\n")
    benchmark = datasets.load("sleep", folder)
    assert len(benchmark.events) == 0
    assert "3 series without any valid event" in "\n".join(benchmark.notes)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("aaa,1,onset,900,x\n", "onset of 'aaa' at step 900 is outside its 900 steps"),
        ("aaa,1,onset,-1,x\n", "at step -1 is outside"),
        ("zzz,1,onset,3,x\n", "'zzz' is not in train_series.parquet"),
        ("aaa,1,nap,3,x\n", "events onset and wakeup expected"),
        ("aaa,1,onset,soon,x\n", "row 0: a step expected, got 'soon'"),
    ],
)
def test_bad_events(folder, rows, message):
    (folder / "train_events.csv").write_text(HEAD + rows)
    with pytest.raises(InputError, match=message):
        datasets.load("sleep", folder)


def test_half_of_the_pair_missing(folder):
    (folder / "train_events.csv").unlink()
    with pytest.raises(InputError, match=r"train_events.csv missing.*ns train_series.parquet"):
        datasets.load("sleep", folder)


def test_files_of_another_competition(tmp_path):
    (tmp_path / "train.csv").write_text("id,target\n1,0\n")
    with pytest.raises(InputError, match=r"train_series.parquet and .* missing.*ns train.csv"):
        datasets.load("sleep", tmp_path)
    pl.DataFrame({"id": [1], "x": [2.0]}).write_parquet(tmp_path / "train_series.parquet")
    (tmp_path / "train_events.csv").write_text("id,target\n1,0\n")
    with pytest.raises(InputError, match="'series_id' is missing; it has id, x"):
        datasets.load("sleep", tmp_path)


def test_changed_column(folder):
    frame = pl.read_parquet(folder / "train_series.parquet").rename({"enmo": "ENMO"})
    frame.write_parquet(folder / "train_series.parquet")
    with pytest.raises(InputError, match="'enmo' is missing"):
        datasets.load("sleep", folder)


def test_missing_and_duplicate_steps(folder):
    frame = pl.read_parquet(folder / "train_series.parquet")
    hole = frame.filter((pl.col("series_id") != "bbb") | ~pl.col("step").is_between(200, 219))
    hole.write_parquet(folder / "train_series.parquet")
    with pytest.raises(InputError, match=r"'bbb'.*20 missing samples"):
        datasets.load("sleep", folder)
    filled = datasets.load("sleep", folder, regular=True).recordings["bbb"].values
    assert np.flatnonzero(np.isnan(filled[:, 0])).tolist() == [*range(200, 220)]
    pl.concat([frame.head(100), frame.slice(99)]).write_parquet(folder / "train_series.parquet")
    with pytest.raises(InputError, match=r"'aaa'.*duplicated"):
        datasets.load("sleep", folder)
