"""A real recording, replayed through MQTT and the Lab Streaming Layer, gives the file's answers."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from bdl import Detector, Recording
from bdl.datasets import HAPT
from live_commands import (
    await_consumer,
    before_the_end,
    begin,
    detections,
    finished,
    through_mqtt,
    wait_for,
)

DATA = Path(__file__).parents[2] / "../shared/data/hapt"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.exists(), reason="the recordings of HAPT are not here"),
]
SAMPLES = 3000  # a minute


@pytest.fixture(scope="module")
def replay(tmp_path_factory) -> tuple[Path, Recording, list[dict]]:
    """A folder with a model, a part of a recording, and what the model detects in it."""
    folder = tmp_path_factory.mktemp("replay")
    benchmark = HAPT().load(DATA)
    ids = benchmark.recordings.ids
    detector = Detector(
        lag=1.0,
        encoder="forward-gru",
        features={"stride": 10, "calendar": False},
        window=60.0,
        tolerances=(1.0,),
        training={"epochs": 2, "accelerator": "cpu"},
        selection={"folds": 0},
    ).fit(
        benchmark.recordings.select(ids[:6]),
        benchmark.events.select(recordings=ids[:6]),
        intervals=benchmark.intervals,
    )
    detector.save(folder / "model.bdl")
    whole = benchmark.recordings[ids[7]]
    part = Recording.of(
        whole.values[:SAMPLES], id="live", period=whole.info.period, channels=whole.info.channels
    )
    detections = detector.detect(part)
    rows = zip(detections.event, detections.time, detections.score, detections.issued, strict=True)
    names = ("event", "time", "score", "issued")
    expected = [{"recording": "live", **dict(zip(names, row, strict=True))} for row in rows]
    end = (SAMPLES - 1) * part.info.period
    return folder, part, before_the_end(expected, end)


def same(ours: list[dict], theirs: list[dict]) -> bool:
    return sorted(ours, key=str) == sorted(theirs, key=str)


def test_through_mqtt(replay) -> None:
    folder, part, expected = replay
    lines = [
        json.dumps({"time": i * part.info.period, "values": row})
        for i, row in enumerate(part.values.astype(float).tolist())
    ]
    assert len(expected) > 3
    assert same(through_mqtt(folder, "hapt", lines, len(expected)), expected)


def test_through_the_lab_streaming_layer(replay) -> None:
    lsl = pytest.importorskip("pylsl")
    folder, part, expected = replay
    name, rate = f"hapt-{os.getpid()}", 1 / part.info.period
    child = begin(folder, f"lsl:{name}", out="lsl.ndjson")
    count = len(part.info.channels)
    outlet = lsl.StreamOutlet(lsl.StreamInfo(name, "ACC", count, rate, "float32", name))
    await_consumer(outlet, child)
    jitter = np.random.default_rng(0).uniform(0, 0.1, SAMPLES)
    begun = lsl.local_clock()
    for i, row in enumerate(part.values.tolist()):
        outlet.push_sample(row, begun + i * part.info.period + (jitter[i] if i else 0.0))
    try:
        wait_for(lambda: len(detections(folder / "lsl.ndjson")) >= len(expected))
    finally:
        os.kill(child, signal.SIGTERM)
    assert finished(child) == 0, (folder / "errors.txt").read_text()
    end = (SAMPLES - 1) * part.info.period
    assert same(before_the_end(detections(folder / "lsl.ndjson"), end), expected)
