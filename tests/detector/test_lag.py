"""Detectors with a lag: outputs late by so many bins, and nothing that looks further ahead."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from bdl import Detector, Events, Recording, Recordings, read_events, score
from bdl.detector import DetectorSettings
from bdl.encoders import Ensemble, Recurrent, Trees
from bdl.errors import ConfigError
from bdl.features import Features
from bdl.objectives import Objective
from bdl.targets import Crop
from bdl.training import Training, preparation
from bdl.training.batches import Batches
from calling import call
from learning import bouts, quick, spikes

FORWARD = Recurrent(width=8, blocks=1, bidirectional=False)
ENCODERS = {
    "gru": FORWARD,
    "front": FORWARD.replace(front=3, cell="lstm"),
    "trees": Trees(trees=10, widths=(1, 2, 8), causal=True),
    "both": Ensemble(members=(FORWARD, Trees(trees=5, widths=(1, 4), causal=True))),
}


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("lag", [0.0, 20.0])
def test_a_density_reads_no_bin_later_than_its_lag(name: str, lag: float) -> None:
    recordings, events = spikes(4)
    detector = Detector(**quick(encoder=ENCODERS[name], lag=lag, epochs=1)).fit(recordings, events)
    recording = recordings["r0"]
    whole = detector.density(recording).values
    assert len(whole) == 100
    for first in (100, 357, 396):  # the first sample that changes, at stride 4
        changed = recording.values.copy()
        changed[first:] += np.random.default_rng(first).normal(size=changed[first:].shape) * 9
        other = detector.density(Recording(recording.info, changed)).values
        known = first // 4 - round(lag / 4)  # bins whose outputs come before the change
        assert whole[:known].tobytes() == other[:known].tobytes()
        if first == 100:  # trees do not feel every change
            assert not np.array_equal(whole[known:], other[known:])


def test_targets_are_late_and_keep_their_mass() -> None:
    lag = 5
    recordings, events = spikes(3, samples=122)  # a last bin of two samples
    # An event in the last, partial bin: its target is at the end of the blank bins.
    events = Events.of(["r0", "r0", "r1", "r2"], "spike", [0.0, 121.0, 60.0, 119.0])
    features = Features(stride=4, calendar=False, scaling="none", missing=True)
    prepared = preparation.prepare(recordings, events, features, types=("spike",), lag=lag)
    objective = Objective.parse("bdl-gaussian").complete(sigma=6.0)
    objective = objective.resolve([recording.labels for recording in prepared], stride=4)
    for window, reversal in ((31, 0.0), (12, 0.0), (12, 1.0)):
        augmentation = {"reversal": reversal, "symmetric": True} if reversal else {}
        training = Training(epochs=1, batch=3, seed=2, augmentation=augmentation)
        batches = Batches(
            prepared, objective, training=training, features=features, window=window, fixed=False,
            steps=1, epoch=lambda: 0,
        )  # fmt: skip
        for epoch in range(20):
            batch = batches.make(epoch, [0, 1, 2])
            assert batch.values.shape[1] == window + lag
            assert not batch.learned[:, :lag].any()
            assert batch.learned[:, lag:].all()
            assert batch.mask.all()
            assert not batch.target[:, :lag].any()
            mass = batch.target.sum(dim=(1, 2)).numpy()
            np.testing.assert_allclose(mass, mass.round(), atol=1e-5)
            if window == 31:  # the whole recording: every event carries one unit
                assert sorted(mass.round().tolist()) == [1.0, 1.0, 2.0]
                # Blank bins after the end, of which no sample is there.
                assert (batch.values[:, 31:, :-1] == 0).all()
                assert (batch.values[:, 31:, -1] == 1).all()
    row = [*batches.draws].index((0, 0))
    whole = Batches(
        prepared, objective, training=Training(epochs=1, batch=3, augmentation={}),
        features=features, window=31, fixed=False, steps=1, epoch=lambda: 0,
    ).make(0, [row])  # fmt: skip
    crop = Crop(0, 122, 4)
    expected = objective.target(prepared[0].labels, crop)
    assert whole.target[0, lag:].numpy().tobytes() == expected.tobytes()
    assert whole.values[0, :31].numpy().tobytes() == prepared[0].binned.values[:31].tobytes()


@pytest.mark.parametrize("encoder", [FORWARD, Trees(trees=40, widths=(1, 2, 4), causal=True)])
def test_a_lag_lets_a_detector_see_what_follows(encoder: object) -> None:
    """The sign of an event comes eight samples after it: only a lag can place it well."""

    def before(seed: int) -> tuple[Recordings, Events]:
        recordings, events = spikes(8, seed=seed)
        return recordings, Events.of(events.recording, "spike", events.time - 8.0)

    others, truth = before(7)

    def mean_ap(lag: float) -> float:
        detector = Detector(
            **quick(
                encoder=encoder, lag=lag, epochs=60, stride=2, tolerances=(3.0,), learning_rate=0.02
            )
        ).fit(*before(1))
        return score(truth, detector.detect(others), [3.0]).mean_average_precision

    assert mean_ap(12.0) > 0.9
    assert mean_ap(0.0) < 0.6


def test_the_defaults_become_their_forward_forms() -> None:
    for settings in (Detector(lag=60.0).settings, Detector.preset("fast", lag=60.0).settings):
        gru, trees = settings.encoder.members
        assert not gru.bidirectional
        assert trees.causal
        assert settings.features.scaling.per_recording is False
    best = DetectorSettings.preset("best", lag=0.0)
    assert best.encoder.causal
    assert best.selection.rescoring is None
    assert best.selection.folds == 3
    assert DetectorSettings.preset("paper", lag=5.0).encoder == Recurrent(bidirectional=False)
    assert Detector(lag=None).settings == DetectorSettings()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"encoder": "gru"}, "'recurrent' reads later bins"),
        ({"encoder": "unet"}, "reads later bins"),
        ({"encoder": "forward-gru", "features": {"scaling": "per-recording"}}, "whole recording"),
        ({"selection": {"folds": 2, "rescoring": {}}}, "rescoring"),
        ({"decoder": "expected-ap"}, "forward-mass"),
        ({"decoder": {"kind": "peaks", "alternate": True}}, "alternation"),
        ({"tilings": 2}, "no effect"),
        ({"lag": -1.0}, "lag"),
    ],
)
def test_what_would_look_ahead_is_refused(parameters: dict, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        _ = Detector(**{"lag": 10.0, **parameters}).settings


def test_a_lag_shorter_than_a_bin_is_refused() -> None:
    recordings, events = spikes(2)
    with pytest.raises(ConfigError, match=r"lag of 1 s is shorter than a bin of 4 s"):
        Detector(**quick(encoder=FORWARD, lag=1.0)).fit(recordings, events)


def test_what_is_chosen_has_a_bounded_look_ahead(tmp_path) -> None:
    recordings, events = bouts(6)
    detector = Detector(
        lag=20.0,
        encoder=FORWARD,
        features={"stride": 4, "calendar": False},
        tolerances=(8.0,),
        training={"epochs": 2, "batch": 4, "accelerator": "cpu"},
    ).fit(recordings, events)
    model = detector.model_
    assert model.lag == 5
    assert model.decoder.looks_ahead is None
    assert model.operating_point.decoder.looks_ahead is None
    detector.save(tmp_path / "model.bdl")
    again = Detector.load(tmp_path / "model.bdl")
    assert again.model_ == model
    assert again.detect(recordings) == detector.detect(recordings)


def test_short_recordings_pass_together_as_alone() -> None:
    recordings, events = spikes(4)
    detector = Detector(**quick(encoder=FORWARD, lag=8.0, epochs=1)).fit(recordings, events)
    short = Recordings.of(
        [Recording.of(recordings["r0"].values[:n], id=str(n), period=1.0) for n in (3, 9, 40)]
        + [recordings["r1"]]
    )
    short = Recordings.of(
        [Recording.of(source.values, id=source.id, period=1.0) for source in short]
    )
    together = [*detector.densities(short)]
    for recording, density in zip(short, together, strict=True):
        assert detector.density(recording).values.tobytes() == density.values.tobytes()


def test_the_command_writes_when_each_detection_could_be_told(tmp_path) -> None:
    recordings, events = spikes(4)
    detector = Detector(**quick(encoder=FORWARD, lag=8.0, epochs=1)).fit(recordings, events)
    detector.save(tmp_path / "model.bdl")
    for recording in recordings:
        frame = pl.DataFrame({"channel_0": recording.values[:, 0]})
        frame.with_columns(channel_1=recording.values[:, 1]).write_csv(
            tmp_path / f"{recording.id}.csv"
        )
    call(
        "detect", tmp_path / "model.bdl", "--recordings", tmp_path, "--pattern", "*.csv",
        "--period", 1, "--out", tmp_path / "found.parquet",
    )  # fmt: skip
    detections = read_events(tmp_path / "found.parquet")
    assert detections.issued is not None
    assert (detections.issued >= detections.time).all()
