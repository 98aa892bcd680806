"""A fit that is given seconds instead of updates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bdl import Detector
from bdl.detector.budget import FEWEST, within_budget
from bdl.detector.model_training import TrainingData
from bdl.encoders import Ensemble, Recurrent, Trees
from bdl.errors import ConfigError
from bdl.training import Training
from learning import quick, spikes

PAIR = Ensemble(members=(Recurrent(width=4, blocks=1), Trees(trees=5, leaves=4, widths=(1, 2))))


def fit(budget: object, directory: Path | None = None) -> Detector:
    settings = quick(encoder=PAIR, selection={"folds": 0})
    settings["training"] = {"batch": 4, "budget": budget}
    return Detector(**settings, directory=directory).fit(*spikes(3))


def test_the_number_of_updates_follows_from_the_budget_and_is_kept(tmp_path):
    recordings, events = spikes(3)
    settings = Detector(**quick(encoder=PAIR)).settings.complete()
    training = settings.training.replace(epochs=None, budget="20m")
    data = TrainingData(recordings, events, ("spike",), (), "ignore")
    chosen = within_budget(
        settings.replace(training=training), data, trainings=2, directory=tmp_path
    )
    assert chosen.training.budget is None
    assert chosen.training.updates >= FEWEST
    assert json.loads((tmp_path / "budget.json").read_text()) == {"1200": chosen.training.updates}


def test_an_interrupted_fit_goes_on_with_the_updates_it_began_with(tmp_path):
    (tmp_path / "budget.json").write_text(json.dumps({"3600": 21}))
    fitted = fit("1h", tmp_path)
    assert fitted.model_.settings.training.updates == 21
    assert fitted.model_.settings.training.budget is None


def test_too_short_a_budget_says_what_is_needed():
    with pytest.raises(ConfigError, match=r"budget 0\.01 s: too short[^~]*--budget"):
        fit(0.01)


@pytest.mark.parametrize("budget", ["ten minutes", "-5m", 0, "0s", "5 weeks"])
def test_what_is_no_duration_is_refused(budget):
    with pytest.raises(ConfigError, match="budget"):
        Training(budget=budget)


def test_a_length_is_given_once():
    with pytest.raises(ConfigError, match="updates 5 and budget 60"):
        Training(updates=5, budget="1m")
