"""Simulators: deterministic files, published rules and rates, bounded memory."""

from __future__ import annotations

import hashlib
import tracemalloc
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from bdl import datasets
from bdl.datasets import CHBMIT, HAPT, BowShock, Fraud, Sleep
from bdl.datasets.bowshock import simulated_orbit
from bdl.datasets.chbmit import eeg_signal, patient
from bdl.datasets.fraud import simulated_transactions
from bdl.datasets.sleep import annotation, day_course, movement, wearer
from bdl.datasets.sleep.wall_clock import WallClock
from bdl.errors import ConfigError

DAY = 17_280
MINUTE = 12


def digests(folder):
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }


SMALL = [
    (Sleep(), {"recordings": 2, "days": 3}),
    (Fraud(), {"recordings": 2}),
    (BowShock(), {"recordings": 2}),
    (CHBMIT(), {"recordings": 2, "days": 120 / 86400}),
    (CHBMIT(source="kaggle"), {"recordings": 2, "days": 120 / 86400}),
]


@pytest.mark.parametrize(("dataset", "size"), SMALL)
def test_same_seed_same_bytes(tmp_path, dataset, size):
    for place, seed in (("a", 5), ("b", 5), ("c", 6)):
        dataset.simulate(tmp_path / place, seed=seed, **size)
    assert digests(tmp_path / "a") == digests(tmp_path / "b")
    assert digests(tmp_path / "a") != digests(tmp_path / "c")


def test_a_series_does_not_depend_on_how_many_there_are(tmp_path):
    Sleep().simulate(tmp_path / "two", recordings=2, days=2, seed=1)
    Sleep().simulate(tmp_path / "four", recordings=4, days=2, seed=1)
    two = pl.read_parquet(tmp_path / "two/train_series.parquet")
    four = pl.read_parquet(tmp_path / "four/train_series.parquet")
    assert four.head(two.height).equals(two)


def test_progress_and_bad_parameters(tmp_path):
    seen = []
    Fraud().simulate(tmp_path, recordings=3, progress=lambda done, all: seen.append((done, all)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    for wrong in (
        {"recordings": 0},
        {"recordings": 1, "days": 0},
        {"recordings": 1, "seed": -1},
    ):
        with pytest.raises(ConfigError):
            Sleep().simulate(tmp_path / "x", **wrong)
    for dataset in (Fraud(), BowShock()):
        with pytest.raises(ConfigError, match="by definition"):
            dataset.simulate(tmp_path / "x", recordings=1, days=2.0)
    with pytest.raises(ConfigError, match=r"hapt data cannot be simulated; there are .* sleep"):
        HAPT().simulate(tmp_path / "x", recordings=1)
    with pytest.raises(ConfigError, match="source: 'physionet' or 'kaggle' expected"):
        CHBMIT(source="zip")


def test_published_rate_of_frauds():
    offenders = simulated_transactions.draw_offenders(np.random.default_rng(0))
    rng = np.random.default_rng(1)
    frauds = sum(len(simulated_transactions.make(rng, offenders)[1]) for _ in range(300))
    assert 300 * 3600 / frauds == pytest.approx(579, rel=0.1)


def test_published_rate_of_crossings():
    orbit = simulated_orbit.Orbit(0.1, 0.2, 0.3)
    inside = orbit.inside(np.arange(200 * 21_600))
    assert len(inside) / np.count_nonzero(np.diff(inside)) == pytest.approx(4510, rel=0.05)
    # Days are cut from one orbit: no crossing is lost or doubled at midnight.
    days = [
        simulated_orbit.make(np.random.default_rng(k), k * 21_600, orbit)[1] + k * 21_600
        for k in range(9)
    ]
    whole = np.flatnonzero(np.diff(orbit.inside(np.arange(-1, 9 * 21_600))))
    assert np.concatenate(days).tolist() == whole.tolist()


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sleep")
    Sleep().simulate(folder, recordings=8, days=12, seed=4)
    return folder


def test_sleep_layout(nights):
    frame = pl.read_parquet(nights / "train_series.parquet")
    assert frame.schema == {
        "series_id": pl.String,
        "step": pl.UInt32,
        "timestamp": pl.String,
        "anglez": pl.Float32,
        "enmo": pl.Float32,
    }
    assert frame.height == 8 * 12 * DAY
    assert frame["anglez"].is_between(-90, 90).all()
    assert (frame["enmo"] >= 0).all()
    assert frame["timestamp"].str.contains(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d-0[45]00$").all()


def test_sleep_events_are_where_their_stamps_are(nights):
    events = pl.read_csv(nights / "train_events.csv").drop_nulls("step")
    frame = pl.read_parquet(nights / "train_series.parquet")
    joined = events.with_columns(pl.col("step").cast(pl.UInt32)).join(
        frame, on=["series_id", "step"], how="left"
    )
    assert (joined["timestamp"] == joined["timestamp_right"]).all()
    assert joined["timestamp"].str.slice(17, 2).unique().to_list() == ["00"]


def test_sleep_annotation_rules(nights):
    table = pl.read_csv(nights / "train_events.csv")
    wide = table.pivot("event", index=["series_id", "night"], values="step")
    whole = wide.drop_nulls()
    lengths = (whole["wakeup"] - whole["onset"]).to_numpy() / MINUTE
    assert (lengths >= 30).all()
    assert 300 < np.median(lengths) < 700
    unlabelled = 1 - whole.height / wide.height
    assert 0.05 < unlabelled < 0.5
    # One night a day at most, in order.
    for _, series in whole.group_by("series_id"):
        ordered = series.sort("night")
        assert (ordered["onset"][1:] > ordered["wakeup"][:-1]).all()


def test_longest_sleep_only_and_short_interruptions_bridged():
    minutes = np.array([[0, 100], [120, 200], [231, 400], [500, 560]]) * MINUTE
    # 20 minutes are bridged, 31 are not: 0 to 200 beats 231 to 400.
    assert annotation.longest(minutes) == (0, 200 * MINUTE)
    assert annotation.longest(np.array([[0, 29]]) * MINUTE) is None
    assert annotation.longest(np.array([[0, 30]]) * MINUTE) == (0, 30 * MINUTE)


def test_most_labels_are_within_a_minute_of_the_change():
    errors = []
    for k in range(60):
        rng = np.random.default_rng([7, k])
        night = np.array([[DAY + 12 * k + 5, DAY + 12 * k + 5000]])
        days = day_course.DayCourse(np.zeros(3 * DAY, np.int8), [night], [])
        for _ in range(20):
            ((onset, wake),) = annotation.draw(rng, days)
            if onset is not None and wake is not None:
                errors += [onset - night[0, 0], wake - night[0, 1]]
    near = np.mean(np.abs(errors) < MINUTE)
    assert 0.7 < near < 0.85
    assert np.mean(np.abs(errors) > 10 * MINUTE) > 0.01


def test_sleep_begins_and_ends_with_a_movement_that_can_be_seen():
    """Lying still counts as sleep: the bouts before and after sleep contain movement."""
    for k in range(20):
        rng = np.random.default_rng(k)
        person = wearer.draw(rng)
        clock = WallClock(datetime(2018, 5, 1, 12))
        state = np.full(DAY, day_course.BED, np.int8)
        state[5000:11000] = day_course.ASLEEP
        _, enmo = movement.draw(rng, person, clock, day_course.DayCourse(state, [], []))
        still = np.median(enmo[5500:10500])
        before, after = enmo[4990:5000], enmo[11000:11010]
        assert before.mean() > still
        assert after.mean() > still


def test_device_off_is_flat_and_has_no_label():
    state = np.zeros(3 * DAY, np.int8)
    sleep = np.array([[DAY, DAY + 5000]])
    worn = day_course.DayCourse(state, [sleep], [])
    off = day_course.DayCourse(state, [sleep], [day_course.DeviceOff(DAY - 100, DAY + 9000, False)])
    elsewhere = day_course.DayCourse(state, [sleep], [day_course.DeviceOff(10, 2000, False)])
    drawn = [annotation.draw(np.random.default_rng(1), days)[0] for days in (worn, off, elsewhere)]
    assert drawn[0] == drawn[2]
    assert None not in drawn[0]
    assert drawn[1] == (None, None)


def test_device_off_in_the_files(nights):
    """No labelled endpoint is in a period that is flat for an hour."""
    benchmark = datasets.load("sleep", nights)
    flat_hours = 0
    for recording in benchmark.recordings:
        angle = recording.values[:, 0]
        still = np.concatenate([[False], np.diff(angle) == 0])
        runs = np.flatnonzero(np.diff(still.astype(int), prepend=0, append=0)).reshape(-1, 2)
        for first, stop in runs[np.diff(runs, axis=1)[:, 0] > 720]:
            flat_hours += (stop - first) // 720
            for kind in ("onset", "wakeup"):
                at = benchmark.events.times(recording.id, kind) / 5
                assert not ((at > first) & (at < stop)).any()
    assert flat_hours > 10


def test_repeated_days_repeat_exactly(nights):
    benchmark = datasets.load("sleep", nights)
    repeats = 0
    for recording in benchmark.recordings:
        values = recording.values
        same = (values[DAY:] == values[:-DAY]).all(axis=1) & (values[DAY:, 1] > 0)
        repeats += same.sum() > DAY // 4
    assert repeats >= 1


def test_daylight_saving():
    clock = WallClock(datetime(2018, 11, 3, 22, 0))
    stamps = clock.stamps(0, DAY).to_pylist()
    assert stamps[0] == "2018-11-03T22:00:00-0400"
    # At 2:00 the clock goes back to 1:00.
    at = 4 * 720
    assert stamps[at - 1 : at + 1] == ["2018-11-04T01:59:55-0400", "2018-11-04T01:00:00-0500"]
    moments = [datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z") for text in stamps[::500]]
    steps = {b - a for a, b in pairwise(moments)}
    assert steps == {timedelta(seconds=2500)}
    # A person who rises at 7:00 rises at 7:00 on both sides of the change.
    local = clock.local(np.rint(clock.samples(np.array([np.float64(17839 * 86400 + 7 * 3600)])))
                        .astype(np.int64))  # fmt: skip
    assert local[0] % 86400 == 7 * 3600


@pytest.mark.parametrize("start", [datetime(2018, 3, 10, 20), datetime(2018, 11, 3, 20)])
def test_daylight_saving_reaches_the_adapter(tmp_path, start):
    """Local hours that the adapter gives are those of the stamps, through a change."""
    stamps = pl.Series(WallClock(start).stamps(0, DAY))
    steps = np.arange(DAY, dtype=np.uint32)
    flat = np.zeros(DAY, np.float32)
    columns = {"step": steps, "timestamp": stamps, "anglez": flat, "enmo": flat}
    frame = pl.DataFrame(columns).select(pl.lit("a").alias("series_id"), pl.all())
    frame.write_parquet(tmp_path / "train_series.parquet")
    (tmp_path / "train_events.csv").write_text("series_id,night,event,step,timestamp\n")
    (info,) = datasets.load("sleep", tmp_path).recordings.infos
    [(sample, offset)] = info.offset_changes
    assert stamps[sample - 1][19:] != stamps[sample][19:] == f"{offset // 36:+05d}"
    hours, _ = info.local_time(np.arange(DAY))
    assert (stamps.str.slice(11, 2).cast(pl.Int64).to_numpy() == hours).all()


def test_people_differ():
    people = [wearer.draw(np.random.default_rng(k)) for k in range(200)]
    beds = np.array([person.bed for person in people])
    assert beds.std() > 0.8
    assert np.mean([person.nap > 0.2 for person in people]) > 0.1


def test_bounded_memory(tmp_path):
    """What is held does not grow with the number of series."""
    peaks = []
    for recordings in (2, 8):
        tracemalloc.start()
        Sleep().simulate(tmp_path / str(recordings), recordings=recordings, days=4, seed=0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def test_seizures():
    """A seizure stands out in the patient's focus, lasts 6 s or more, and some hours have none."""
    louder, free = [], 0
    for k in range(12):
        case = patient.draw(np.random.default_rng(k))
        values, seizures = eeg_signal.draw(np.random.default_rng(100 + k), case, 600)
        free += not seizures
        for on, off in seizures:
            assert 4 <= off - on <= 300
            first, last = int((on + 0.6 * (off - on)) * 256), (off - 1) * 256
            louder.append((values[first:last].std(axis=0) / values.std(axis=0)).max())
    assert 0 < free < 12
    assert np.median(louder) > 1.5


def test_kaggle_recordings_all_have_a_seizure():
    for k in range(4):
        case = patient.draw(np.random.default_rng(k))
        assert eeg_signal.draw(np.random.default_rng(k), case, 120, least=1)[1]


def test_interrupted_writing_leaves_nothing(tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Sleep().simulate(tmp_path, recordings=2, days=1, progress=stop)
    assert [*tmp_path.iterdir()] == []
