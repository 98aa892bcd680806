"""The review queue: which labels are doubtful, and how much."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl import Density, Events, Recording, Recordings, write_events
from bdl.errors import ConfigError, InputError
from bdl.formats.densities import write_densities
from bdl.review import KINDS, ReviewQueue, review
from calling import call
from naive.review import mass


def density(peaks: dict[float, float], *, id: str = "a", samples: int = 1000) -> Density:
    values = np.zeros((samples, 1), np.float32)
    for at, height in peaks.items():
        values[int(at)] = height
    return Density(id, values, ("beat",), 1.0, 1, samples)


def shown(queue: ReviewQueue) -> list[tuple[str, float | None, float | None, float]]:
    return [(i.kind, i.label, i.model, round(i.expected, 3)) for i in queue]


def test_each_kind_of_doubt_is_found_and_ranked() -> None:
    labels = Events.of("a", "beat", [100.0, 200.0, 300.0, 400.0])
    model = density({100: 0.9, 203: 0.8, 400: 0.95, 500: 0.7, 600: 0.45, 700: 0.2})
    queue = review(labels, densities=[model], tolerance=2.0)
    assert shown(queue) == [
        ("unsupported", 300.0, None, 1.0),
        ("displaced", 200.0, 203.0, 0.8),
        ("unlabelled", None, 500.0, 0.7),
        ("uncertain", None, 600.0, 0.45),
    ]
    assert queue.counts() == dict.fromkeys(KINDS, 1)
    assert len({item.key for item in queue}) == 4


def test_labels_that_agree_are_left_alone() -> None:
    labels = Events.of("a", "beat", [101.0, 400.0])
    assert len(review(labels, densities=[density({100: 1.0, 400: 0.6})], tolerance=2.0)) == 0


def test_a_second_label_at_one_event_has_no_mass_of_its_own() -> None:
    labels = Events.of("a", "beat", [100.0, 101.0])
    [item] = review(labels, densities=[density({100: 0.97})], tolerance=3.0)
    assert (item.kind, item.label, round(item.expected, 2)) == ("unsupported", 101.0, 1.0)


def test_recordings_and_types_without_output_are_not_judged() -> None:
    labels = Events.of(["a", "b", "a"], ["beat", "beat", "other"], [100.0, 5.0, 7.0])
    assert len(review(labels, densities=[density({100: 1.0})], tolerance=2.0)) == 0


def test_parts_that_are_not_annotated_are_not_judged() -> None:
    recordings = Recordings.of([Recording.of(np.zeros(1000), id="a", period=1.0)])
    model = density({100: 0.9, 800: 0.9})
    partly = recordings.annotate({"a": [(0.0, 500.0)]})
    queue = review(Events.of("a", "beat", [100.0]), densities=[model], tolerance=2.0,
                   recordings=partly)  # fmt: skip
    assert len(queue) == 0


def test_detections_alone_are_enough() -> None:
    labels = Events.of("a", "beat", [100.0, 300.0])
    detections = Events.of("a", "beat", [104.0, 900.0], score=[3.0, 0.45])
    queue = review(labels, detections=detections, tolerance=2.0)
    assert shown(queue) == [
        ("displaced", 100.0, 104.0, 1.0),
        ("unsupported", 300.0, None, 1.0),
        ("uncertain", None, 900.0, 0.45),
    ]


@pytest.mark.parametrize("stride", [1, 7])
def test_masses_are_those_of_adding_up(stride: int) -> None:
    rng = np.random.default_rng(stride)
    bins = -(-100 // stride)
    values = rng.gamma(0.1, 0.2, (bins, 1)).astype(np.float32)
    model = Density("a", values, ("beat",), 1.0, stride, 100)
    for at in (0.0, 12.0, 50.5, 99.0):
        labels = Events.of("a", "beat", [at])
        queue = review(labels, densities=[model], tolerance=6.0, threshold=2.0)
        wanted = mass(values[:, 0], stride, 100, at, 6.0)
        doubtful = next(item for item in queue if item.label == at)
        assert doubtful.expected == pytest.approx(1 - wanted, abs=0.01)


@settings(max_examples=60, deadline=None)
@given(
    labels=st.lists(st.floats(0, 999), max_size=12),
    peaks=st.dictionaries(st.integers(0, 999), st.floats(0.01, 1.0), max_size=12),
)
def test_every_label_and_detection_appears_at_most_once(
    labels: list[float], peaks: dict[int, float]
) -> None:
    table = Events.of("a", "beat", labels) if labels else Events.empty()
    queue = review(table, densities=[density(dict(peaks))], tolerance=3.0)
    own = [item.label for item in queue if item.label is not None]
    assert sorted(own) == sorted({*own}) or len(labels) != len({*labels})
    assert {*own} <= {*labels}
    models = [i.model for i in queue if i.kind != "unsupported" and i.model is not None]
    assert len(models) == len({*models})
    expected = [item.expected for item in queue]
    assert expected == sorted(expected, reverse=True)
    assert all(0 <= value <= 1 for value in expected)
    for item in queue:
        if item.kind == "displaced":
            assert 3.0 <= abs(item.label - item.model) < 15.0


def test_what_cannot_be_judged_is_refused() -> None:
    labels = Events.of("a", "beat", [1.0])
    state = Density("a", np.zeros((9, 1), np.float32), ("run",), 1.0, 1, 9, kind="state")
    with pytest.raises(ConfigError, match=r"occupancy.*--detections"):
        review(labels, densities=[state], tolerance=1.0)
    with pytest.raises(ConfigError, match="positive"):
        review(labels, tolerance=0.0)
    with pytest.raises(ConfigError, match="reach"):
        review(labels, tolerance=2.0, reach=1.0)
    with pytest.raises(InputError, match="score"):
        review(labels, detections=labels, tolerance=2.0)


def test_the_command_writes_the_queue(tmp_path: Path) -> None:
    write_events(Events.of("a", "beat", [100.0, 300.0]), tmp_path / "labels.csv")
    write_densities(tmp_path / "densities", [density({100: 1.0, 500: 0.9})])
    words = ("review", "--events", tmp_path / "labels.csv", "--densities", tmp_path / "densities",
             "--tolerance", 2, "--out", tmp_path / "queue.csv")  # fmt: skip
    output = json.loads(call(*words, "--json"))
    assert output["items"] == 2
    assert output["unsupported"] == output["unlabelled"] == 1
    table = pl.read_csv(tmp_path / "queue.csv")
    assert table["kind"].to_list() == ["unsupported", "unlabelled"]
    assert table.columns == [
        "kind", "recording", "event", "label", "model", "expected", "source",
    ]  # fmt: skip
    assert "unsupported" in call(*words)


def test_the_command_says_what_is_missing(tmp_path: Path) -> None:
    write_events(Events.of("a", "beat", [100.0]), tmp_path / "labels.csv")
    for words, message in (
        (["--tolerance", 1], "--events is missing"),
        (["--events", tmp_path / "labels.csv"], "--tolerance is missing"),
        (["--events", tmp_path / "labels.csv", "--tolerance", 1], "nothing to compare"),
    ):
        with pytest.raises(ConfigError, match=message):
            call("review", *words)


def test_what_is_near_the_threshold_depends_on_the_threshold() -> None:
    times, scores = [10.0, 20.0, 30.0, 40.0], [0.001, 0.03, 0.045, 0.06]
    detections = Events.of("a", "beat", times, scores)
    queue = review(Events.empty(), detections=detections, tolerance=1.0, threshold=0.05)
    assert [(i.kind, i.model) for i in queue] == [("unlabelled", 40.0), ("uncertain", 30.0)]
    wider = review(
        Events.empty(), detections=detections, tolerance=1.0, threshold=0.05, margin=0.025
    )
    assert len(wider) == 3
