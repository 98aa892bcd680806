"""Counts and their adapter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bdl.density import Density
from bdl.errors import ConfigError, InputError
from bdl.evaluation.adapter import adapt
from bdl.evaluation.counts import count_events
from bdl.evaluation.regions import Regions
from bdl.events import Events


def density(name: str, totals: list[float], *, samples: int = 1000, stride: int = 7) -> Density:
    """A density with random shape that sums to the given totals."""
    rng = np.random.default_rng(len(name))
    values = rng.random((-(-samples // stride), len(totals)))
    values *= np.array(totals) / values.sum(axis=0)
    types = ("off", "on")[: len(totals)]
    return Density(name, values.astype(np.float32), types, 1.0, stride=stride, samples=samples)


def test_sums_are_held_against_visible_events() -> None:
    truth = Events.of(
        ["a", "a", "a", "b", "c"],
        ["on", "on", "off", "off", "on"],
        [5.0, 999.4, 999.6, -0.6, 1.0],
    )
    counts = count_events([density("a", [2.0, 1.0]), density("b", [0.5, 0.0])], truth)
    assert counts.observed.tolist() == [[0.0, 2.0], [0.0, 0.0]]
    np.testing.assert_allclose(counts.predicted, [[2.0, 1.0], [0.5, 0.0]], atol=1e-5)
    assert counts.mae == pytest.approx((2 + 1 + 0.5 + 0) / 4, abs=1e-5)
    assert counts.relative_mae == pytest.approx((2 + 0.5 + 0.5 + 0) / 4, abs=1e-5)
    assert counts.ratio == pytest.approx(3.5 / 2, abs=1e-5)


def test_only_what_is_in_annotated_spans_counts() -> None:
    densities, truth, groups = simulated(2.0)
    regions = Regions.of({name: [(0.0, 300.0), (600.0, 800.0)] for name in groups})
    inside = (truth.time < 300) | ((truth.time >= 600) & (truth.time < 800))
    part = Events.of(truth.recording[inside], "off", truth.time[inside])
    zeroed = [
        replace(
            density,
            values=np.where(
                ((density.times < 300) | ((density.times >= 600) & (density.times < 800)))[:, None],
                density.values,
                np.float32(0),
            ),
        )
        for density in densities
    ]
    counts, naive = count_events(densities, truth, regions=regions), count_events(zeroed, part)
    assert counts.observed.tolist() == naive.observed.tolist()
    np.testing.assert_allclose(counts.predicted, naive.predicted)
    factors = adapt(densities, truth, groups=groups, regions=regions).factors
    np.testing.assert_allclose(factors, adapt(zeroed, part, groups=groups).factors, rtol=1e-4)


def simulated(factor: float, groups: int = 8) -> tuple[list[Density], Events, dict[str, str]]:
    rng = np.random.default_rng(1)
    densities, names, times = [], [], []
    for i in range(5 * groups):
        expected = float(rng.uniform(5, 40))
        densities.append(density(f"r{i:03}", [expected * factor]))
        number = int(rng.poisson(expected))
        names += [f"r{i:03}"] * number
        times += rng.uniform(0, 999, number).tolist()
    truth = Events.of(names, "off", times)
    return densities, truth, {d.recording: f"g{i % groups}" for i, d in enumerate(densities)}


@pytest.mark.parametrize("factor", [0.25, 1.0, 3.0])
def test_the_adapter_corrects_a_common_factor(factor: float) -> None:
    densities, truth, groups = simulated(factor)
    result = adapt(densities, truth, groups=groups)
    assert result.before.ratio == pytest.approx(factor, rel=0.1)
    assert result.after.ratio == pytest.approx(1.0, abs=0.03)
    assert result.factors.mean() == pytest.approx(1 / factor, rel=0.15)
    if factor != 1.0:
        assert result.after.mae < result.before.mae


def test_a_group_is_adapted_by_models_that_have_not_seen_it() -> None:
    densities, truth, groups = simulated(1.0, groups=4)
    before = adapt(densities, truth, groups=groups)
    mine = [i for i, d in enumerate(densities) if groups[d.recording] == "g0"]
    extra = Events.of(densities[mine[0]].recording, "off", np.linspace(0, 990, 500))
    after = adapt(densities, Events.concat([truth, extra]), groups=groups)
    np.testing.assert_array_equal(after.factors[mine], before.factors[mine])
    assert not np.array_equal(after.factors, before.factors)


def test_scores_are_rescaled_by_the_factor_of_their_recording() -> None:
    densities, truth, groups = simulated(2.0)
    rng = np.random.default_rng(2)
    detections = Events.of(truth.recording, "off", truth.time, rng.random(len(truth)))
    result = adapt(densities, truth, groups=groups)
    assert result.before.ratio > 1.8
    assert result.after.ratio == pytest.approx(1.0, abs=0.03)
    scaled = result.rescale(detections)
    assert scaled.score is not None
    assert detections.score is not None
    i = result.before.recordings.index(str(detections.recording[0]))
    assert scaled.score[0] == pytest.approx(detections.score[0] * result.factors[i, 0])


def test_bad_input_is_told() -> None:
    densities, truth, _ = simulated(1.0)
    state = Density(
        "s", np.zeros((5, 1), np.float32), ("x",), 1.0, stride=1, samples=5, kind="state"
    )
    with pytest.raises(InputError, match="holds states"):
        count_events([state], truth)
    with pytest.raises(InputError, match="no densities"):
        count_events([], truth)
    with pytest.raises(InputError, match="same recording"):
        count_events(densities[:1] * 2, truth)
    with pytest.raises(InputError, match="has types"):
        count_events([densities[0], density("z", [1.0, 1.0])], truth)
    with pytest.raises(ConfigError, match="two groups"):
        adapt(densities[:1], truth)
    with pytest.raises(InputError, match="have no group"):
        adapt(densities, truth, groups={})
    with pytest.raises(InputError, match="no density"):
        adapt(densities, truth).rescale(Events.of("zz", "off", [1.0], [1.0]))
