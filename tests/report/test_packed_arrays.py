"""Packed arrays arrive as they were; thinned curves keep every peak."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import pytest

from bdl.report.packed_arrays import FEWEST, MISSING, DrawnCurve, fit_curves, pack, quantise


def unpack(packed: dict[str, Any]) -> np.ndarray:
    raw = zlib.decompress(base64.b64decode(packed["data"]))
    return np.frombuffer(raw, {"f8": "<f8", "u4": "<u4", "u1": "u1"}[packed["kind"]])


def levels(packed: dict[str, Any]) -> np.ndarray:
    """Values as the page's script reads them."""
    raw = unpack(packed)
    values = packed["low"] + raw * (packed["high"] - packed["low"]) / (MISSING - 1)
    return np.where(raw == MISSING, np.nan, values)


@pytest.mark.parametrize("kind", ["f8", "u4", "u1"])
def test_pack_is_exact(kind: str) -> None:
    values = np.random.default_rng(0).integers(0, 200, 1000)
    given = values / 7 if kind == "f8" else values
    assert np.array_equal(unpack(pack(given, kind)), given)


@pytest.mark.parametrize("seed", range(20))
def test_quantised_values_are_within_half_a_level(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = (rng.normal(size=500) * 10.0 ** rng.integers(-6, 6)).astype(np.float32)
    values[rng.random(500) < 0.1] = np.nan
    values[3] = np.inf
    back = levels(quantise(values))
    finite = np.isfinite(values)
    assert np.array_equal(np.isnan(back), ~finite)
    half = np.ptp(values[finite].astype(float)) / (MISSING - 1) / 2
    assert np.abs(back[finite] - values[finite]).max() <= half * (1 + 1e-9)


@pytest.mark.parametrize("values", [[], [2.5, 2.5], [np.nan, np.nan]])
def test_quantise_takes_empty_constant_and_missing(values: list[float]) -> None:
    np.testing.assert_array_equal(levels(quantise(np.array(values, np.float32))), values)


@pytest.mark.parametrize("seed", range(20))
def test_thinned_curve_keeps_the_peaks_where_they_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, points = int(rng.integers(50, 5000)), int(rng.integers(4, 60))
    curve = DrawnCurve(
        "x", rng.uniform(0, 9), rng.uniform(0.1, 9), rng.normal(size=count).astype("f4")
    )
    made = curve.thinned(points)
    if count <= points:
        assert made is curve
        return
    assert len(made.values) <= points
    assert made.values.min() == curve.values.min()
    assert made.values.max() == curve.values.max()
    stretch = 2 * made.step
    for pick in (np.argmin, np.argmax):
        true = curve.first + pick(curve.values) * curve.step
        drawn = made.first + pick(made.values) * made.step
        assert abs(true - drawn) <= stretch
    assert made.first >= curve.first
    last = made.first + (len(made.values) - 1) * made.step
    assert last <= curve.first + (count - 1) * curve.step + 1e-6


def test_thinned_curve_leaves_out_missing_values_but_not_whole_gaps() -> None:
    values = np.arange(1000, dtype=np.float32)
    values[::7] = np.nan
    values[400:600] = np.nan
    made = DrawnCurve("x", 0.0, 1.0, values).thinned(100).values
    gap = np.flatnonzero(np.isnan(made))
    assert gap.tolist() == list(range(40, 60))


def test_curves_fit_the_room_and_use_it() -> None:
    rng = np.random.default_rng(0)
    curves = [DrawnCurve(str(i), 0.0, 1.0, rng.normal(size=20_000).astype("f4")) for i in range(10)]
    for room in (40_000, 100_000, 10_000_000):
        packed = fit_curves(curves, room)
        size = sum(len(curve["y"]["data"]) for curve in packed)
        assert size <= room
        points = len(unpack(packed[0]["y"]))
        assert points == 20_000 or size > 0.7 * room
    few = fit_curves(curves, 10)
    assert {len(unpack(curve["y"])) for curve in few} == {FEWEST}
    assert fit_curves([], 100) == []
