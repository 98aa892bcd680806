"""Scalings: of all recordings together, of each by itself, and the choice between them."""

import numpy as np
import pytest

from bdl.errors import ConfigError
from bdl.features import Features, bin_features
from bdl.recording import Recording, Recordings
from bdl.scaling import Automatic, PerRecording, Robust


def recordings(gains, levels):
    rng = np.random.default_rng(0)
    return Recordings.of(
        [
            Recording.of(level + gain * rng.normal(size=(200, 2)), id=str(i), period=1.0)
            for i, (gain, level) in enumerate(zip(gains, levels, strict=True))
        ]
    )


def test_recordings_of_one_level_are_scaled_together():
    assert isinstance(Automatic().fit(recordings([1.0] * 8, [0.0] * 8)), Robust)


@pytest.mark.parametrize(
    ("gains", "levels"),
    [([1.0, 4.0] * 4, [0.0] * 8), ([1.0] * 8, [0.0, 9.0] * 4)],
)
def test_recordings_of_different_levels_are_scaled_one_by_one(gains, levels):
    assert isinstance(Automatic().fit(recordings(gains, levels)), PerRecording)


def test_scaled_recordings_have_the_same_features_at_any_gain():
    features = Features(stride=4, scaling=PerRecording())
    one = next(iter(recordings([1.0], [0.0])))
    louder = Recording.of(100 + 7 * np.asarray(one.values, np.float64), id="x", period=1.0)
    expected = bin_features(one, features).values
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
        bin_features(recording, Features(scaling="automatic"))
