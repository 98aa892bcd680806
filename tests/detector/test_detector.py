"""The detector: scikit-learn manners, what it learns, what it accepts, and what it refuses."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from torch import nn

from bdl import Detector, Events, IntervalType, Recording, Recordings
from bdl.decoding import PeakGrid, Peaks, Transitions
from bdl.detector import application
from bdl.encoders import Recurrent, Transformer, UNet
from bdl.errors import BdlError, ConfigError, InputError
from bdl.evaluation import match
from bdl.features import Features
from bdl.kernels import Gaussian, Tolerance
from bdl.objectives import BDL, Objective
from bdl.training import Training
from learning import bouts, quick, spikes

BOUT = IntervalType("bout", onset="on", offset="off")


@pytest.fixture(scope="module")
def fitted() -> Detector:
    """A detector that has learned the spikes."""
    parameters = quick(epochs=30, learning_rate=1e-2, checkpoint_epochs=(1, 10))
    return Detector(**parameters).fit(*spikes(8))


class Own(nn.Module):
    """A user's module: one linear layer of the package's calling convention."""

    def __init__(self, inputs: int = 8, outputs: int = 1):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, values, hour, weekday, mask):
        return self.linear(values)


# Learning


def test_it_finds_events_in_recordings_it_has_not_seen(fitted):
    recordings, events = spikes(4, seed=1)
    detections = fitted.detect(recordings)
    assert match(events, detections, [8.0]).mean_average_precision() > 0.95
    assert fitted.history_[-1].loss < 0.5 * fitted.history_[0].loss


@pytest.mark.parametrize("name", Objective.names())
def test_every_objective_fits_and_detects(name):
    recordings, events = bouts(4)
    parameters = quick(objective=name, epochs=1, tolerances=(4.0, 12.0))
    detector = Detector(**parameters).fit(recordings, events, intervals=[BOUT])
    density = detector.density(recordings["r0"])
    kind = Objective.parse(name).density_kind
    assert density.kind == kind
    assert density.types == (("bout",) if kind == "state" else ("on", "off"))
    assert set(detector.detect(recordings).types) <= {"on", "off"}


@pytest.mark.parametrize(
    "encoder",
    [
        Recurrent(width=4, blocks=1, bidirectional=False),
        Recurrent(width=4, blocks=1, bidirectional=False, cell="lstm"),
        UNet(channels=(4, 4, 4)),
        UNet(channels=(4, 4, 4), attention=True, heads=1, bins=40),
        Transformer(width=8, layers=1, heads=2),
        Transformer(width=8, layers=1, heads=2, causal=True, local_convolution=True),
        {"kind": "recurrent", "width": 4},
    ],
)
def test_every_encoder_fits_saves_and_detects(encoder, tmp_path):
    recordings, events = spikes(4)
    window = 160.0 if getattr(encoder, "fixed_bins", None) else None
    parameters = quick(encoder=encoder, epochs=1, window=window)
    detector = Detector(**parameters).fit(recordings, events)
    detector.save(tmp_path / "m.bdl")
    loaded = Detector.load(tmp_path / "m.bdl")
    assert loaded.detect(recordings) == detector.detect(recordings)


def test_calendar_features_are_learned_and_saved(tmp_path):
    from datetime import UTC, datetime

    recordings, events = spikes(4)
    start = datetime(2020, 1, 1, tzinfo=UTC)
    dated = Recordings.of(
        [
            Recording(replace(recording.info, start=start), recording.values)
            for recording in recordings
        ]
    )
    detector = Detector(**quick(calendar=True, epochs=1)).fit(dated, events)
    detector.save(tmp_path / "m.bdl")
    assert Detector.load(tmp_path / "m.bdl").detect(dated) == detector.detect(dated)
    with pytest.raises(InputError, match="has no start time"):
        detector.density(recordings["r0"])


def test_validation_scores_the_chosen_epochs_and_keeps_the_best():
    recordings, events = spikes(8)
    held = spikes(4, seed=5)
    parameters = quick(epochs=30, learning_rate=1e-2, checkpoint_epochs=(1, 20))
    detector = Detector(**parameters).fit(recordings, events, validation=held)
    scores = {row.epoch: row.score for row in detector.history_ if row.score is not None}
    assert set(scores) == {1, 20, 30}
    assert scores[detector.best_epoch_] == max(scores.values()) > scores[1]
    detections = detector.detect(held[0])
    assert match(held[1], detections, [8.0]).mean_average_precision() == max(scores.values())
    first = detector.checkpoint(1)
    detections = first.detect(held[0])
    assert match(held[1], detections, [8.0]).mean_average_precision() == scores[1]
    assert first.best_epoch_ == 1


def test_checkpoints_are_kept_on_request(fitted):
    assert [*fitted.checkpoints_] == [1, 10, 30]
    recordings, _ = spikes(1, seed=3)
    first, ten = (fitted.checkpoint(epoch).density(recordings["r0"]).values for epoch in (1, 10))
    assert not np.array_equal(first, ten)
    with pytest.raises(ConfigError, match="no weights of epoch 5 were kept; kept are 1, 10, 30"):
        fitted.checkpoint(5)


def test_a_training_that_stops_early_is_on_the_same_way(fitted):
    recordings, events = spikes(8)
    parameters = quick(epochs=30, learning_rate=1e-2, stop_after=10)
    stopped = Detector(**parameters).fit(recordings, events)
    assert (len(stopped.history_), stopped.best_epoch_) == (10, 10)
    assert [*stopped.checkpoints_] == [10]
    whole = fitted.checkpoint(10)
    for density, other in zip(
        stopped.densities(recordings), whole.densities(recordings), strict=True
    ):
        assert np.array_equal(density.values, other.values)
    with pytest.raises(BdlError, match="stop_after 31 is beyond the 30 epochs"):
        Detector(**quick(epochs=30, stop_after=31)).fit(recordings, events)


def test_calibration_freezes_a_decoder(fitted, tmp_path):
    detector = fitted.checkpoint(30)
    recordings, events = spikes(4, seed=7)
    chosen = detector.calibrate(recordings, events, grid=PeakGrid(thresholds=5, separation=10.0))
    assert isinstance(chosen.decoder, Peaks)
    assert detector.model_.decoder == chosen.decoder
    detections = detector.detect(recordings)
    assert match(events, detections, [8.0]).mean_average_precision() == pytest.approx(chosen.score)
    detector.save(tmp_path / "m.bdl")
    assert Detector.load(tmp_path / "m.bdl").model_.decoder == chosen.decoder
    assert detector.calibrate(recordings, events).decoder.kind == "expected-ap"
    assert fitted.model_.decoder != chosen.decoder


def test_calibration_of_a_segmentation():
    recordings, events = bouts(4)
    detector = Detector(**quick(objective="seg-ce", epochs=2)).fit(
        recordings, events, intervals=[BOUT]
    )
    assert isinstance(detector.calibrate(recordings, events).decoder, Transitions)


def test_the_same_seed_gives_the_same_file(tmp_path):
    recordings, events = spikes(4)
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        Detector(**quick(seed=seed, epochs=2)).fit(recordings, events).save(tmp_path / name)
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c


def test_an_interrupted_fit_goes_on_to_the_same_file(tmp_path, monkeypatch):
    recordings, events = spikes(4)
    parameters = quick(epochs=3, checkpoint_epochs=(1, 2), seed=1)
    held = spikes(2, seed=5)
    Detector(**parameters).fit(recordings, events, validation=held).save(tmp_path / "whole")
    real, calls = application.densities_of, []

    def interrupted(*given):
        calls.append(1)
        if len(calls) == 2:  # the second validation
            raise KeyboardInterrupt
        return real(*given)

    again = Detector(**parameters, directory=tmp_path / "run")
    monkeypatch.setattr(application, "densities_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        again.fit(recordings, events, validation=held)
    monkeypatch.undo()
    with pytest.raises(ConfigError, match="not fitted yet"):
        again.detect(recordings)
    again.fit(recordings, events, validation=held).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "whole").read_bytes()
    other = clone(again).set_params(training__learning_rate=1e-3)
    with pytest.raises(ConfigError, match=r"another training \(it differs in training\)"):
        other.fit(recordings, events, validation=held)


# Manners of scikit-learn


def test_parameters_go_in_and_out():
    detector = Detector(window=5.0, objective=BDL())
    copied = clone(detector)
    assert copied is not detector
    assert copied.get_params() == detector.get_params()
    detector.set_params(window=7.0, encoder="unet")
    assert (detector.window, detector.get_params()["encoder"]) == (7.0, "unet")
    with pytest.raises(ValueError, match="Invalid parameter"):
        detector.set_params(strid=7)
    with pytest.raises(TypeError):
        Detector("bdl-hard")
    assert repr(Detector(window=5.0)) == "Detector(window=5.0)"


def test_fields_of_values_are_parameters_too():
    detector = Detector(objective="bdl-gaussian", features={"stride": 5})
    detector.set_params(
        training__epochs=7, features__calendar=True, objective__kernel__sigma=3.0, tile=9
    )
    assert detector.training == Training(epochs=7)
    assert detector.features == Features(stride=5, calendar=True)
    assert detector.objective == BDL(kernel=Gaussian(sigma=3.0))
    with pytest.raises(ValueError, match="Training has no field 'epoch'"):
        detector.set_params(training__epoch=7)
    with pytest.raises(ValueError, match="'tolerances' has no fields"):
        detector.set_params(tolerances__first=7)
    with pytest.raises(ConfigError, match="epochs"):
        detector.set_params(training__epochs=0)


def test_values_names_and_mappings_mean_the_same():
    values = Detector(
        objective=BDL(kernel=Gaussian()), encoder=Recurrent(), features=Features(stride=3)
    )
    names = Detector(
        objective={"kind": "bdl", "kernel": "gaussian"}, encoder="gru", features={"stride": 3}
    )
    assert values.settings == names.settings


def test_what_was_learned_is_not_a_parameter(tmp_path):
    detector = Detector(**quick(scaling="robust", epochs=1)).fit(*spikes(4))
    detector.save(tmp_path / "m.bdl")
    loaded = Detector.load(tmp_path / "m.bdl")
    assert loaded.settings == detector.model_.settings
    assert loaded.features.scaling.median is None
    assert loaded.model_.features.scaling.median is not None
    assert (loaded.objective.rate, loaded.decoder) == (None, None)


@pytest.mark.parametrize("use", ["detect", "densities", "calibrate", "save", "checkpoint"])
def test_a_detector_that_is_not_fitted_says_so(use):
    arguments = {"calibrate": spikes(1), "save": ("m.bdl",), "checkpoint": (1,)}
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(Detector(), use)(*arguments.get(use, ([],)))
    with pytest.raises(BdlError):
        Detector().detect([])
    with pytest.raises(AttributeError):
        _ = Detector().model_


# Nothing is ignored


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"decoder": "transitions"}, "'transitions' reads densities of kind 'state', but obj"),
        ({"objective": "seg-ce", "decoder": "peaks"}, "gives kind 'state'; use transitions"),
        ({"encoder": "forward-gru", "tile": 64}, "tile has no effect: the encoder 'recurrent'"),
        ({"objective": BDL(rate=0.5)}, "contradicts the reference spacing"),
        ({"objective": {"kind": "bdl", "prior": False, "reference_spacing": 9.0}}, "no effect"),
    ],
)
def test_contradictions_and_what_has_no_effect_are_errors(parameters, message):
    with pytest.raises(ConfigError, match=message):
        Detector(**quick(**parameters)).fit(*spikes(3), intervals=[])


def test_arguments_of_fit_without_effect_are_errors():
    with pytest.raises(ConfigError, match="event_free has no effect without validation"):
        Detector(**quick()).fit(*spikes(3), event_free="count")


def test_a_kernel_takes_its_own_numbers_first():
    recordings, events = spikes(3)
    own = BDL(kernel=Tolerance(tolerances=(2.0,)), reference_spacing=90.0)
    learned = Detector(**quick(objective=own, epochs=1)).fit(recordings, events).model_.objective
    assert learned.kernel == Tolerance(tolerances=(2.0,))
    assert learned.reference_spacing == 90.0
    given = {"tolerances": (6.0, 3.0), "window": 400.0}
    detector = Detector(**quick(objective="bdl-gaussian", epochs=1, **given))
    kernel = detector.fit(recordings, events).model_.objective.kernel
    assert kernel == Gaussian(sigma=5.0)  # times are multiples of 10 s


def test_a_decoder_of_another_density_is_refused_after_fitting_too(fitted):
    with pytest.raises(ConfigError, match="reads densities of kind 'state'"):
        fitted.checkpoint(30).set_decoder({"kind": "transitions", "window": 5.0})


def test_a_clone_of_a_fitted_or_loaded_detector_is_not_fitted(fitted, tmp_path):
    fitted.save(tmp_path / "m.bdl")
    for detector in (fitted, Detector.load(tmp_path / "m.bdl")):
        again = clone(detector)
        with pytest.raises(ConfigError, match="not fitted yet"):
            again.detect([])
        again.set_params(training__checkpoint_epochs=(), training__epochs=1).fit(*spikes(4))
        assert len(again.history_) == 1


def test_fitting_does_not_change_what_was_given():
    own = Own()
    before = copy.deepcopy(own.state_dict())
    detector = Detector(**quick(encoder=own, epochs=2))
    parameters = detector.get_params()
    detector.fit(*spikes(4))
    assert detector.get_params() == parameters
    assert all(torch.equal(value, before[name]) for name, value in own.state_dict().items())


# A user's own module


def test_a_module_of_ones_own(tmp_path):
    recordings, events = spikes(4)
    detector = Detector(**quick(encoder=Own(), epochs=2)).fit(recordings, events)
    detector.save(tmp_path / "m.bdl")
    with pytest.raises(ConfigError, match=r"a user's own module, .*\.Own: pass one"):
        Detector.load(tmp_path / "m.bdl")
    loaded = Detector.load(tmp_path / "m.bdl", module=Own())
    assert loaded.detect(recordings) == detector.detect(recordings)
    with pytest.raises(InputError, match="weights do not fit"):
        Detector.load(tmp_path / "m.bdl", module=Own(inputs=3))


def test_a_module_with_the_wrong_output(fitted, tmp_path):
    with pytest.raises(ConfigError, match=r"logits of shape \(4, 100, 1\).*got \(4, 100, 3\)"):
        Detector(**quick(encoder=Own(outputs=3))).fit(*spikes(4))
    fitted.save(tmp_path / "m.bdl")
    with pytest.raises(ConfigError, match="no module is needed"):
        Detector.load(tmp_path / "m.bdl", module=Own())


# Recordings of any length


def test_short_recordings_one_sample_and_gaps(fitted):
    rng = np.random.default_rng(0)
    for samples in (1, 2, 3, 4, 5, 9, 401, 1999):
        values = rng.normal(size=(samples, 2)).astype(np.float32)
        values[samples // 3 : samples // 2] = np.nan
        density = fitted.density(Recording.of(values, id="x", period=1.0))
        assert density.values.shape == (-(-samples // 4), 1)
    nothing = Recording.of(np.full((50, 2), np.nan), id="x", period=1.0)
    assert np.isfinite(fitted.density(nothing).values).all()
    assert len(fitted.density(Recording.of(np.zeros((0, 2)), id="x", period=1.0)).values) == 0


def test_a_detection_does_not_depend_on_its_company(fitted):
    recordings, _ = spikes(5, seed=2)
    together = [*fitted.densities(recordings)]
    for density in together:
        alone = fitted.density(recordings[density.recording])
        assert np.array_equal(alone.values, density.values)
    assert len(fitted.detect([])) == 0
    assert len(fitted.detect(recordings["r1"])) > 0


def test_short_training_recordings_are_padded():
    recordings, events = spikes(4)
    short = Recording.of(np.zeros((7, 2)), id="short", period=1.0)
    both = Recordings.of([*recordings, short])
    detector = Detector(**quick(window=200.0, epochs=1)).fit(both, events)
    assert np.isfinite(detector.history_[0].loss)


# What is refused


def some(**changes):
    recordings, events = spikes(3)
    return {"recordings": recordings, "events": events, **changes}


def test_no_events():
    recordings, events = spikes(3)
    with pytest.raises(InputError, match="no events, so there is nothing to learn"):
        Detector(**quick()).fit(recordings, Events.empty())
    with pytest.raises(InputError, match="no events of type beat"):
        Detector(**quick()).fit(recordings, events, types=["spike", "beat"])
    late = Events.of("r0", "spike", [1e6])
    with pytest.raises(InputError, match=r"1 are outside their recordings: are the times in sec"):
        Detector(**quick()).fit(recordings, late)
    with pytest.raises(InputError, match="the training part has no recordings"):
        Detector(**quick()).fit(recordings.select([]), Events.empty())


def test_events_of_unknown_recordings():
    recordings, events = spikes(3)
    part = recordings.select(["r0", "r1"])
    with pytest.raises(InputError, match=r"events of 1 recordings that are not among.*r2"):
        Detector(**quick()).fit(part, events)
    Detector(**quick(epochs=1)).fit(part, events, unknown="ignore")


def test_strides_and_windows():
    recordings, events = spikes(3)
    with pytest.raises(ConfigError, match=r"stride of 50 samples .* is longer than the window"):
        Detector(**quick(stride=50, window=20.0)).fit(recordings, events)
    with pytest.raises(ConfigError, match="longer than every recording; the longest, 'r0'"):
        Detector(**quick(window=5000.0)).fit(recordings, events)
    fixed = UNet(channels=(4, 4, 4), attention=True, heads=1, bins=40)
    with pytest.raises(ConfigError, match="windows of exactly 40 bins"):
        Detector(**quick(encoder=fixed, window=100.0)).fit(recordings, events)
    with pytest.warns(UserWarning, match=r"stride: (half a bin|two events)"):
        Detector(**quick(stride=20, epochs=1)).fit(recordings, events)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Detector(**quick(stride=2, epochs=1)).fit(recordings, events)


def test_events_outside_are_told():
    recordings, events = spikes(3)
    more = Events.concat([events, Events.of("r0", "spike", [1e6, -50.0])])
    with pytest.warns(UserWarning, match="2 events are outside their recordings"):
        Detector(**quick(epochs=1)).fit(recordings, more)


def test_mixed_recordings():
    recordings, events = spikes(3)
    values = recordings["r2"].values
    other = Recording.of(values, id="r2", period=0.5)
    mixed = Recordings.of([recordings["r0"], recordings["r1"], other])
    with pytest.raises(InputError, match=r"'r2' has a sample every 0\.5 s, and recording 'r0'"):
        Detector(**quick()).fit(mixed, events)
    other = Recording.of(values[:, :1], id="r2", period=1.0)
    mixed = Recordings.of([recordings["r0"], recordings["r1"], other])
    with pytest.raises(InputError, match="it lacks channel_1"):
        Detector(**quick()).fit(mixed, events)


def test_a_recording_of_another_kind(fitted):
    values = spikes(1, seed=4)[0]["r0"].values
    with pytest.raises(InputError, match=r"has a sample every 0\.25 s, and the model every 1 s"):
        fitted.density(Recording.of(values, id="x", period=0.25))
    with pytest.raises(InputError, match="it lacks channel_1; it also has emg"):
        fitted.density(Recording.of(values, id="x", period=1.0, channels=["channel_0", "emg"]))
    with pytest.raises(InputError, match=r"another size than in training .*other units"):
        fitted.density(Recording.of(values * 1e6, id="x", period=1.0))
    # Channels are found by name.
    swapped = Recording.of(
        np.column_stack([values[:, 1], np.ones(len(values)), values[:, 0]]),
        id="r0",
        period=1.0,
        channels=["channel_1", "light", "channel_0"],
    )
    plain = Recording.of(values, id="r0", period=1.0)
    assert np.array_equal(fitted.density(swapped).values, fitted.density(plain).values)


def test_resampling_only_when_asked_for(fitted):
    recordings, events = spikes(3, seed=8)
    doubled = Recordings.of(
        [
            Recording.of(np.repeat(recording.values, 2, axis=0), id=recording.id, period=0.5)
            for recording in recordings
        ]
    )
    with pytest.raises(InputError, match="resample=True"):
        fitted.detect(doubled)
    detections = fitted.detect(doubled, resample=True)
    assert match(events, detections, [8.0]).mean_average_precision() > 0.9


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"objective": "bdl-soft"}, "bdl-soft"),
        ({"encoder": "gpt"}, "gpt"),
        ({"encoder": {"kind": "recurrent", "widht": 3}}, "widht"),
        ({"decoder": {"kind": "peak"}}, "peak"),
        ({"stride": 0}, "stride"),
        ({"stride": 2.5}, "stride"),
        ({"window": -3.0}, "window"),
        ({"epochs": 0}, "epochs"),
        ({"tolerances": (0.0,)}, "tolerances"),
        ({"scaling": "max"}, "scaling"),
        ({"statistics": ("median",)}, "statistics"),
        ({"tile": 1}, "tile"),
        ({"objective": "seg-ce"}, "segmentation needs interval types"),
        ({"tensorboard": True}, "directory"),
    ],
)
def test_parameters_are_checked_when_fitting(wrong, message):
    with pytest.raises(BdlError, match=message):
        Detector(**quick(**wrong)).fit(**some())


def test_validation_needs_events():
    recordings, events = spikes(3)
    held = (spikes(1, seed=2)[0], Events.empty())
    with pytest.raises(InputError, match="validation part has no events"):
        Detector(**quick()).fit(recordings, events, validation=held)
