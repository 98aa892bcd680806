"""Flat, clipped, repeated and non-wear stretches: by their definitions, in chunks, as missing."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bdl import Detector, Recording, Recordings, Workers
from bdl.binning import bin_features
from bdl.errors import ConfigError, InputError
from bdl.features import Features
from bdl.formats import inspect, open_store, prepare
from bdl.quality import USUAL, NonWear, Quality
from bdl.quality.repeats import LOOK_BACK
from bdl.recording import RecordingInfo
from calling import call, call_json
from learning import quick, spikes
from naive import quality as naive
from recording_tables import write_tables

LEAST = 16  # samples of a repeated stretch


@st.composite
def columns(draw: st.DrawFn) -> NDArray[np.float32]:
    """A channel that is noise, copies of what came before, constants and gaps, one by one."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    levels = draw(st.sampled_from([2, 4, 1000]))
    parts = [np.zeros(0)]
    for kind, length in draw(
        st.lists(st.tuples(st.sampled_from("ncfgs"), st.integers(1, 60)), max_size=9)
    ):
        before = np.concatenate(parts)
        if kind == "c" and len(before) > length:
            parts.append(before[len(before) - length :])
        elif kind in "fg":
            parts.append(np.full(length, np.nan if kind == "g" else rng.integers(levels)))
        else:
            parts.append(rng.integers(0, levels, length) * (1.0 if kind == "n" else 1e-3))
    return np.concatenate(parts).astype(np.float32)


def cut(values: NDArray[np.float32], pieces: int) -> list[NDArray[np.float32]]:
    return np.array_split(values, pieces)


@settings(max_examples=100, deadline=None)
@given(st.lists(columns(), min_size=1, max_size=2), st.integers(1, 7), st.integers(3, 12))
def test_stretches_are_those_of_the_definitions_for_any_chunks(given_columns, pieces, least):
    length = min(map(len, given_columns))
    values = np.stack([column[:length] for column in given_columns], axis=1)
    recording = Recording.of(values, id="a", period=0.5)
    rule = NonWear(window=16.0, deviation=0.3137, range=2.5, channels=recording.info.channels)
    quality = Quality(flat=least * 0.5, clipped=0.1, repeated=1.0, non_wear=rule)
    stretches = quality.find(recording.info, cut(recording.values, pieces))
    expected = {
        "flat": [naive.flat(column, least) for column in values.T],
        "clipped": [naive.clipped(column, 3) for column in values.T],
        "repeated": [naive.repeated(column, LEAST, LOOK_BACK * LEAST) for column in values.T],
        "non_wear": [naive.non_wear(values, 8, 0.3137, 2.5)] * values.shape[1],
    }
    missing = np.isnan(values)
    for kind, marks in expected.items():
        for channel, mark in enumerate(marks):
            assert stretches.share(kind, channel) == (mark.mean() if length else 0)
            marked = np.zeros(length, bool)
            for first, stop in stretches.stretches[kind][channel]:
                marked[first:stop] = True
            np.testing.assert_array_equal(marked, mark)
            missing[:, channel] |= mark
    cut_at = length // 3
    masked = np.concatenate(
        [stretches.mask(values[:cut_at]), stretches.mask(values[cut_at:], first=cut_at)]
    )
    np.testing.assert_array_equal(masked, np.where(missing, np.nan, values))


def test_the_longest_stretch_and_the_rules_of_length():
    values = np.random.default_rng(0).normal(size=1000)
    values[100:130], values[300:310] = 0.25, 0.75
    recording = Recording.of(values, id="a", period=0.1)
    stretches = Quality(flat=1.0).of(recording)
    assert stretches.longest("flat", 0) == pytest.approx(3.0)
    assert stretches.share("flat", 0) == pytest.approx(0.04)
    assert Quality(flat=3.1).of(recording).longest("flat", 0) == 0


@pytest.mark.parametrize("distance", [LOOK_BACK * LEAST, LOOK_BACK * LEAST + 1])
@pytest.mark.parametrize("first", [0, 100, 155])
def test_a_copy_is_found_up_to_ten_lengths_back(distance, first):
    values = np.random.default_rng(0).normal(size=400).astype(np.float32)
    values[first + distance : first + distance + LEAST] = values[first : first + LEAST]
    repeats = (
        Quality(repeated=1.0).of(Recording.of(values, id="a", period=1.0)).stretches["repeated"][0]
    )
    begin = first + distance
    reached = distance == LOOK_BACK * LEAST
    assert repeats.tolist() == ([[begin, begin + LEAST]] if reached else [])
    np.testing.assert_array_equal(
        np.isin(np.arange(400), np.arange(begin, begin + LEAST)) & reached,
        naive.repeated(values, LEAST, LOOK_BACK * LEAST),
    )


def test_memory_does_not_grow_with_the_length_of_a_recording():
    def peak(chunks: int) -> int:
        rng = np.random.default_rng(0)
        info = RecordingInfo("a", samples=50_000 * chunks, channels=("x",), period=0.01)
        values = (rng.normal(size=(50_000, 1)).astype(np.float32) for _ in range(chunks))
        tracemalloc.start()
        USUAL.find(info, values)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(40) < 1.2 * peak(4)


def still_night(id: str = "a", *, gap: bool = False) -> Recording:
    """Three hours of an accelerometer at 1 Hz: worn, 90 minutes on a table, worn."""
    rng = np.random.default_rng(1)
    values = rng.normal(scale=0.2, size=(10_800, 3))
    values[3600:9000] = rng.normal(scale=0.002, size=(5400, 3))
    values[3600:9000, 2] += 1
    if gap:
        values[3600:6000] = np.nan
    return Recording.of(values, id=id, period=1.0, channels=["x", "y", "z"])


def test_an_accelerometer_on_a_table_is_not_worn():
    [stretches] = {
        len(spans) for spans in [*Quality(non_wear={}).of(still_night()).stretches.values()]
    }
    assert stretches == 3
    spans = Quality(non_wear=NonWear()).of(still_night()).stretches["non_wear"][0]
    assert spans.tolist() == [[3600, 9000]]
    gaps = Quality(non_wear=NonWear()).of(still_night(gap=True)).stretches["non_wear"][0]
    assert gaps.tolist() == [[4500, 9000]]  # less than half of the first window is present
    two = NonWear(channels=("x", "y"))
    assert len(Quality(non_wear=two).of(still_night()).stretches["non_wear"][0]) == 1
    with pytest.raises(ConfigError, match=r"axis of an accelerometer.*channel_0.*channels:"):
        Quality(non_wear={}).of(Recording.of(np.zeros(9), id="a", period=1.0))


def test_masked_recordings_are_features_scalings_and_models_without_the_stretches(tmp_path):
    data, events = spikes(4)
    broken = []
    for recording in data:
        values = recording.values.copy()
        values[200:260] = 40.0  # a clipped, flat stretch
        broken.append(Recording(recording.info, values))
    recordings = Recordings.of(broken)
    quality = {"flat": 20.0}
    masked = Quality(flat=20.0).mask(recordings)
    assert np.isnan(masked["r0"].values[200:260]).all()
    features = Features(stride=5, quality=quality).fit(recordings)
    plain = Features(stride=5).fit(masked)
    assert features.scaling == plain.scaling
    for recording in recordings:
        ours = bin_features(recording, features)
        np.testing.assert_array_equal(ours.values, bin_features(masked[recording.id], plain).values)
        assert ours.missing.sum() >= 60 // 5 - 1
    per = Features(stride=5, quality=quality, scaling="per-recording")
    np.testing.assert_array_equal(
        bin_features(recordings["r0"], per).values,
        bin_features(masked["r0"], per.replace(quality=None)).values,
    )
    options = quick()
    cleaned = {**options, "features": {**options["features"], "quality": quality}}
    ours = Detector(**cleaned).fit(recordings, events)
    theirs = Detector(**options).fit(masked, events)
    np.testing.assert_array_equal(
        ours.density(recordings["r1"]).values, theirs.density(masked["r1"]).values
    )
    ours.save(tmp_path / "m")
    assert call_json("show", tmp_path / "m")["quality"] == {"flat": 20.0}
    assert "missing if  " in call("show", tmp_path / "m")
    again = Detector.load(tmp_path / "m")
    assert again.model_.features.quality == Quality(flat=20.0)
    np.testing.assert_array_equal(
        again.density(recordings["r1"]).values, ours.density(recordings["r1"]).values
    )


def test_what_cannot_be_done_is_refused_with_a_reason():
    with pytest.raises(ConfigError, match=r"lag: quality.*flat.*60 s"):
        Detector(lag=5.0, features={"quality": {"flat": 60.0}}).settings  # noqa: B018
    with pytest.raises(ConfigError, match="at least one of flat, clipped, repeated, non_wear"):
        Quality()
    with pytest.raises(ConfigError, match=r"flat: more than 0\.0 expected, got -1\.0"):
        Quality(flat=-1.0)
    constant = Recordings.of([Recording.of(np.ones(100), id="a", period=1.0)])
    with pytest.raises(InputError, match="only missing"):
        Features(stride=5, scaling="robust", quality={"flat": 9.0}).fit(constant)


def test_inspect_tells_recording_channel_share_and_longest(tmp_path):
    rng = np.random.default_rng(0)
    good = Recording.of(rng.normal(size=(10_800, 3)), id="b", period=1.0, channels=["x", "y", "z"])
    bad = still_night("a").values.copy()
    bad[100:300, 1] = 0.0
    bad[600:700] = bad[500:600]
    recordings = Recordings.of([Recording(still_night("a").info, bad), good])
    bad_data = {
        (row.recording, row.channel, row.kind): row
        for row in inspect(recordings).recordings.quality
    }
    assert {*bad_data} == {
        ("a", None, "non_wear"), ("a", "y", "flat"),
        ("a", "x", "repeated"), ("a", "y", "repeated"), ("a", "z", "repeated"),
    }  # fmt: skip
    assert bad_data["a", "y", "flat"].share == pytest.approx(200 / 10_800)
    assert bad_data["a", None, "non_wear"].longest_seconds == 5400
    write_tables(recordings, tmp_path / "r")
    text = call("inspect", tmp_path / "r", "--period", 1)
    assert "all channels: 50.000%, longest 90 min" in text
    plain = call_json("inspect", tmp_path / "r", "--period", 1, "--jobs", 2)["recordings"]
    assert len(plain["quality"]) == 5
    only = ("inspect", tmp_path / "r", "--period", 1, "--quality", "{flat: 250}")
    assert call_json(*only)["recordings"]["quality"] == []
    assert (
        call_json("inspect", tmp_path / "r", "--quick", "--period", 1)["recordings"]["quality"]
        is None
    )
    assert inspect(prepare(recordings, tmp_path / "s"), workers=Workers()).recordings.quality
    assert open_store(tmp_path / "s").ids == ("a", "b")
