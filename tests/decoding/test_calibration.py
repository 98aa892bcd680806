"""The grid search with shared work gives what trying every setting by itself gives."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from bdl.datasets import Sleep
from bdl.decoding import (
    Decoder,
    ExpectedAP,
    ExpectedAPGrid,
    Grid,
    PeakGrid,
    Peaks,
    TransitionGrid,
    Transitions,
    calibrate,
    decode,
    default_decoder,
    default_grid,
)
from bdl.density import Density
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.intervals import IntervalType
from naive import decoding as naive

SLEEP = IntervalType("sleep", "onset", "wakeup")
TOLERANCES = (6.0, 20.0)

GRIDS = [
    PeakGrid(smooths=(0.0, 8.0), separation=30.0, alternations=(False, True)),
    PeakGrid(
        smooths=(0.0, 5.0), clock="bins", refine="parabola", smoothing="trailing", thresholds=5
    ),
    TransitionGrid(
        windows=(20.0,), smooths=(0.0, 8.0), separation=30.0, alternations=(True, False)
    ),
    TransitionGrid(windows=(10.0, 30.0), levels=(0.3, 0.5), thresholds=2, clock="bins"),
    ExpectedAPGrid(thresholds=(0.02, 0.2), separations=(0.0, 15.0), alternations=(False, True)),
    ExpectedAPGrid(
        thresholds=(0.05,), units=(1.0, 2.0), spacings=(0.0, 60.0), refines=("none", "centroid")
    ),
]


def world(rng: np.random.Generator, state: bool) -> tuple[list[Density], Events]:
    """Some recordings with noisy peaks (or steps) near the truths, one without truths."""
    densities, parts = [], []
    for id in "abcd":
        bins, stride = int(rng.integers(30, 60)), 5
        samples = bins * stride - int(rng.integers(0, stride))
        count = 0 if id == "d" else int(rng.integers(1, 4))
        times = np.sort(rng.choice(samples, 2 * count, replace=False)).astype(float)
        centres = (np.arange(bins) + 0.5) * stride
        if state:
            inside = sum((centres >= a) & (centres < b) for a, b in times.reshape(-1, 2))
            values = np.clip(inside + rng.normal(0, 0.2, bins), 0, 1)[:, None]
        else:
            bump = np.exp(-0.5 * ((centres[:, None, None] - times.reshape(-1, 2)) / 6) ** 2)
            values = bump.sum(axis=1) * 0.3 + rng.random((bins, 2)) ** 8 / 3
        names = ("sleep",) if state else ("onset", "wakeup")
        densities.append(
            Density(
                id,
                values.astype(np.float32),
                names,
                1.0,
                stride,
                samples,
                kind="state" if state else "events",
                bounded=state,
            )
        )
        if count:
            parts.append(Events.of(id, ["onset", "wakeup"] * count, times))
    return densities, Events.concat(parts)


@pytest.mark.parametrize("event_free", ["ignore", "count"])
@pytest.mark.parametrize("metric", ["mAP", "mF1", "AP@20"])
@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: grid.kind)
def test_shared_work_gives_the_scores_of_every_setting(
    grid: Any, metric: str, event_free: Any
) -> None:
    rng = np.random.default_rng(1)
    for _ in range(4):
        densities, truth = world(rng, grid.kind == "transitions")
        calibration = calibrate(
            iter(densities),
            truth,
            grid,
            tolerances=TOLERANCES,
            metric=metric,
            intervals=(SLEEP,),
            event_free=event_free,
        )
        scores = naive.grid_search(
            densities,
            truth,
            [trial.decoder for trial in calibration.tried],
            tolerances=TOLERANCES,
            metric=metric,
            intervals=(SLEEP,),
            event_free=event_free,
        )
        assert [trial.score for trial in calibration.tried] == scores
        first = scores.index(max(scores))
        assert (calibration.decoder, calibration.score) == (
            calibration.tried[first].decoder,
            max(scores),
        )


def test_all_settings_are_tried_from_simple_to_less_simple() -> None:
    densities, truth = world(np.random.default_rng(2), False)
    grid = Sleep.grids()["events"].replace(separation=30.0)
    calibration = calibrate(densities, truth, grid, tolerances=TOLERANCES, intervals=(SLEEP,))
    top = max(float(density.values.max()) for density in densities)
    tried = [trial.decoder for trial in calibration.tried]
    assert [(d.alternate, d.smooth, d.threshold) for d in tried] == [
        (turns, width, threshold)
        for turns in (False, True)
        for width in (0.0, 50.0)
        for threshold in (0.0, top / 2, top)
    ]


def test_bounded_outputs_are_cut_from_zero_to_one() -> None:
    densities, truth = world(np.random.default_rng(3), False)
    bounded = [
        Density(d.recording, np.minimum(d.values, 0.5), d.types, 1.0, 5, d.samples, bounded=True)
        for d in densities
    ]
    calibration = calibrate(bounded, truth, PeakGrid(thresholds=3), tolerances=TOLERANCES)
    assert [trial.decoder.threshold for trial in calibration.tried] == [0.0, 0.5, 1.0]


def test_ties_fall_to_the_simpler_setting() -> None:
    values = np.zeros((30, 2), np.float32)
    values[10, 0] = values[20, 1] = 1.0
    density = Density("a", values, ("onset", "wakeup"), 1.0, 1, 30)
    truth = Events.of("a", ["onset", "wakeup"], [10.0, 20.0])
    grid = PeakGrid(smooths=(0.0, 2.0), alternations=(False, True))
    calibration = calibrate([density], truth, grid, tolerances=[3.0], intervals=(SLEEP,))
    assert calibration.score == 1.0
    assert sum(trial.score == 1.0 for trial in calibration.tried) > 3
    assert calibration.decoder == Peaks()


def test_the_chosen_decoder_goes_to_json_and_back() -> None:
    densities, truth = world(np.random.default_rng(4), False)
    for grid in (GRIDS[0], GRIDS[4]):
        calibration = calibrate(densities, truth, grid, tolerances=TOLERANCES, intervals=(SLEEP,))
        data = json.loads(json.dumps(calibration.to_dict()))
        again = Decoder.parse(data["decoder"])
        assert again == calibration.decoder
        assert decode(densities, again, (SLEEP,)) == decode(
            densities, calibration.decoder, (SLEEP,)
        )
        assert Grid.parse(json.loads(json.dumps(grid.model_dump(mode="json")))) == grid


def test_what_cannot_be_calibrated_is_told() -> None:
    densities, truth = world(np.random.default_rng(5), False)
    with pytest.raises(InputError, match="at least one"):
        calibrate([], truth, PeakGrid(), tolerances=TOLERANCES)
    with pytest.raises(InputError, match="no events"):
        calibrate(densities[3:], truth, PeakGrid(), tolerances=TOLERANCES)
    with pytest.raises(ConfigError, match="AP@7"):
        calibrate(densities, truth, PeakGrid(), tolerances=TOLERANCES, metric="AP@7")
    with pytest.raises(ConfigError, match="interval types"):
        calibrate(densities, truth, PeakGrid(alternations=(True,)), tolerances=TOLERANCES)
    with pytest.raises(ConfigError, match="expected-ap or forward-mass or peaks"):
        calibrate(densities, truth, GRIDS[2], tolerances=TOLERANCES, intervals=(SLEEP,))
    with pytest.raises(InputError, match="two"):
        calibrate([*densities, densities[0]], truth, PeakGrid(), tolerances=TOLERANCES)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "peeks"},
        {"kind": "peaks", "thresholds": 0},
        {"kind": "peaks", "smooths": []},
        {"kind": "transitions", "windows": []},
        {"kind": "expected-ap", "thresholds": [0.0]},
        {"kind": "peaks", "cut": 3},
        "sleep",
    ],
)
def test_impossible_grids_are_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError):
        Grid.parse(wrong)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"kind": "peaks", "keep": "earlier"}, "keep has no effect without separation"),
        (
            {"kind": "transitions", "scorer": "difference", "level": 0.3},
            "level has no effect with the scorer 'difference'",
        ),
    ],
)
def test_parameters_without_effect_are_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        Decoder.parse(settings)
    kind = type(Decoder.parse(settings["kind"]))
    every = {**dict(kind()), **settings}  # as the package writes them
    assert kind(**every).model_dump() == every


def test_levels_need_the_scorer_that_has_them() -> None:
    with pytest.raises(ConfigError, match="levels has no effect with the scorers difference"):
        TransitionGrid(scorers=("difference",), levels=(0.3, 0.5))
    settings = TransitionGrid(windows=(9.0,), levels=(0.3, 0.4), smooths=(0.0, 2.0)).decoders(())
    assert [(each.smooth, each.scorer, each.level) for each in settings] == [
        (smooth, *rest)
        for smooth in (0.0, 2.0)
        for rest in (("threshold", 0.3), ("threshold", 0.4), ("difference", 0.5))
    ]


def test_unknown_decoders_and_parameters_are_refused() -> None:
    with pytest.raises(ConfigError, match="kind"):
        Decoder.parse({"threshold": 1.0})
    with pytest.raises(ConfigError, match="separate"):
        Decoder.parse({"kind": "peaks", "separate": 1.0})


def test_the_default_follows_the_kind_of_density() -> None:
    assert default_decoder("events", tolerances=(5.0,)) == ExpectedAP(tolerances=(5.0,))
    assert default_decoder("events", separation=3.0) == Peaks(separation=3.0)
    assert default_decoder("state", tolerances=(5.0,), separation=3.0) == Transitions(
        scorer="difference", window=5.0, separation=3.0
    )
    with pytest.raises(ConfigError, match="tolerances"):
        default_decoder("state")


def test_the_default_grid_follows_the_kind_of_density() -> None:
    both = (False, True)
    events = default_grid("events", tolerances=(1.0, 2.0, 5.0), alternations=both)
    assert events == ExpectedAPGrid(alternations=both)
    state = default_grid("state", tolerances=(1.0, 2.0, 5.0), separation=3.0)
    assert state == TransitionGrid(windows=(2.0, 5.0), separation=3.0)


def test_the_simplest_grid_is_an_untuned_decoder() -> None:
    sleep = Sleep.grids()
    assert sleep["events"].simplest() == PeakGrid(thresholds=1, separation=1800.0)
    assert sleep["state"].simplest() == TransitionGrid(
        thresholds=1, windows=(600.0,), separation=1800.0
    )
    assert ExpectedAPGrid().simplest() == ExpectedAPGrid(thresholds=(0.001,), units=(1.0,))


def test_open_parameters_are_completed_with_the_tolerances() -> None:
    assert ExpectedAP().complete((3.0, 5.0)) == ExpectedAP(tolerances=(3.0, 5.0))
    assert ExpectedAP(tolerances=(1.0,)).complete((3.0,)).tolerances == (1.0,)
    assert Transitions().complete((3.0, 5.0)).window == 5.0
    assert [d.window for d in TransitionGrid().decoders((3.0, 5.0))] == [5.0, 5.0]
    densities, _ = world(np.random.default_rng(6), False)
    with pytest.raises(ConfigError, match="tolerances"):
        ExpectedAP().decode(densities[0])
    states, _ = world(np.random.default_rng(6), True)
    with pytest.raises(ConfigError, match="window"):
        Transitions().decode(states[0], (SLEEP,))
