"""What a detector chooses on held-out recordings, and what it must not see."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl import Detector, Events, Recording, Recordings
from bdl.decoding import ExpectedAP
from bdl.density import Density
from bdl.detector import cross_fitting
from bdl.detector.application import member_densities
from bdl.detector.choices import HeldOut, best_threshold, choose_weights, with_weights
from bdl.detector.holdouts import holdouts
from bdl.detector.selection import Selection
from bdl.encoders import Ensemble, Recurrent, Trees
from bdl.errors import ConfigError, InputError
from bdl.evaluation import match
from bdl.kernels import Kernel
from learning import quick, spikes

TREES = Trees(trees=20, leaves=4, widths=(1, 2, 4), least_rows=5)
PAIR = Ensemble(members=(Recurrent(width=4, blocks=1), TREES))


def fitted(selection, encoder=PAIR, **changes) -> Detector:
    changes = {"epochs": 4, "learning_rate": 1e-2, **changes}
    parameters = quick(encoder=encoder, selection=selection, **changes)
    return Detector(**parameters).fit(*spikes(8))


# Which recordings are held out


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.lists(st.sampled_from("ab"))), min_size=1, max_size=9),
    st.integers(1, 4),
    st.floats(0.01, 0.99),
    st.integers(0, 3),
)
def test_whole_groups_are_held_out_and_every_type_can_be_learned(rows, folds, share, seed):
    recordings = Recordings.of(
        [
            Recording.of(np.zeros(5), id=f"r{i}", period=1.0, group=f"g{group}")
            for i, (group, _) in enumerate(rows)
        ]
    )
    pairs = [(f"r{i}", event) for i, (_, events) in enumerate(rows) for event in events]
    names = [[pair[i] for pair in pairs] for i in (0, 1)]
    events = Events.of(*names, [1.0] * len(pairs)) if pairs else Events.empty()
    parts = holdouts(recordings, events, folds=folds, share=share, seed=seed)
    groups = recordings.groups
    if len(set(groups.values())) == 1:
        groups = {id: id for id in recordings.ids}
    held = [id for part in parts for id in part.held]
    assert len(held) == len(set(held))
    assert len(parts) <= folds
    for train, aside in parts:
        assert sorted([*train, *aside]) == sorted(recordings.ids)
        assert train
        assert aside
        assert not {groups[id] for id in train} & {groups[id] for id in aside}
        assert {*events.select(recordings=train).event} == {*events.event}


# What is chosen


def test_the_model_is_the_one_trained_on_everything_with_what_was_chosen():
    detector = fitted({"folds": 2, "refit": True})
    model = detector.model_
    assert model.choices is not None
    assert (model.choices.groups, model.choices.recordings) == (4, 8)
    again = Detector(**dict(model.settings.replace(selection={"folds": 0}))).fit(*spikes(8))
    recordings, _ = spikes(2, seed=9)
    for density, other in zip(
        detector.densities(recordings), again.densities(recordings), strict=True
    ):
        assert np.array_equal(density.values, other.values)


def density(id, values):
    return Density(id, values.astype(np.float32)[:, None], ("x",), 1.0, stride=1, samples=100)


@pytest.mark.parametrize("useful", [0, 1])
def test_members_that_do_not_help_are_left_out(useful):
    rng = np.random.default_rng(0)
    members, times = [], {}
    for id in "abcdef":
        true = np.zeros(100)
        true[rng.choice(np.arange(5, 95, 10), 3, replace=False)] = 0.9
        members.append([density(id, true), density(id, rng.permutation(true) * 4)])
        times[id] = np.flatnonzero(true).astype(float)
        if useful:
            members[-1].reverse()
    truth = Events.of(np.repeat([*times], 3), "x", np.concatenate([*times.values()]))
    held = HeldOut(truth, (1.5,), ("x",), (), "ignore", 0.0)
    weights, tried = choose_weights(members, PAIR, ExpectedAP(tolerances=(1.5,)), held)
    assert weights[useful] == 1.0
    assert dict(tried)[weights] == 1.0 > tried[0][1]
    chosen = with_weights(PAIR, weights)
    assert chosen.members == (PAIR.members[useful],)
    same = [[member[useful]] * 2 for member in members]
    assert choose_weights(same, PAIR, ExpectedAP(tolerances=(1.5,)), held)[0] == (0.5, 0.5)


def test_the_kernel_with_the_best_score_is_used():
    kernels = ({"kind": "gaussian", "sigma": 200.0}, "hard")
    objective = {"kind": "bdl", "kernel": {"kind": "automatic", "among": kernels}}
    detector = fitted({"folds": 1, "share": 0.5}, TREES, objective=objective)
    scores = detector.model_.choices.kernels
    assert scores["hard"] > scores["gaussian"]
    assert detector.model_.objective.kernel.kind == "hard"


def test_kernels_to_choose_from_get_the_width_that_suits_the_labels():
    # Events on full tens of seconds: kernels are as wide as that uncertainty, not as the tolerance.
    kernel = {"kind": "automatic", "among": ("gaussian", {"kind": "right-gaussian"})}
    selection = {"folds": 1, "share": 0.5}
    changes = {"tolerances": (3.0,), "objective": {"kind": "bdl", "kernel": kernel}, "stride": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        detector = fitted(selection, TREES, **changes)
    assert detector.model_.objective.kernel.sigma == 5.0


def test_without_anything_held_out_the_first_kernel_is_used():
    detector = fitted({"folds": 0}, TREES, objective="bdl-automatic")
    assert detector.model_.objective.kernel.kind == "gaussian"
    assert detector.model_.settings.objective.kernel.kind == "gaussian"


@pytest.mark.parametrize("among", [("hard",), ("hard", "hard"), ("hard", "automatic")])
def test_kernels_to_choose_from_are_of_different_kinds(among):
    with pytest.raises(ConfigError, match=r"among|different kinds"):
        Kernel.parse({"kind": "automatic", "among": among})


def test_an_epoch_is_chosen_only_where_the_second_training_has_it():
    changes = {"epochs": None, "updates": 6, "checkpoints": 2}
    with pytest.raises(ConfigError, match="give epochs instead of updates"):
        fitted({"folds": 2, "refit": True}, **changes)
    detector = fitted({"folds": 2, "refit": True}, epochs=4, checkpoints=2)
    assert detector.best_epoch_ in (2, 4)


def test_the_operating_point_gives_fewer_and_better_detections(tmp_path):
    detector = fitted({"folds": 2})
    recordings, events = spikes(4, seed=3)
    ranking = detector.detect(recordings)
    alarms = detector.detect(recordings, operating_point=True)
    assert 0 < len(alarms) < len(ranking)
    f1 = match(events, alarms, [8.0]).tally(0.0).f1
    assert f1 > match(events, ranking, [8.0]).tally(0.0).f1
    detector.save(tmp_path / "m.bdl")
    assert Detector.load(tmp_path / "m.bdl").detect(recordings, operating_point=True) == alarms
    detector.set_decoder("peaks")
    with pytest.raises(ConfigError, match="no operating point"):
        detector.detect(recordings, operating_point=True)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=6, unique=True),
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), max_size=8),
)
def test_the_best_threshold_is_that_of_a_search(times, detections):
    truth = Events.of("a", "x", [float(t) for t in times])
    scores = [score / 5 for _, score in detections]
    scored = Events.of("a", "x", [float(t) for t, _ in detections], score=scores)
    matches = match(truth, scored, [2.0, 5.0])
    f1 = {score: float(matches.tally(score).f1.mean()) for score in scores}
    threshold, best = best_threshold(matches)
    assert best == max(f1.values(), default=0.0)
    highest = max((s for s in f1 if f1[s] == best), default=0.0)
    below = max((s for s in f1 if s < highest), default=highest)
    assert threshold == (highest + below) / 2
    if f1:
        assert float(matches.tally(threshold).f1.mean()) == best


def test_one_group_cannot_be_held_out():
    recordings, events = spikes(1)
    with pytest.warns(UserWarning, match="nothing can be held out"):
        detector = Detector(**quick(selection={"folds": 1})).fit(recordings, events)
    assert detector.model_.operating_point is None


# The second stage


def noisy(count, seed=0, samples=1500):
    """Spikes among others that only their width tells apart."""
    rng = np.random.default_rng(seed)
    recordings, names, times = [], [], []
    for i in range(count):
        values = rng.normal(size=(samples, 1)).astype(np.float32)
        places = np.arange(60, samples - 60, 60) + rng.integers(-15, 15, size=(samples - 61) // 60)
        true = rng.random(len(places)) < 0.5
        for place, wide in zip(places, true, strict=True):
            values[place : place + (12 if wide else 4), 0] += 6.0
        recordings.append(Recording.of(values, id=f"r{i}", period=1.0, group=f"g{i}"))
        names += [f"r{i}"] * int(true.sum())
        times += places[true].astype(float).tolist()
    return Recordings.of(recordings), Events.of(names, "spike", times)


RESCORED = {
    "folds": 3,
    "refit": True,
    "rescoring": {"trees": 60, "least_rows": 5},
    "weights": False,
}


def weak(**changes) -> Detector:
    """A first stage that sees two bins at a time, so that the second has something to add."""
    encoder = Trees(trees=20, leaves=4, widths=(1,), least_rows=5)
    return Detector(**quick(encoder=encoder, selection=RESCORED, **changes))


def test_a_second_stage_helps_a_weak_first_one_and_is_saved(tmp_path):
    detector = weak().fit(*noisy(12))
    before, after = detector.model_.choices.rescoring
    assert after > before + 0.01
    recordings, events = noisy(4, seed=7)
    rescored = detector.detect(recordings)
    detector.save(tmp_path / "m.bdl")
    assert Detector.load(tmp_path / "m.bdl").detect(recordings) == rescored
    plain = detector.checkpoint(detector.best_epoch_).set_decoder(detector.model_.decoder)
    first = plain.detect(recordings)
    assert np.array_equal(np.sort(first.time), np.sort(rescored.time))
    scores = [
        match(events, detections, [8.0]).mean_average_precision()
        for detections in (first, rescored)
    ]
    assert scores[1] > scores[0]


def test_the_second_stage_never_sees_labels_of_the_part_it_is_judged_on(monkeypatch):
    recordings, events = noisy(9)
    seen = []
    real = cross_fitting.train_second_stage

    def watched(rescoring, parts, densities, detections, held, *, seed):
        stage = real(rescoring, parts, densities, detections, held, seed=seed)
        # With noise in place of the labels of one part, detections of the others are judged by
        # stages that learned from it, but its own are scored exactly as before.
        part = [*parts[0][1].ids]
        rng = np.random.default_rng(0)
        times = np.where(
            np.isin(held.truth.recording, part),
            rng.uniform(0, 1400, len(held.truth)),
            held.truth.time,
        )
        moved = Events.of(held.truth.recording, held.truth.event, times)
        noisy_held = cross_fitting.replace(held, truth=moved)
        learned = cross_fitting.HeldOutDetections.of(
            densities, detections.decoder, noisy_held, calibrated=True
        )
        noise = real(rescoring, parts, densities, learned, noisy_held, seed=seed)
        for scored in (stage, noise):
            rows = np.isin(np.array(scored.matches.recordings)[scored.matches.recording], part)
            order = np.lexsort((scored.matches.time[rows], scored.matches.recording[rows]))
            seen.append(scored.matches.score[rows][order])
        return stage

    monkeypatch.setattr(cross_fitting, "train_second_stage", watched)
    weak().fit(recordings, events)
    assert len(seen[0]) > 50
    assert np.array_equal(seen[0], seen[1])


def test_older_files_keep_the_calibration_beside_the_trees(tmp_path):
    from bdl.detector.modelfile import read_model, write_model

    detector = weak().fit(*noisy(9))
    detector.save(tmp_path / "m.bdl")
    model, weights = read_model(tmp_path / "m.bdl")
    curves = torch.tensor([curve[:2] for curve in model.calibration.curves], dtype=torch.float64)
    without_third = model.calibration.replace(curves=tuple((*c[:2], 0.0) for c in curves.tolist()))
    point = model.operating_point.replace(rescored=True)
    older = model.replace(calibration=None, operating_point=point.replace(calibration=None))
    beside = {**weights, "@second-stage.calibration": curves}
    write_model(tmp_path / "older.bdl", older, beside)
    recordings = noisy(2)[0]
    loaded = Detector.load(tmp_path / "older.bdl")
    detector.model_ = detector.model_.replace(calibration=without_third)
    assert loaded.detect(recordings) == detector.detect(recordings)
    assert loaded.model_.calibration == without_third
    write_model(tmp_path / "oldest.bdl", older, weights)  # trees alone
    assert Detector.load(tmp_path / "oldest.bdl").model_.calibration.curves == ((0.0, 0.0, 0.0),)
    beside["@second-stage.calibration"] = torch.zeros((3, 2), dtype=torch.float64)
    write_model(tmp_path / "wrong.bdl", older, beside)
    with pytest.raises(InputError, match="3 curves of scores for 1 event types"):
        Detector.load(tmp_path / "wrong.bdl")


@pytest.mark.parametrize("calibrated", [True, False])
def test_scores_are_expected_shares_of_hits_where_they_are_calibrated(calibrated, tmp_path):
    recordings, events = noisy(24)
    encoder = Trees(trees=20, leaves=4, widths=(1,), least_rows=5)
    selection = {"folds": 3, "refit": False, "calibrated": calibrated}
    detector = Detector(**quick(encoder=encoder, selection=selection)).fit(recordings, events)
    unseen, truth = noisy(24, seed=9)
    detections = detector.detect(unseen)
    matches = match(truth, detections, detector.settings.tolerances)
    hits = np.mean([matches.hits("spike", t)[0].size for t in matches.tolerances])
    if calibrated:
        assert detections.score.sum() == pytest.approx(hits, rel=0.2)
        assert (detections.score <= 1).all()
    else:
        assert detector.model_.calibration is None
    # The order of a type does not change.
    raw = detector.set_decoder(detector.model_.decoder).detect(unseen)
    order = np.lexsort((raw.time, raw.recording_code))
    again = np.lexsort((detections.time, detections.recording_code))
    assert np.array_equal(raw.time[order], detections.time[again])
    ranks = np.argsort(raw.score[order], kind="stable")
    assert (np.diff(detections.score[again][ranks]) >= 0).all()


def test_a_damaged_second_stage_is_refused(tmp_path):
    from bdl.detector.modelfile import read_model, write_model

    detector = weak().fit(*noisy(9))
    assert detector.rescorer_ is not None
    detector.save(tmp_path / "m.bdl")
    model, weights = read_model(tmp_path / "m.bdl")
    name = next(name for name in weights if name.endswith("stage.column"))
    write_model(tmp_path / "far.bdl", model, {**weights, name: weights[name] + 1000})
    with pytest.raises(InputError, match="damaged weights"):
        Detector.load(tmp_path / "far.bdl").detect(noisy(1)[0])
    less = {key: value for key, value in weights.items() if key != name}
    write_model(tmp_path / "less.bdl", model, less)
    with pytest.raises(InputError, match="second stage are not complete"):
        Detector.load(tmp_path / "less.bdl")


# Interruption, seeds, presets


def test_an_interrupted_selection_goes_on_to_the_same_file(tmp_path, monkeypatch):
    parameters = quick(encoder=PAIR, selection={"folds": 2}, epochs=3)
    Detector(**parameters).fit(*spikes(4)).save(tmp_path / "whole")
    real, calls = cross_fitting.train_model, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    detector = Detector(**parameters, directory=tmp_path / "run")
    monkeypatch.setattr(cross_fitting, "train_model", interrupted)
    with pytest.raises(KeyboardInterrupt):
        detector.fit(*spikes(4))
    monkeypatch.undo()
    detector.fit(*spikes(4)).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "whole").read_bytes()


def test_without_refit_the_detector_is_the_mean_of_the_models_of_all_parts(tmp_path, monkeypatch):
    fits, real = [], cross_fitting.train_model

    def recorded(*arguments):
        fits.append(real(*arguments))
        return fits[-1]

    monkeypatch.setattr(cross_fitting, "train_model", recorded)
    selection = {"folds": 3, "refit": False, "weights": False}
    detector = fitted(selection, objective="bdl-hard")
    assert len(fits) == 3
    assert len(detector.model_.settings.encoder.members) == 6
    assert detector.model_.provenance.recordings == 8
    recordings, _ = spikes(2, seed=4)
    for recording in recordings:
        densities = [
            member for fit in fits for member in member_densities(fit.module, fit.model, recording)
        ]
        mean = detector.density(recording)
        expected = np.mean([density.values for density in densities], axis=0)
        np.testing.assert_allclose(mean.values, expected, rtol=1e-5)
    detector.save(tmp_path / "m.bdl")
    assert Detector.load(tmp_path / "m.bdl").detect(recordings) == detector.detect(recordings)


def test_weights_of_kept_epochs_stay_with_an_ensemble_that_is_trained_once():
    detector = fitted({"folds": 1, "refit": False}, checkpoints=2)
    assert [*detector.checkpoints_] == [2, 4]
    assert detector.checkpoint(2).model_.epoch == 2


def test_models_of_parts_share_scaling_prior_and_window():
    recordings, events = spikes(8)
    longer = Recording.of(np.tile(recordings["r0"].values, (3, 1)), id="long", period=1.0)
    recordings = Recordings.of([*recordings, longer])
    detector = Detector(
        **quick(encoder=TREES, selection={"folds": 3, "refit": False}, epochs=2, window=700.0)
    )
    detector.fit(recordings, events)
    assert len(detector.model_.settings.encoder.members) == 3
    assert detector.model_.window == 100  # bins of the longest recording of the part without it


@pytest.mark.parametrize("name", ["fast", "paper"])
def test_presets_fit_and_detect(name):
    changes = {"epochs": 2} if name == "fast" else {"epochs": 6, "checkpoints": 2}
    detector = Detector.preset(name, training=changes).fit(*spikes(8))
    assert set(detector.detect(spikes(2, seed=4)[0]).types) <= {"spike"}
    kept = name == "fast"
    assert (detector.model_.settings.features.scaling.kind == "automatic") is kept


@pytest.mark.slow
def test_the_best_preset_fits_and_detects(tmp_path):
    detector = Detector.preset("best", training={"epochs": 2}).fit(*spikes(8))
    assert set(detector.model_.choices.kernels) == {"hard", "gaussian", "narrowing"}
    detector.save(tmp_path / "m.bdl")
    recordings, _ = spikes(2, seed=4)
    assert Detector.load(tmp_path / "m.bdl").detect(recordings) == detector.detect(recordings)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({"folds": 1, "rescoring": {}}, "at least 2 folds"),
        ({"folds": 2, "rescoring": {}, "calibrated": False}, "calibrated must be true"),
        ({"share": 0.3}, "share has no effect with folds 3"),
        ({"folds": 0, "refit": True}, "refit has no effect"),
        ({"share": 1.0}, "share"),
    ],
)
def test_selections_that_contradict_themselves(selection, message):
    with pytest.raises(ConfigError, match=message):
        Detector(**quick(selection=selection)).fit(*spikes(4))


@pytest.mark.parametrize("field", ["weights", "calibrated"])
def test_what_is_chosen_on_held_out_recordings_needs_folds(field):
    with pytest.raises(ConfigError, match=f"{field}: has no effect without folds"):
        Detector(**quick(selection={"folds": 0, field: True})).fit(*spikes(4))
    with pytest.raises(ConfigError, match=f"{field}: has no effect without folds"):
        Detector.preset("best", selection={"folds": 0, "rescoring": None, field: True})
    assert not Detector.preset("paper", selection={"folds": 0}).selection.folds


def test_the_error_of_a_misplaced_argument_says_where_it_belongs():
    with pytest.raises(ConfigError, match=r"'sigma'; it is a field of objective.kernel, as in obj"):
        Detector(objective="bdl-gaussian", sigma=5.0)
    with pytest.raises(ConfigError, match=r"field of training, as in training=\{'epochs': 3\}"):
        Detector(epochs=3)
    with pytest.raises(ConfigError, match="no argument 'nonsense'; its settings are objective"):
        Detector(nonsense=1)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({"folds": 3}, "folds: has no effect with validation recordings"),
        ({"folds": 1, "share": 0.3}, "share: has no effect with validation recordings"),
        ({"folds": 1, "refit": True}, "refit: has no effect with validation recordings"),
        ({"rescoring": {}}, "leave out validation"),
    ],
)
def test_how_recordings_are_held_out_has_no_effect_on_validation_recordings(selection, message):
    recordings, events = spikes(4)
    with pytest.raises(ConfigError, match=message):
        Detector(**quick(selection=selection)).fit(recordings, events, validation=spikes(2, seed=5))


def test_presets_and_copies_take_validation_recordings():
    held = spikes(2, seed=5)
    detector = Detector.preset("paper", training={"epochs": 2, "checkpoints": 1})
    choices = detector.fit(*spikes(4), validation=held).model_.choices
    assert choices is not None
    assert choices.recordings == 2
    copy = Detector(**quick(selection=Selection(folds=3).replace(refit=True)))
    assert copy.fit(*spikes(4), validation=held).model_.choices.recordings == 2


def test_an_encoder_of_one_kind_has_no_members_to_weight():
    with pytest.raises(ConfigError, match="weights: has no effect with the encoder 'recurrent'"):
        fitted({"folds": 2, "weights": True}, Recurrent(width=4, blocks=1))
    same = Ensemble(members=(Recurrent(width=4, blocks=1), Recurrent(width=4, blocks=1)))
    with pytest.raises(ConfigError, match="weights: has no effect with the encoder 'ensemble'"):
        Detector.preset("fast", encoder=same, selection={"weights": True})
    for encoder in (PAIR, same.replace(weights=(1.0, 2.0))):
        Detector.preset("fast", encoder=encoder, selection={"weights": True})


def test_alternation_without_intervals_is_refused_before_training():
    detector = Detector(**quick(decoder={"kind": "peaks", "alternate": True}))
    with pytest.raises(ConfigError, match="alternate: needs interval types"):
        detector.fit(*spikes(4))
