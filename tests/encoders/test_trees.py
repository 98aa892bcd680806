"""Boosted trees and ensembles as encoders: trained, stored, and applied like any other."""

from typing import Literal

import numpy as np
import pytest
import torch
from sklearn.base import clone

from bdl import Detector, Events, Recording, Recordings, inference
from bdl.boosting import fit_trees
from bdl.encoders import Encoder, Ensemble, Recurrent, Trees
from bdl.encoders.networks.module import EncoderModule
from bdl.errors import ConfigError
from bdl.evaluation import match
from bdl.training import Training
from learning import used

pytest.importorskip("lightgbm")

SMALL = Trees(trees=20, leaves=7, widths=(1, 4), rows=5000)


def data(seed=0, count=6):
    rng = np.random.default_rng(seed)
    recordings, ids, times = [], [], []
    for i in range(count):
        values = rng.normal(size=(2000, 2)).astype(np.float32)
        places = rng.choice(np.arange(50, 1950, 50), 4, replace=False)
        for place in places:
            values[place : place + 20, 0] += 5
        recordings.append(Recording.of(values, id=f"r{i}", period=1.0))
        ids += [f"r{i}"] * len(places)
        times += places.tolist()
    return Recordings.of(recordings), Events.of(ids, "step", times)


def detector(encoder, **options):
    options = {"objective": "bdl-gaussian", **options}
    return Detector(
        encoder=encoder,
        features={"stride": 5, "scaling": "none"},
        tolerances=(10.0, 20.0),
        selection={"folds": 0},
        training=used(encoder, {"epochs": 4, "batch": 2, "checkpoint_epochs": (2,), "seed": 3}),
        **options,
    )


@pytest.mark.parametrize("encoder", [SMALL, SMALL.replace(causal=True)])
def test_trees_find_steps(encoder):
    fitted = detector(encoder).fit(*data())
    recordings, truth = data(seed=1)
    matches = match(truth, fitted.detect(recordings), [20.0])
    assert matches.mean_average_precision() > 0.9


@pytest.mark.parametrize("objective", ["bdl-hard", "bce-gaussian", "classifier"])
def test_densities_have_the_unit_of_the_objective(objective):
    recordings, events = data()
    fitted = detector(SMALL, objective=objective).fit(recordings, events)
    total = sum(float(fitted.density(recording).values.sum()) for recording in recordings)
    assert total == pytest.approx(len(events), rel=0.3)


def test_no_density_of_trees_is_above_the_most_events_of_a_bin():
    encoder = Trees(trees=200, leaves=31, learning_rate=0.5, least_rows=2, widths=(1,), rows=500)
    recordings, events = data()
    fitted = detector(encoder, objective="bdl-hard").fit(recordings, events)
    others, _ = data(seed=1)
    densities = [fitted.density(recording).values for recording in others]
    assert max(values.max() for values in densities) == 1.0
    weights = {k: v for k, v in fitted.module_.state_dict().items() if k != "largest"}
    fitted.module_.load_state_dict(weights)  # as files of older models have them
    unlimited = [fitted.density(recording).values for recording in others]
    assert max(values.max() for values in unlimited) > 1.0
    assert all(
        np.array_equal(np.minimum(free, 1.0), limited)
        for free, limited in zip(unlimited, densities, strict=True)
    )


@pytest.mark.parametrize(("rows", "drawn"), [(50, True), (200, False)])
def test_dense_events_do_not_exceed_the_rows_without_limit(rows, drawn, monkeypatch):
    recordings = data()[0]
    times = np.arange(50.0, 1980.0, 100.0)
    events = Events.concat([Events.of(id, "step", times) for id in recordings.ids])
    taken = []

    def fit(table, target, weight, **options):
        taken.append((len(table), float(weight @ target.sum(axis=1)), float(weight.sum())))
        return fit_trees(table, target, weight, **options)

    monkeypatch.setattr("bdl.encoders.networks.tree_fitting.fit_trees", fit)
    detector(SMALL.replace(rows=rows)).fit(recordings, events)
    [(count, mass, total)] = taken
    bins = sum(recording.info.samples // 5 for recording in recordings)
    # More than half of the bins have mass: all are taken up to 16 times the rows.
    assert count < 0.4 * bins if drawn else count > 0.6 * bins
    assert mass == pytest.approx(len(events), rel=0.05 if drawn else 1e-6)
    assert total == pytest.approx(bins, rel=0.1)


def test_objectives_without_a_loss_for_trees_are_refused():
    for given in (SMALL, "gru-and-trees", Ensemble(members=("gru", Ensemble(members=(SMALL,))))):
        with pytest.raises(ConfigError, match=r"'mse' has no loss for .*--encoder gru"):
            detector(given, objective="mse-hard").fit(*data())


@pytest.mark.parametrize("objective", ["mse-hard", "seg-focal", {"kind": "mse"}])
def test_defaults_have_no_trees_for_objectives_without_a_loss_for_them(objective):
    def kinds(detector):
        return [part.kind for part in detector.settings.encoder.parts]

    assert kinds(Detector(objective=objective)) == ["recurrent"]
    assert kinds(Detector().set_params(objective=objective)) == ["recurrent"]
    assert kinds(Detector.preset("best", objective=objective)) == ["recurrent"] * 3
    for default in (Detector(objective=objective, lag=2.0), Detector.preset("best", lag=2.0)):
        assert default.settings.encoder.causal
    assert kinds(Detector.preset("best", objective="bce-hard")) == ["recurrent"] * 3 + ["trees"]
    own = Detector.preset("best", objective=objective, encoder="unet")
    assert kinds(own) == ["unet"]


def test_a_default_detector_learns_an_objective_without_trees():
    tiny = {"features": {"stride": 5}, "window": 500.0, "training": {"updates": 1, "batch": 1}}
    fitted = Detector(objective="mse-hard", tolerances=(20.0,), **tiny).fit(*data(count=3))
    assert {part.kind for part in fitted.model_.settings.encoder.parts} == {"recurrent"}


def test_checkpoints_are_the_first_trees():
    fitted = detector(SMALL).fit(*data())
    assert sorted(fitted.checkpoints_) == [2, 4]
    assert len(fitted.checkpoint(2).module_.trees(0).root) == 10
    assert len(fitted.module_.trees(0).root) == 20


@pytest.mark.parametrize("encoder", [SMALL, Ensemble(members=(Recurrent(width=8), SMALL))])
def test_a_saved_model_gives_the_same_density(encoder, tmp_path):
    recordings, events = data()
    fitted = detector(encoder).fit(recordings, events)
    fitted.save(tmp_path / "model.safetensors")
    loaded = Detector.load(tmp_path / "model.safetensors")
    recording = recordings["r0"]
    expected = fitted.density(recording).values
    np.testing.assert_array_equal(loaded.density(recording).values, expected)


def test_an_ensemble_is_the_mean_of_its_members():
    recordings, events = data()
    members = (Recurrent(width=8), Recurrent(width=8), SMALL)
    both = detector(Ensemble(members=members, weights=(1.0, 1.0, 2.0))).fit(recordings, events)
    parts = []
    for j, member in enumerate(members):
        fitted = detector(member).set_params(training__seed=3 + j).fit(recordings, events)
        parts.append(fitted.density(recordings["r0"]).values)
    expected = 0.25 * parts[0] + 0.25 * parts[1] + 0.5 * parts[2]
    np.testing.assert_allclose(both.density(recordings["r0"]).values, expected, rtol=1e-5)


def test_trees_need_mean_and_std():
    with pytest.raises(ConfigError, match="has no std"):
        detector(SMALL).set_params(features__statistics=("mean", "max")).fit(*data())


BOTH = Ensemble(members=(Recurrent(width=8, blocks=1), SMALL))


def test_members_trained_in_worker_processes_have_the_same_bytes(tmp_path):
    recordings, events = data(count=3)
    for workers in (1, 2):
        ensemble = detector(BOTH).set_params(training__workers=workers)
        ensemble.fit(recordings, events).save(tmp_path / f"{workers}.safetensors")
    first, second = (tmp_path / f"{workers}.safetensors" for workers in (1, 2))
    assert first.read_bytes() == second.read_bytes()


def test_a_stopped_ensemble_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    recordings, events = data(count=3)
    detector(BOTH).fit(recordings, events).save(tmp_path / "whole.safetensors")

    def stop(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Trees, "train", stop)
        with pytest.raises(KeyboardInterrupt):
            detector(BOTH, directory=tmp_path / "run").fit(recordings, events)
    kept = (tmp_path / "run" / "all" / "member-0" / "last.ckpt").read_bytes()
    again = detector(BOTH, directory=tmp_path / "run").fit(recordings, events)
    again.save(tmp_path / "again.safetensors")
    whole = (tmp_path / "whole.safetensors").read_bytes()
    assert (tmp_path / "again.safetensors").read_bytes() == whole
    assert (tmp_path / "run" / "all" / "member-0" / "last.ckpt").read_bytes() == kept
    assert len((tmp_path / "run" / "all" / "history.csv").read_text().splitlines()) == 3
    with pytest.raises(ConfigError, match="contains another training"):
        detector(SMALL, directory=tmp_path / "run").fit(recordings, events)


def test_an_encoder_of_somebody_else_may_train_itself():
    class Rate(Encoder):
        kind: Literal["test-rate"] = "test-rate"
        causal: bool = True

        def build(self, inputs, outputs, calendar):
            return EventRate(inputs)

        def train(self, module, task):
            result = task.start()
            bins = sum(len(recording.binned) for recording in task.recordings)
            events = sum(len(recording.labels.events[0]) for recording in task.recordings)
            module.rate.fill_(events / bins)
            for epoch in task.length.kept:
                row = {
                    "epoch": epoch,
                    "steps": 1,
                    "loss": 0.0,
                    "learning_rate": 0.0,
                    "seconds": 0.0,
                }
                task.keep(result, module, weights={"rate": module.rate.clone()}, **row)
            return result

    recordings, events = data(count=3)
    fitted = detector(Rate()).fit(recordings, events)
    assert [row.epoch for row in fitted.history_] == [2, 4]
    assert fitted.density(recordings["r0"]).values.sum() == pytest.approx(4)


class EventRate(EncoderModule):
    """The same density in every bin."""

    gives_density = True

    def __init__(self, inputs):
        super().__init__(inputs, calendar=False)
        self.register_buffer("rate", torch.zeros(1))

    def encode(self, x, lengths):
        return self.rate.expand(*x.shape[:2], 1)


def test_trees_and_recurrent_members_read_the_share_of_missing_samples():
    recordings, events = data(count=4)
    gaps = []
    for recording in recordings:
        values = np.array(recording.values)
        values[300:500] = np.nan
        gaps.append(Recording.of(values, id=recording.id, period=1.0))
    both = detector(BOTH).set_params(features__missing=True, training__epochs=2)
    both.set_params(training__checkpoint_epochs=())
    density = both.fit(Recordings.of(gaps), events).density(gaps[0])
    assert both.module_.members[1].columns == 2 * (2 + 2 * 6) + 1
    assert np.isfinite(density.values).all()


def test_causal_trees_and_ensembles_run_tile_by_tile(monkeypatch):
    recordings, events = data(count=3)
    trees = Trees(trees=20, leaves=7, widths=(1, 4, 30), causal=True)
    members = (trees, Recurrent(width=8, blocks=1, bidirectional=False, front=5))
    fitted = detector(Ensemble(members=members)).fit(recordings, events)
    values = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 300, 8)).astype(np.float32))
    for module in (fitted.module_, *fitted.module_.members):
        assert module.causal
        with torch.inference_mode():
            whole = module(values)
            state, parts = module.initial_state(2), []
            for first, stop in ((0, 1), (1, 40), (40, 43), (43, 300)):
                part, state = module.step(values[:, first:stop], state)
                parts.append(part)
        # Members are equal bit for bit; torch rounds a softplus by its place in a vector.
        tolerance = 1e-6 if module is fitted.module_ else 0.0
        torch.testing.assert_close(torch.cat(parts, dim=1), whole, rtol=tolerance, atol=0.0)
    whole = fitted.density(recordings["r0"]).values
    monkeypatch.setattr(inference, "CARRIED", 64)
    np.testing.assert_allclose(fitted.density(recordings["r0"]).values, whole, rtol=1e-6)


@pytest.mark.parametrize(
    "training",
    [
        {"clip": 1.0},
        {"batch": 2},
        {"learning_rate": 0.1},
        {"average": 0.1},
        {"jitter": 1},
        {"precision": "64-true"},
        {"augmentation": {}},
        Training(jitter=1),
    ],
)
def test_settings_of_gradient_descent_have_no_effect_on_trees(training):
    settings = {"features": {"stride": 5}, "tolerances": (10.0,), "selection": {"folds": 0}}
    with pytest.raises(ConfigError, match="has no effect with the encoder 'trees'"):
        Detector(encoder=SMALL, training=training, **settings).fit(*data())
    if isinstance(training, dict):
        with pytest.raises(ConfigError, match="has no effect with the encoder 'trees'"):
            Detector.preset("paper", encoder=SMALL, training=training)


def test_presets_copies_and_files_keep_what_trees_do_not_use(tmp_path):
    preset = Detector.preset("paper", encoder=SMALL, tolerances=(10.0,), training={"epochs": 2})
    assert preset.training.batch == Training().batch
    fitted = clone(preset).fit(*data())
    fitted.save(tmp_path / "model.bdl")
    again = Detector.load(tmp_path / "model.bdl")
    assert again.fit(*data()).model_.settings == fitted.model_.settings
    ensemble = Detector(encoder=BOTH, training={"clip": 1.0, "batch": 2})
    ensemble.settings.check_given()
    ensemble.set_params(encoder=SMALL)
    with pytest.raises(ConfigError, match="batch: has no effect"):
        ensemble.fit(*data())
