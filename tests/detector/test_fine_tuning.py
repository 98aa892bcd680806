"""Fine-tuning: starts at the model, changes its weights only, and is refused where it cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from bdl import Detector, Events, Recording, Recordings, write_events
from bdl.errors import ConfigError, InputError
from bdl.evaluation import Regions, match
from bdl.formats import prepare
from bdl.report.before_after import before_and_after
from calling import call


def data(seed: int, count: int = 3, channels: int = 1) -> tuple[Recordings, Events]:
    rng = np.random.default_rng(seed)
    listed, times = [], []
    for i in range(count):
        values = rng.normal(size=(600, channels)).astype(np.float32)
        at = np.sort(rng.choice(np.arange(50, 550, 50), 3, replace=False))
        values[at] += 12
        listed.append(Recording.of(values, id=f"{seed}-{i}", period=1.0))
        times.append(Events.of(f"{seed}-{i}", "spike", at.astype(float)))
    return Recordings.of(listed), Events.concat(times)


def fitted(**more: object) -> Detector:
    settings = {"features": {"stride": 5}, "tolerances": (10.0,), "window": 300.0,
                "training": {"updates": 20, "seed": 1}, "selection": {"folds": 0}}  # fmt: skip
    return Detector(**{**settings, **more}).fit(*data(0))


@pytest.fixture(scope="module")
def model() -> Detector:
    return fitted(encoder="gru")


def test_it_starts_at_the_model_and_leaves_it_alone(model: Detector) -> None:
    recordings, events = data(1)
    before = {name: value.clone() for name, value in model.module_.state_dict().items()}
    tuned = model.fine_tune(recordings, events)
    assert tuned.history_[-1].steps == 2  # a tenth
    assert tuned.model_.features == model.model_.features
    assert tuned.model_.decoder == model.model_.decoder
    for name, value in model.module_.state_dict().items():
        assert torch.equal(value, before[name])
    moved = [
        float((tuned.module_.state_dict()[name] - value).abs().max())
        for name, value in before.items()
    ]
    assert 0 < max(moved) < 0.2  # two small steps away, not a new start
    again = model.fine_tune(recordings, events)
    assert all(
        torch.equal(value, again.module_.state_dict()[name])
        for name, value in tuned.module_.state_dict().items()
    )


@pytest.mark.slow
def test_more_steps_learn_the_new_labels(model: Detector) -> None:
    recordings, events = data(2)
    shifted = Events.of(events.recording, events.event, events.time + 20)
    tuned = model.fine_tune(recordings, shifted, updates=120, learning_rate=0.01)

    def mass(detector: Detector, table: Events) -> float:
        total = 0.0
        for density in detector.densities(recordings):
            for time in table.times(density.recording, "spike"):
                total += float(density.values[np.abs(density.times - time) < 6].sum())
        return total

    assert mass(tuned, shifted) > 2 * mass(model, shifted)


def test_trees_of_an_ensemble_keep_what_they_know() -> None:
    model = fitted(encoder="gru-and-trees")
    tuned = model.fine_tune(*data(1), updates=2)
    old, new = model.module_.state_dict(), tuned.module_.state_dict()
    assert all(torch.equal(old[name], new[name]) for name in old if name.startswith("members.1."))
    assert any(not torch.equal(old[name], new[name]) for name in old)
    with pytest.raises(ConfigError, match="boosted trees cannot be fine-tuned"):
        fitted(encoder="trees").fine_tune(*data(1))


def test_other_data_are_refused(model: Detector) -> None:
    recordings, events = data(1)
    with pytest.raises(InputError, match="no event type 'blink'"):
        model.fine_tune(recordings, Events.of("1-0", "blink", [5.0]))
    with pytest.raises(InputError, match="channels"):
        model.fine_tune(*data(1, channels=2))
    with pytest.raises(ConfigError, match="fit"):
        Detector().fine_tune(recordings, events)


def test_a_budget_of_a_whole_fit_is_refused(model: Detector) -> None:
    with pytest.raises(ConfigError, match=r"budget 2s: .*--updates"):
        model.fine_tune(*data(1), budget="2s")
    assert model.fine_tune(*data(1), budget=None).history_[-1].steps == 2


def test_the_page_scores_only_annotated_spans(model: Detector) -> None:
    recordings, events = data(3, count=5)
    spans = {id: [(0.0, 300.0)] for id in recordings.ids}
    detections = model.detect(recordings)
    [expected, whole] = [
        match(
            events,
            detections,
            (10.0,),
            types=("spike",),
            recordings=recordings.ids,
            regions=regions,
        )
        for regions in (Regions.of(spans), None)
    ]
    content = before_and_after(model, model, recordings.annotate(spans), events)
    for matches in content.matches:
        np.testing.assert_array_equal(matches.average_precision(), expected.average_precision())
        assert matches.truths.sum() == expected.truths.sum() < whole.truths.sum()


def test_the_command_writes_a_model_and_a_page(tmp_path: Path, model: Detector) -> None:
    recordings, events = data(3, count=5)
    prepare(recordings, tmp_path / "store")
    write_events(events, tmp_path / "events.csv")
    model.save(tmp_path / "first.safetensors")
    start, out = tmp_path / "first.safetensors", tmp_path / "second.safetensors"
    words = ("fit", "--from", start, "--recordings", tmp_path / "store",
             "--events", tmp_path / "events.csv", "--out", out)  # fmt: skip
    output = json.loads(call(*words, "--page", tmp_path / "page.html", "--quiet", "--json"))
    assert output["model"].endswith("second.safetensors")
    assert output["recordings"] == 4  # a fifth of five is held out
    tuned = Detector.load(tmp_path / "second.safetensors")
    assert tuned.model_.settings.training.updates == 2
    page = (tmp_path / "page.html").read_text()
    assert "Before and after fine-tuning" in page
    assert "If the training before it has, both scores are too high." in page
    for more in (["--encoder", "gru"], ["--preset", "best"]):
        with pytest.raises(ConfigError, match=f"{more[0]} has no effect with --from"):
            call(*words, *more)
    with pytest.raises(ConfigError, match="--page has no effect without --from"):
        call(*("fit", *words[3:]), "--page", tmp_path / "x.html")
