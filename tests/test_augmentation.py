"""Augmentation: how often and how much windows change, and that time turns with its labels."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl import Detector
from bdl.binning import Binned
from bdl.errors import ConfigError
from bdl.features import Features
from bdl.intervals import IntervalType
from bdl.kernels import Gaussian, Hard, RightGaussian
from bdl.labels import Labels
from bdl.objectives import BDL, Segmentation
from bdl.targets import Crop
from bdl.training import Training
from bdl.training.augmentation import Augmentation, stretches
from bdl.training.batches import Batches, TrainingRecording
from learning import bouts, quick

TWO = Features(statistics=("mean", "std"))
BOUT = IntervalType(name="bout", onset="on", offset="off")


@settings(max_examples=20, deadline=None)
@given(st.floats(0.02, 0.5), st.floats(1, 30), st.integers(0, 1 << 32))
def test_blanks_have_the_wanted_share_and_length(share, mean, seed):
    rng = np.random.default_rng(seed)
    marked = stretches(400_000, share, mean, rng)
    runs = np.flatnonzero(np.diff(np.concatenate([[0], marked, [0]])))
    lengths = runs[1::2] - runs[::2]
    error = 8 / np.sqrt(len(lengths))  # eight standard errors of a geometric mean
    assert marked.mean() == pytest.approx(share, rel=2 * error)
    assert lengths.mean() == pytest.approx(mean, rel=error)


def test_both_ends_of_a_window_are_blanked_as_often_as_its_middle():
    rng = np.random.default_rng(0)
    shares = np.mean([stretches(9, 0.3, 4.0, rng) for _ in range(20_000)], axis=0)
    np.testing.assert_allclose(shares, 0.3, atol=0.02)


def test_blanks_of_channels_and_of_all():
    values = np.ones((100_000, 6), np.float32)
    Augmentation(blanks=0.2).change(values, TWO, np.random.default_rng(0))
    blank = values.reshape(-1, 3, 2) == 0
    assert (blank[:, :, 0] == blank[:, :, 1]).all()
    np.testing.assert_allclose(blank[:, :, 0].mean(axis=0), 0.2, atol=0.02)
    assert blank[:, :, 0].all(axis=1).mean() == pytest.approx(0.1, abs=0.03)


def test_blanked_channels_count_as_missing():
    values = np.ones((10_000, 5), np.float32)
    values[:, -1] = 0
    features = TWO.replace(missing=True)
    Augmentation(blanks=0.3).change(values, features, np.random.default_rng(0))
    expected = (features.per_channel(values)[:, :, 0] == 0).mean(axis=1)
    np.testing.assert_array_equal(values[:, -1], expected)
    assert {*np.unique(expected)} == {0, 0.5, 1}


def test_gain_is_one_factor_per_window_and_channel():
    rng = np.random.default_rng(0)
    logs = []
    for _ in range(300):
        values = np.tile(np.array([[1, 2, 3, 4]], np.float32), (5, 1))
        Augmentation(gain=0.3).change(values, TWO, rng)
        factors = (values / [1, 2, 3, 4]).reshape(-1, 2, 2)
        np.testing.assert_allclose(factors, np.broadcast_to(factors[0, :, :1], factors.shape))
        logs.append(np.log(factors[0, :, 0]))
    assert np.std(logs) == pytest.approx(0.3, rel=0.1)
    assert abs(np.corrcoef(np.transpose(logs))[0, 1]) < 0.2


cases = st.tuples(
    st.integers(1, 12),  # bins
    st.integers(1, 5),  # stride
    st.integers(0, 20),  # first bin
    st.lists(st.integers(0, 150), max_size=6),
    st.lists(st.integers(0, 150), max_size=6),
)


@settings(max_examples=300, deadline=None)
@given(cases, st.sampled_from([Hard(), Gaussian(sigma=2.0)]))
def test_a_reversed_window_has_the_reversed_target(case, kernel):
    """Both kernels are symmetric, so that the target of turned labels is the turned target."""
    bins, stride, start, onsets, offsets = case
    events = (np.sort(np.array(onsets, int)), np.sort(np.array(offsets, int)))
    first, samples = start * stride, bins * stride
    labels = Labels("a", 1.0, first + samples, events, partners=(1, 0))
    objective = BDL(kernel=kernel)
    plain = objective.exact_target(labels, Crop(first, samples, stride))
    turned = objective.exact_target(labels.reversed(first, samples), Crop(0, samples, stride))
    np.testing.assert_allclose(turned, plain[::-1, ::-1], atol=1e-12)


@settings(max_examples=300, deadline=None)
@given(cases)
def test_a_reversed_window_has_the_reversed_state(case):
    bins, stride, start, onsets, lengths = case
    pairs = np.array([(a, a + b + 1) for a, b in zip(onsets, lengths, strict=False)], int)
    first, samples = start * stride, bins * stride
    labels = Labels("a", 1.0, 400, (), (pairs.reshape(-1, 2),))
    plain = Segmentation().exact_target(labels, Crop(first, samples, stride))
    turned = Segmentation().exact_target(labels.reversed(first, samples), Crop(0, samples, stride))
    np.testing.assert_array_equal(turned, plain[::-1])


def test_mass_after_an_event_stays_after_it_when_time_turns():
    labels = Labels("a", 1.0, 20, (np.array([15]), np.array([], int)), partners=(1, 0))
    objective = BDL(kernel=RightGaussian(sigma=2.0))
    turned = objective.exact_target(labels.reversed(0, 20), Crop(0, 20, 1))[:, 1]
    assert turned[:4].sum() == 0
    assert turned[4:].sum() == pytest.approx(1)


def recordings(partners):
    rng = np.random.default_rng(0)
    made = []
    for i in range(4):
        values = rng.normal(size=(40 + i, 2)).astype(np.float32)
        hours = np.arange(len(values)) % 24
        events = (np.array([9]), np.array([30]))
        labels = Labels(str(i), 1.0, 2 * len(values) - 1, events, partners=partners)
        binned = Binned(values, hours, hours % 7, np.zeros(len(values), bool))
        made.append(TrainingRecording(binned, labels))
    return made


def batch(data, **changes):
    batches = Batches(
        data,
        BDL().resolve([recording.labels for recording in data], stride=2),
        training=Training(batch=4, seed=1, augmentation=changes),
        features=Features(stride=2, statistics=("mean",), scaling="none"),
        window=60,
        fixed=False,
        steps=20,
        epoch=lambda: 0,
    )
    return next(iter(batches))


def test_windows_turn_with_their_calendar_and_targets():
    data = recordings((1, 0))
    plain, turned = batch(data), batch(data, reversal=1.0)
    for row, mask in enumerate(plain.mask):
        size = int(mask.sum())
        assert torch.equal(turned.values[row, :size], plain.values[row, :size].flip(0))
        assert torch.equal(turned.hour[row, :size], plain.hour[row, :size].flip(0))
        assert torch.equal(turned.target[row, :size], plain.target[row, :size].flip(0).flip(1))
        assert not turned.values[row, size:].any()


def test_events_without_a_partner_must_be_called_symmetric():
    for partners in ((), (1, None)):
        with pytest.raises(ConfigError, match="reversal needs the partner"):
            batch(recordings(partners), reversal=0.5)
    plain, turned = batch(recordings(())), batch(recordings(()), reversal=1.0, symmetric=True)
    assert torch.equal(turned.target[0, :40], plain.target[0, :40].flip(0))


def test_the_same_windows_change_alike_at_every_call_and_others_differently():
    changes = {"gain": 0.2, "blanks": 0.2, "blank_bins": 5.0, "reversal": 0.5}
    data = recordings((1, 0))
    assert torch.equal(batch(data, **changes).values, batch(data, **changes).values)
    assert not torch.equal(batch(data, **changes).values, batch(data).values)
    ratio = batch(data, gain=0.2).values / batch(data).values
    assert len(torch.unique(ratio[:, 0].round(decimals=4))) == 8


@pytest.mark.parametrize("wrong", [{"symmetric": True}, {"blank_bins": 3.0}, {"blanks": 0.7}])
def test_settings_without_effect_are_errors(wrong):
    with pytest.raises(ConfigError):
        Augmentation(**wrong)


def test_a_detector_is_trained_on_changed_windows():
    recordings, events = bouts()
    weights = []
    for changes in ({}, {"gain": 0.2, "blanks": 0.1, "reversal": 0.5}):
        detector = Detector(**quick(epochs=1, augmentation=changes))
        detector.fit(recordings, events, intervals=(BOUT,))
        weights.append(
            torch.cat([parameter.flatten() for parameter in detector.module_.parameters()])
        )
    assert not torch.equal(*weights)
