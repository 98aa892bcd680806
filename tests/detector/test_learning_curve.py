"""Learning curves: which recordings are used for what, and what is said about them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bdl import Detector, Events, Recording, Recordings, write_events
from bdl.detector.learning_curve import learning_curve
from bdl.errors import ConfigError
from bdl.formats import prepare
from calling import call
from projects import QUICK, write_project


def data(groups: int = 10) -> tuple[Recordings, Events]:
    listed, parts = [], []
    rng = np.random.default_rng(0)
    for i in range(2 * groups):
        id = f"r{i:02d}"
        at = np.sort(rng.choice(np.arange(50, 550, 50), 3, replace=False)).astype(float)
        values = rng.normal(size=600).astype(np.float32)
        values[at.astype(int)] += 12
        listed.append(Recording.of(values, id=id, period=1.0, group=f"g{i // 2}"))
        parts.append(Events.of(id, "spike", at))
    return Recordings.of(listed), Events.concat(parts)


class Oracle:
    """Knows the truth, and detects the better the more recordings it was given."""

    calls: list[tuple[str, ...]]

    def __init__(self, events: Events) -> None:
        self.events, self.calls, self.size = events, [], 0

    def train(self, recordings: Recordings, events: Events) -> Oracle:
        assert {*events.recording} <= {*recordings.ids}
        self.calls.append(recordings.ids)
        self.size = len(recordings)
        return self

    def detect(self, recordings: Recordings) -> Events:
        own = self.events.select(recordings=recordings.ids)
        right = np.arange(len(own)) * 7 % 16 < self.size
        return Events.of(own.recording, own.event, np.where(right, own.time, own.time + 25), right)


def test_sets_grow_and_held_out_groups_are_never_learned_from() -> None:
    recordings, events = data()
    oracle = Oracle(events)
    curve = learning_curve(oracle.train, recordings, events, tolerances=(5.0,), replicates=200)
    assert curve.sizes == (1, 2, 4, 8, 16)
    assert curve.held_out == 4
    groups = recordings.groups
    used = {groups[id] for ids in oracle.calls for id in ids}
    assert len(used) == 8
    for smaller, larger in zip(oracle.calls, oracle.calls[1:], strict=False):
        assert {*smaller} < {*larger}
    values = [score.value for score in curve.scores]
    assert values == sorted(values)
    assert values[-1] == 1.0
    assert all(score.low <= score.value <= score.high for score in curve.scores)
    assert curve.gain.value == pytest.approx(values[-1] - values[-2])
    assert "more labels are likely to help" in curve.verdict
    assert curve.to_polars()["recordings"].to_list() == [1, 2, 4, 8, 16]


def test_a_flat_curve_says_so_and_repeats_draw_other_orders() -> None:
    recordings, events = data()
    oracle = Oracle(events)
    oracle.detect = lambda recordings: Events.of(  # type: ignore[method-assign]
        *(getattr(events.select(recordings=recordings.ids), n) for n in ("recording", "event")),
        events.select(recordings=recordings.ids).time,
        np.ones(len(events.select(recordings=recordings.ids))),
    )
    curve = learning_curve(oracle.train, recordings, events, tolerances=(5.0,), sizes=(2, 8),
                           repeats=2, replicates=50)  # fmt: skip
    assert "no clear gain" in curve.verdict
    assert len(oracle.calls) == 4
    assert oracle.calls[0] != oracle.calls[2]


def test_impossible_sizes_are_refused() -> None:
    recordings, events = data(3)
    with pytest.raises(ConfigError, match="from 1 to 4 recordings"):
        learning_curve(Oracle(events).train, recordings, events, tolerances=(5.0,), sizes=(99,))
    single = recordings.select(["r00"])
    with pytest.raises(ConfigError, match="two or more groups"):
        learning_curve(Oracle(events).train, single, events.select(recordings=["r00"]),
                       tolerances=(5.0,))  # fmt: skip


def test_the_command(tmp_path: Path) -> None:
    recordings, events = data(4)
    prepare(recordings, tmp_path / "store")
    write_events(events, tmp_path / "events.csv")
    words = ("curve", "--recordings", tmp_path / "store", "--events", tmp_path / "events.csv",
             "--encoder", "gru", "--updates", 2, "--selection-folds", 0, "--tolerance", 10,
             "--stride", 5, "--size", 1, "--size", 4, "--bootstrap", 50, "--quiet")  # fmt: skip
    output = json.loads(call(*words, "--out", tmp_path / "curve.csv", "--json"))
    assert [row["recordings"] for row in output["curve"]] == [1, 4]
    assert output["held_out"] == 2
    assert pl.read_csv(tmp_path / "curve.csv").columns == ["recordings", "mAP", "low", "high"]


@pytest.mark.parametrize(("folds", "rule"), [(3, "count"), (0, "ignore")])
def test_models_of_the_command_are_fitted_as_those_of_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folds: int, rule: str
) -> None:
    training = {"updates": 1, "seed": 7}
    detector = {**QUICK, "training": training, "selection": {"folds": folds}}
    project = write_project(tmp_path, event_free="count", detector=detector)
    fitted, seeds, fit = [], [], Detector.fit

    def watched(self: Detector, *data: object, **options: object) -> Detector:
        fitted.append(options.get("event_free"))
        return fit(self, *data, **options)

    monkeypatch.setattr(Detector, "fit", watched)
    curve = learning_curve
    monkeypatch.setattr(
        "bdl.detector.learning_curve.learning_curve",
        lambda *data, **options: seeds.append(options["seed"]) or curve(*data, **options),
    )
    call("curve", "--config", project / "bdl.yaml", "--size", 4, "--bootstrap", 10, "--quiet")
    call("fit", project, "--quiet")
    assert fitted == [rule, rule]
    assert seeds == [7]
