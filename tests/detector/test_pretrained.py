"""Models that come with the package, and what model files tell of their training."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdl import Detector, score
from bdl.datasets import load as load_dataset
from bdl.errors import ConfigError
from bdl.pretrained import names
from calling import call, call_json
from learning import spikes

SHARED = Path(__file__).parents[2] / "../shared/data"
FEW = {"training": {"updates": 2}, "selection": {"folds": 0}, "encoder": "gru"}
SHAPE = {"features": {"stride": 5}, "tolerances": (10.0,)}


@pytest.mark.parametrize("name", names())
def test_a_model_tells_its_training_and_its_score_on_unseen_groups(name: str):
    card = call_json("show", name)
    origin = card["provenance"]
    assert origin["data"] == name.partition("-")[0]
    assert origin["licence"]
    assert origin["recordings"] > 10
    for value in origin["unseen"]["scores"].values():
        assert 0 < value["low"] <= value["value"] <= value["high"] <= 1
    text = call("show", name)
    assert "held out" in text
    assert origin["licence"] in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data", "task", "tolerance", "least"),
    [
        ("mitdb-beats", "mitdb", "beats", 0.15, 0.95),
        ("hapt-transitions", "hapt", "transitions", 1.0, 0.75),
    ],
)
def test_a_model_detects_in_recordings_it_never_saw(
    name: str, data: str, task: str, tolerance: float, least: float
):
    if not (SHARED / data).exists():
        pytest.skip(f"the recordings of {data} are not here")
    detector = Detector.pretrained(name)
    benchmark = load_dataset(data, SHARED / data, task=task)
    origin = detector.model_.provenance
    assert origin is not None
    assert origin.unseen is not None
    groups = benchmark.recordings.groups
    ids = [id for id in benchmark.recordings.ids if groups[id] in origin.unseen.groups][:2]
    detections = detector.detect(benchmark.recordings.select(ids))
    result = score(benchmark.events.select(recordings=ids), detections, tolerances=[tolerance])
    assert result.mean_average_precision > least


def test_a_name_is_a_model_wherever_a_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert Detector.load("mitdb-beats").model_ == Detector.pretrained("mitdb-beats").model_
    with pytest.raises(ConfigError, match="'beats' comes with the package; there are hapt-"):
        Detector.pretrained("beats")


def test_fine_tuning_keeps_what_was_before():
    recordings, events = spikes(4)
    first = Detector(**FEW, **SHAPE).fit(recordings, events)
    second = first.fine_tune(recordings.select(recordings.ids[:2]), events, unknown="ignore")
    origin = second.model_.provenance
    assert origin is not None
    assert origin.recordings == 2
    assert origin.before == first.model_.provenance
    again = Detector(**FEW, **SHAPE).fit(recordings, events)
    assert again.model_.provenance == first.model_.provenance
