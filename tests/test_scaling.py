"""Scalings: of all recordings together, of each by itself, and the choice between them."""

import numpy as np
import pytest

from bdl.binning import bin_features
from bdl.errors import ConfigError
from bdl.features import Features
from bdl.recording import Recording, Recordings
from bdl.scaling import AutomaticScaling, PerRecording, Robust


def recordings(gains, levels):
    rng = np.random.default_rng(0)
    return Recordings.of(
        [
            Recording.of(level + gain * rng.normal(size=(200, 2)), id=str(i), period=1.0)
            for i, (gain, level) in enumerate(zip(gains, levels, strict=True))
        ]
    )


def test_recordings_of_one_level_are_scaled_together():
    assert isinstance(AutomaticScaling().fit(recordings([1.0] * 8, [0.0] * 8)), Robust)


@pytest.mark.parametrize(
    ("gains", "levels"),
    [([1.0, 4.0] * 4, [0.0] * 8), ([1.0] * 8, [0.0, 9.0] * 4)],
)
def test_recordings_of_different_levels_are_scaled_one_by_one(gains, levels):
    assert isinstance(AutomaticScaling().fit(recordings(gains, levels)), PerRecording)


@pytest.mark.parametrize("channels", [[0, 1], [1]])
@pytest.mark.parametrize("silent", [np.nan, 0.0])
def test_channels_without_a_signal_do_not_decide(silent, channels):
    """A recording without samples, or of a sensor that was off, says nothing of the others."""

    def silenced(info, values):
        values = np.array(values)
        if info.id == "3":
            values[:, channels] = silent
        return values

    alike = recordings([5.0] * 8, [1000.0] * 8).change(silenced)
    assert isinstance(AutomaticScaling().fit(alike), Robust)
    different = recordings([5.0, 25.0] * 4, [1000.0] * 8).change(silenced)
    assert isinstance(AutomaticScaling().fit(different), PerRecording)


def test_a_channel_that_is_constant_everywhere_does_not_decide():
    flat = recordings([1.0] * 8, [0.0] * 8).change(lambda info, v: np.full_like(v, float(info.id)))
    assert isinstance(AutomaticScaling().fit(flat), Robust)


def test_scaled_recordings_have_the_same_features_at_any_gain():
    features = Features(stride=4, scaling=PerRecording())
    recording = next(iter(recordings([1.0], [0.0])))
    louder = Recording.of(100 + 7 * np.asarray(recording.values, np.float64), id="x", period=1.0)
    expected = bin_features(recording, features).values
    np.testing.assert_allclose(bin_features(louder, features).values, expected, atol=1e-4)


def test_a_channel_without_samples_stays_as_it_is():
    values = np.full((20, 2), np.nan)
    values[:, 0] = np.arange(20)
    shift, scale = PerRecording().affine(Recording.of(values, id="a", period=1.0))
    assert shift.tolist() == [9.5, 0.0]
    assert scale.tolist() == [9.5, 1.0]


def test_automatic_scaling_must_be_fitted():
    recording = next(iter(recordings([1.0], [0.0])))
    with pytest.raises(ConfigError, match="call fit first"):
        bin_features(recording, Features(stride=1, scaling="automatic"))


def heavy(sigma, offset=0.0, zeros=0.0, seed=0):
    rng = np.random.default_rng(seed)
    values = np.exp(sigma * rng.normal(size=(3000, 1))) + offset
    values[rng.random(3000) < zeros] = 0
    return Recordings.of([Recording.of(values, id="a", period=1.0)])


@pytest.mark.parametrize(
    ("recordings", "taken"),
    [
        (heavy(2.0), True),
        (heavy(2.0, zeros=0.6), True),  # the median is 0
        (heavy(2.0, zeros=0.9), False),  # both quartiles are 0: there is no scale to compare with
        (heavy(0.3), False),
        (heavy(2.0, offset=-1.0), False),  # negative samples
    ],
)
def test_the_logarithm_is_taken_of_heavy_tails_only(recordings, taken):
    fitted = AutomaticScaling().fit(recordings)
    assert (fitted.unit is not None) is taken
    assert ("logarithm of x" in fitted.describe(["x"])) is taken
    if taken:
        features = bin_features(next(iter(recordings)), Features(stride=1, scaling=fitted)).values
        assert np.abs(features).max() < 12
        assert Features(stride=1, scaling=fitted).fit(recordings).scaling == fitted


def test_a_logarithm_does_not_change_with_the_unit_of_the_data():
    (recording,) = heavy(2.0)
    other = Recording.of(1000 * np.asarray(recording.values, np.float64), id="a", period=1.0)
    both = [
        bin_features(
            scaled, Features(stride=1, scaling=AutomaticScaling().fit(Recordings.of([scaled])))
        ).values
        for scaled in (recording, other)
    ]
    np.testing.assert_allclose(*both, rtol=1e-3, atol=1e-4)


def test_each_recording_may_be_scaled_by_its_own_logarithms():
    parts = [
        Recording.of(4.0**i * np.asarray(recording.values, np.float64), id=str(i), period=1.0)
        for i in range(6)
        for recording in heavy(2.0, seed=i)
    ]
    fitted = AutomaticScaling().fit(Recordings.of(parts))
    assert isinstance(fitted, PerRecording)
    assert fitted.unit is not None
    for part in parts:
        shift, scale = fitted.affine(part)
        logs = np.log1p(np.asarray(part.values, np.float64) / fitted.unit)
        low, middle, high = np.percentile(logs, [25, 50, 75])
        assert (shift[0], scale[0]) == pytest.approx((middle, high - low), rel=1e-2)
