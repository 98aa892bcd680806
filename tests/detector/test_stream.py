"""A stream gives the detections of the finished file, bit for bit, for any cutting into pushes."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl import Detector, Events, Recording
from bdl.detector.stream import Stream, push_many
from bdl.encoders import Ensemble, Recurrent, Trees
from bdl.errors import ConfigError, InputError
from bdl.recording import Recordings
from bdl.rescoring import ScoreCalibration
from learning import bouts, quick

START = datetime(2026, 1, 5, 22, 30, tzinfo=UTC)
GRU = Recurrent(width=8, blocks=2, bidirectional=False)
TREES = Trees(trees=8, widths=(1, 2, 16), causal=True)
SETTINGS = {
    "gru": {"encoder": GRU, "lag": 12.0, "decoder": "forward-mass"},
    "lstm with front": {
        "encoder": GRU.replace(cell="lstm", front=5), "lag": 0.0, "missing": True,
        "decoder": {"kind": "peaks", "separation": 30.0, "smooth": 6.0, "smoothing": "trailing"},
    },
    "both": {
        "encoder": Ensemble(members=(GRU, TREES)), "lag": 8.0, "objective": "bdl-gaussian",
        "calendar": True, "decoder": {"kind": "peaks", "clock": "bins"},
    },
    "segmentation": {
        "encoder": GRU, "lag": 8.0, "objective": "seg-ce",
        "decoder": {"kind": "transitions", "scorer": "difference", "separation": 12.0},
    },
    "trees": {"encoder": TREES, "lag": 4.0, "decoder": "forward-mass", "scaling": "robust"},
}  # fmt: skip
INTERVALS = [("bout", "on", "off")]


def starting(recordings: Recordings) -> Recordings:
    return Recordings.of(
        [Recording.of(r.values, id=r.id, period=1.0, start=START) for r in recordings]
    )


@cache
def fitted(name: str) -> Detector:
    from bdl.intervals import IntervalType

    recordings, events = bouts(5)
    detector = Detector(**quick(epochs=2, stride=4, **SETTINGS[name]))
    intervals = [IntervalType(*names) for names in INTERVALS]
    detector.fit(starting(recordings), events, intervals=intervals)
    if name != "trees":  # a model may have a calibration of its scores or none
        calibration = ScoreCalibration(
            types=("on", "off"), curves=((0.3, 0.8, 0.0), (-0.2, 1.7, 0.4))
        )
        detector.model_ = detector.model_.replace(calibration=calibration)
    return detector


def signal(samples: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(samples, 1)).astype(np.float32)
    values[samples // 3 : samples // 2] *= 8
    values[rng.random(samples) < 0.05] = np.nan
    return values


def in_order(events: Events) -> list[tuple]:
    rows = zip(
        events.event.tolist(), events.time.tolist(), events.score.tolist(),
        events.issued.tolist(), strict=True,
    )  # fmt: skip
    return sorted(rows)


@pytest.mark.parametrize("name", SETTINGS)
@settings(max_examples=15, deadline=None)
@given(
    samples=st.integers(0, 400),
    seed=st.integers(0, 9),
    sizes=st.lists(st.integers(0, 60), max_size=40),
    gaps=st.lists(st.tuples(st.integers(0, 400), st.integers(1, 60)), max_size=3),
    save_every=st.sampled_from([0, 1, 5]),
    threads=st.sampled_from([1, 2]),
)
def test_a_stream_equals_the_file(name, samples, seed, sizes, gaps, save_every, threads) -> None:
    detector = fitted(name)
    values = signal(samples, seed)
    present = np.ones(samples, bool)
    for first, size in gaps:
        present[first : first + size] = False
    if samples and gaps:
        present[[0, -1]] = True
    values[~present] = np.nan
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        stream = detector.stream("ward", period=1.0, start=START)
        parts, densities, place = [], [], 0
        times, rows = np.flatnonzero(present).astype(float), values[present]
        for number, size in enumerate([*sizes, len(rows)]):
            stop = min(place + size, len(rows))
            given_times = times[place:stop] if gaps else None
            parts.append(stream.push(rows[place:stop], given_times))
            densities.append(stream.density)
            place = stop
            if save_every and number % save_every == 0:
                stream = detector.resume(stream.save())
        parts.append(stream.finish())
        densities.append(stream.density)
    finally:
        torch.set_num_threads(before)
    whole = Recording.of(values, id="ward", period=1.0, start=START)
    assert np.concatenate(densities).tobytes() == detector.density(whole).values.tobytes()
    assert in_order(Events.concat(parts)) == in_order(detector.detect(whole))
    once = detector.stream("ward", period=1.0, start=START)
    at_once = Events.concat([once.push(values), once.finish()])
    assert at_once == Events.concat(parts)  # in the same order, with the same times of issue


def test_detections_are_told_in_time() -> None:
    """A detection is issued as soon as its last needed sample is there, and not before."""
    detector = fitted("gru")
    values = signal(300, 3)
    stream = detector.stream("ward", start=START)
    seen = 0
    for sample, row in enumerate(values):
        detections = stream.push(row)
        assert (detections.issued == sample).all()
        assert (detections.issued - detections.time >= 12.0 - 4.0).all()
        seen += len(detections)
    assert seen > 0
    last = stream.finish()
    assert (last.issued == 299.0).all()


@pytest.mark.parametrize("name", ["gru", "both"])
def test_many_streams_step_together(name: str) -> None:
    detector = fitted(name)
    signals = [signal(200 + 13 * i, i) for i in range(5)]
    alone = []
    for i, values in enumerate(signals):
        stream = detector.stream(str(i), start=START)
        alone.append(Events.concat([stream.push(values), stream.finish()]))
    streams = [detector.stream(str(i), start=START) for i in range(5)]
    parts: list[list[Events]] = [[] for _ in streams]
    for first in range(0, 300, 10):
        pushes = [(s, v[first : first + 10], None) for s, v in zip(streams, signals, strict=True)]
        for part, detections in zip(parts, push_many(pushes), strict=True):
            part.append(detections)
    for i, stream in enumerate(streams):
        assert Events.concat([*parts[i], stream.finish()]) == alone[i]


@pytest.mark.parametrize("name", ["gru", "lstm with front", "segmentation", "trees"])
@settings(max_examples=8, deadline=None)
@given(st.data())
def test_streams_that_run_together_do_not_notice_each_other(name: str, data: st.DataObject) -> None:
    """With gaps, late samples, streams that begin and end in between, saved ones and full rows."""
    detector = fitted(name)
    running: dict[int, tuple[Stream, int, list[Events]]] = {}
    ended = []
    for turn in range(data.draw(st.integers(1, 12))):
        for seed in data.draw(st.sets(st.integers(0, 20), max_size=12)):
            stream = detector.stream(str(seed), start=START)
            running.setdefault(seed, (stream, 0, []))
        pushes, sizes = [], {}
        for seed, (stream, place, _) in running.items():
            sizes[seed] = data.draw(st.integers(0, 30))
            times = np.flatnonzero(present(seed))[place : place + sizes[seed]]
            late = np.concatenate([times, times[:1]])  # once more, at the end
            pushes.append((stream, signal(400, seed)[late], late.astype(float)))
        for seed, detections in zip(sizes, push_many(pushes), strict=True):
            stream, place, parts = running[seed]
            if turn % 3 == 2:
                stream = detector.resume(stream.save())
            running[seed] = stream, place + sizes[seed], [*parts, detections]
        for seed in data.draw(st.sets(st.sampled_from(sorted(running) or [0]))) & {*running}:
            stream, place, parts = running.pop(seed)
            ended.append((seed, place, Events.concat([*parts, stream.finish()])))
    for seed, place, together in ended:
        times = np.flatnonzero(present(seed))[:place]
        alone = detector.stream(str(seed), start=START)
        parts = [alone.push(signal(400, seed)[times], times.astype(float)), alone.finish()]
        assert together == Events.concat(parts)


def present(seed: int) -> np.ndarray:
    """Which of 400 samples there are."""
    there = np.ones(400, bool)
    for first in np.random.default_rng(seed).integers(5, 400, 3):
        there[first : first + 9] = False
    return there


def test_a_transformer_with_a_context_is_streamed_within_a_bound() -> None:
    """Its sums follow the number of bins at once, so that it promises no bits."""
    recordings, events = bouts(3)
    attention = {
        "kind": "transformer", "causal": True, "context": 6, "width": 8, "heads": 2, "layers": 2,
        "local_convolution": True, "kernel": 3,
    }  # fmt: skip
    detector = Detector(**quick(epochs=2, stride=4, lag=8.0, encoder=attention))
    detector.fit(recordings, events)
    values = signal(203, 2)
    expected = detector.density(Recording.of(values, id="ward", period=1.0)).values
    streams = [detector.stream(str(i)) for i in range(3)]
    densities_by_stream: list[list[np.ndarray]] = [[], [], []]
    sizes = (3, 7, 100)
    for turn in range(-(-len(values) // 3)):
        parts = [values[turn * size : (turn + 1) * size] for size in sizes]
        push_many([(s, part, None) for s, part in zip(streams, parts, strict=True)])
        if turn == 40:
            early = len(streams[0].save())
            streams[0], density = detector.resume(streams[0].save()), streams[0].density
            streams[0].density = density
        for stream, densities in zip(streams, densities_by_stream, strict=True):
            densities.append(stream.density)
    assert len(streams[0].save()) < early + 300
    for stream, densities in zip(streams, densities_by_stream, strict=True):
        stream.finish()
        density = np.concatenate([*densities, stream.density])
        assert density.shape == expected.shape
        assert np.abs(density - expected).max() <= 1e-5


def test_late_samples_are_left_out_and_counted() -> None:
    detector = fitted("gru")
    values = signal(200, 1)
    rows, times = [], []
    for i in range(200):
        rows.append(values[i])
        times.append(i + 0.2 * (-1) ** i)  # jitter
        if i % 10 == 5:
            rows += [values[i] + 50, values[i - 3] + 50]  # repeated, out of order
            times += [i, i - 3]
    stream = detector.stream("ward", start=START)
    parts = [stream.push(np.array(rows[:50]), times[:50])]
    parts += [stream.push(rows[i], times[i]) for i in range(50, len(rows))]
    parts.append(stream.finish())
    assert stream.late == 40
    whole = detector.detect(Recording.of(values, id="ward", period=1.0, start=START))
    assert in_order(Events.concat(parts)) == in_order(whole)


@pytest.mark.parametrize(
    ("values", "times", "words"),
    [
        (np.zeros((3, 2)), None, "1 channels"),
        (np.array([[1.0], [np.inf]]), None, "infinite value in row 1"),
        (np.zeros((2, 1)), [0.0], "one time per sample"),
        (np.zeros((1, 1)), [np.nan], "finite time"),
        (np.zeros((2, 1)), [0.0, 3e7], "longest_gap"),
        ([["a"]], None, "numbers expected"),
    ],
)
def test_bad_samples_change_nothing(values, times, words: str) -> None:
    stream = fitted("gru").stream("ward", start=START)
    stream.push(signal(50, 0))
    before = stream.save()
    with pytest.raises(InputError, match=words):
        stream.push(values, times)
    assert stream.save() == before


def test_what_cannot_be_streamed_is_told() -> None:
    recordings, events = bouts(2)
    offline = Detector(**quick(epochs=1)).fit(recordings, events)
    with pytest.raises(ConfigError, match="with a lag"):
        offline.stream("a")
    with pytest.raises(InputError, match=r"every 0.5 s"):
        fitted("gru").stream("a", period=0.5)
    with pytest.raises(InputError, match="no start time"):
        fitted("both").stream("a")
    attention = quick(epochs=1, lag=4.0, encoder={"kind": "transformer", "causal": True})
    with pytest.raises(ConfigError, match="grow without limit"):
        Detector(**attention).fit(recordings, events).stream("a")
    stream = fitted("gru").stream("a", start=START)
    stream.finish()
    with pytest.raises(InputError, match="finished"):
        stream.push([1.0])


def test_a_state_of_another_model_or_half_of_one_is_refused() -> None:
    stream = fitted("gru").stream("ward", start=START)
    stream.push(signal(50, 0))
    saved = stream.save()
    with pytest.raises(InputError, match="another model"):
        fitted("segmentation").resume(saved)
    with pytest.raises(InputError, match="cut off or damaged"):
        fitted("gru").resume(saved[:-7])
    with pytest.raises(InputError, match="not the state"):
        fitted("gru").resume(b"garbage")
    with pytest.raises(InputError, match="format 9"):
        fitted("gru").resume(saved.replace(b"bdl stream 1", b"bdl stream 9"))


def test_the_memory_of_a_stream_stays_flat() -> None:
    for name in SETTINGS:
        stream = fitted(name).stream("ward", start=START)
        stream.push(signal(3_000, 0))
        early = len(stream.save())
        stream.push(signal(30_001, 1))
        assert len(stream.save()) < early + 300
