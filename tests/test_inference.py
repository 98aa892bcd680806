"""Inference: whole, in tiles, with carried state; and what each may depend on."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from bdl import inference
from bdl.binning import Binned
from bdl.encoders import Recurrent, Transformer, UNet
from bdl.errors import ConfigError
from bdl.inference import density, logits


def binned(bins: int, seed: int = 0) -> Binned:
    values = np.random.default_rng(seed).normal(size=(bins, 3)).astype(np.float32)
    return Binned(values, None, None, np.zeros(bins, dtype=np.bool_))


def built(encoder) -> nn.Module:
    torch.manual_seed(0)
    return encoder.build(3, 2, False).eval()


def whole(module: nn.Module, data: Binned) -> np.ndarray:
    with torch.no_grad():
        return module(torch.from_numpy(data.values)[None], None, None, None)[0].numpy()


@pytest.mark.parametrize(
    "encoder",
    [
        Recurrent(width=8, bidirectional=False),
        Recurrent(width=8, bidirectional=False, cell="lstm"),
        Recurrent(width=8, bidirectional=False, front=7),
        Transformer(width=8, layers=2, heads=2, causal=True),
        Transformer(width=8, layers=2, heads=2, causal=True, local_convolution=True, kernel=5),
    ],
)
def test_causal_encoders_carry_their_state(encoder, monkeypatch):
    module, data = built(encoder), binned(500)
    monkeypatch.setattr(inference, "CARRIED", 64)
    ours = logits(module, data, outputs=2)
    np.testing.assert_allclose(ours, whole(module, data), atol=2e-5)
    # The tile given makes no difference at all.
    assert np.array_equal(ours, logits(module, data, outputs=2, tile=16))
    # And what comes later does not either: a prefix gives the prefix.
    shorter = Binned(data.values[:333], None, None, data.missing[:333])
    np.testing.assert_allclose(logits(module, shorter, outputs=2), ours[:333], atol=1e-6)


@pytest.mark.parametrize("encoder", [Recurrent(width=8), UNet(channels=(4, 8, 8))])
def test_short_recordings_are_seen_whole(encoder):
    module = built(encoder)
    for bins in (1, 2, 3, 77):
        data = binned(bins)
        assert np.array_equal(logits(module, data, outputs=2), whole(module, data))


def test_tiles_agree_with_the_whole_where_context_suffices():
    module = built(UNet(channels=(4, 8, 8)))  # sees 40-odd bins to either side
    data = binned(1000)
    expected = whole(module, data)
    for tile in (256, 400):  # an eighth of it or more is context; multiples of 4 keep the pooling
        tiled = logits(module, data, outputs=2, tile=tile)
        assert np.abs(tiled - expected).max() < 1e-4


def test_recurrent_tiles_agree_with_the_whole_up_to_forgotten_context():
    module, data = built(Recurrent(width=8)), binned(2000)
    expected = whole(module, data)
    for tile in (500, 800):
        tiled = logits(module, data, outputs=2, tile=tile)
        assert np.abs(tiled - expected).max() < 1e-3


def test_fixed_encoders_tile_and_pad():
    module = built(UNet(channels=(4, 4, 4), attention=True, heads=1, bins=32))
    for bins in (1, 31, 32, 33, 200):
        ours = logits(module, binned(bins), outputs=2)
        assert ours.shape == (bins, 2)
        assert np.isfinite(ours).all()
    data = binned(32)
    assert np.array_equal(logits(module, data, outputs=2), whole(module, data))


def test_no_bins_and_modes():
    module = built(Recurrent(width=8)).train()
    assert logits(module, binned(0), outputs=2).shape == (0, 2)
    logits(module, binned(5), outputs=2)
    assert module.training
    with pytest.raises(ConfigError, match="at least 2 bins"):
        logits(module, binned(5), outputs=2, tile=1)
    with pytest.raises(ConfigError, match=r"\(1, 5, 3\).*got \(1, 5, 2\)"):
        logits(module, binned(5), outputs=3)


def test_memory_is_bounded_by_the_tile():
    seen = []

    class Counts(nn.Module):
        def forward(self, values, hour, weekday, mask):
            seen.append(values.shape[1])
            return values[..., :2]

    logits(Counts(), binned(10_000), outputs=2, tile=512)
    assert max(seen) == 512


def test_tilings_average_densities_over_shifted_borders():
    module, data = built(UNet(channels=(4, 8, 8))), binned(200)
    options = {"outputs": 2, "tile": 40}
    shifted = [
        np.exp(logits(module, data, shift=shift, **options).astype(np.float64))
        for shift in (0, 6, 13)
    ]
    averaged = density(module, data, link=torch.exp, tilings=3, **options)
    np.testing.assert_allclose(averaged, np.mean(shifted, axis=0), rtol=1e-5)
    assert not np.allclose(shifted[0], shifted[1], rtol=1e-5)
    once = density(module, data, link=torch.exp, **options)
    assert np.array_equal(once, density(module, data, link=torch.exp, tilings=1, **options))
    with pytest.raises(ConfigError, match="tilings"):
        density(module, data, link=torch.exp, tilings=0, **options)


def test_one_tile_or_carried_state_have_one_tiling():
    for encoder, bins in ((UNet(channels=(4, 8, 8)), 40), (Recurrent(bidirectional=False), 200)):
        module, data = built(encoder), binned(bins)
        densities = [
            density(module, data, outputs=2, link=torch.exp, tile=40, tilings=n) for n in (1, 4)
        ]
        assert np.array_equal(*densities)
