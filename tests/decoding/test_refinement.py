"""Sub-bin refinement finds where a bump lies within its bin."""

from __future__ import annotations

import numpy as np
import pytest

from bdl.decoding import ExpectedAP, Peaks
from bdl.decoding.refinement import refine
from bdl.density import Density


def bump(centre: float, sigma: float = 12.0, stride: int = 10, samples: int = 200) -> Density:
    edges = np.arange(0, samples + 1, stride) - 0.5
    middle = (edges[:-1] + edges[1:]) / 2
    values = 0.3 * np.exp(-0.5 * ((middle - centre) / sigma) ** 2)
    return Density("a", values[:, None].astype(np.float32), ("beat",), 1.0, stride, samples)


def test_the_parabola_is_exact_for_a_gaussian() -> None:
    for centre in np.random.default_rng(1).uniform(60, 140, 300):
        detections = Peaks(clock="bins", refine="parabola").decode(bump(centre))
        assert detections.time.tolist() == pytest.approx([centre], abs=1e-3)


def test_refinement_brings_the_expected_ap_decoder_nearer() -> None:
    rng = np.random.default_rng(2)
    errors: dict[str, list[float]] = {"none": [], "parabola": [], "centroid": []}
    for centre in rng.uniform(60, 140, 200):
        for how, into in errors.items():
            decoder = ExpectedAP(tolerances=(10.0, 20.0), refine=how, spacing=200.0)
            into.append(abs(decoder.decode(bump(centre)).time[0] - centre))
    assert np.mean(errors["parabola"]) < 0.05 * np.mean(errors["none"])
    assert np.mean(errors["centroid"]) < 0.8 * np.mean(errors["none"])


def test_a_refined_time_stays_within_half_a_bin_of_its_centre() -> None:
    rng = np.random.default_rng(3)
    for _ in range(500):
        bins = int(rng.integers(1, 12))
        values = np.where(rng.random((bins, 1)) < 0.3, 0, rng.random((bins, 1)) ** 5)
        samples = bins * 4 - int(rng.integers(0, 4))
        density = Density("a", values.astype(np.float32), ("beat",), 1.0, 4, samples)
        moved = refine(density, 0, np.arange(bins), "parabola")
        assert (np.abs(moved - density.times) <= 2.0).all()
        near = refine(density, 0, np.arange(bins), "centroid")
        assert (np.abs(near - density.times) <= 4.0).all()
        for how in (moved, near):
            assert how[0] == density.times[0]
            assert how[-1] == density.times[-1]


def test_a_lone_bin_is_left_at_its_centre() -> None:
    values = np.zeros((5, 1), np.float32)
    values[2] = 0.7
    density = Density("a", values, ("beat",), 1.0, 4, 20)
    for how in ("none", "parabola", "centroid"):
        assert refine(density, 0, np.array([2]), how).tolist() == [9.5]
