"""Decoders of a study: the grid that is searched, the untuned default, and named fixed ones.

Stages by name:

- ``tuned``: the best setting of the grid on the recordings that may be chosen on (or the row's
  fixed decoder);
- ``default``: before any tuning: bare peaks at the data set's separation, or for a segmentation
  the better of the two transition scorers;
- ``expected-ap``: where asked for, the best setting of the expected-AP decoder;
- a name of ``rescored``: tuned and scored at other tolerances;
- a name of ``decoders``: fixed, as the protocol gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bdl.datasets import Dataset
from bdl.decoding import PeakGrid, TransitionGrid, calibrate, grid_from_dict, preset
from bdl.decoding.grids import PRESETS, AnyGrid
from bdl.density import Density, Kind
from bdl.errors import InputError
from bdl.events import Events
from bdl.study.protocol import Protocol, Row

Plain = dict[str, Any]


def grid_for(choice: str | Plain, dataset: Dataset, kind: Kind, period: float) -> AnyGrid:
    """The grid a protocol searches on densities of a kind.

    ``paper`` is the published grid of the data set, or for other data one made in its manner:
    three cutoffs, none or one bin of smoothing, the data set's separation, optional alternation.
    """
    if isinstance(choice, dict):
        return grid_from_dict(choice, "grid")
    if choice == "expected-ap" and kind == "events":
        return preset("expected-ap", "events")
    if dataset.name in PRESETS and kind in PRESETS[dataset.name]:
        return preset(dataset.name, kind)
    settings = dataset.settings
    smooths = (0.0, settings.stride * period)
    alternations = (False, True) if dataset.intervals else (False,)
    if kind == "events":
        return PeakGrid(smooths=smooths, separation=settings.separation, alternations=alternations)
    return TransitionGrid(
        windows=(max(settings.tolerances),),
        smooths=smooths,
        separation=settings.separation,
        alternations=alternations,
    )


def default_grid(dataset: Dataset, kind: Kind, period: float) -> AnyGrid:
    """The untuned decoder as a grid: one setting, or the two scorers of a segmentation."""
    if kind == "events":
        return PeakGrid(cutoffs=1, separation=dataset.settings.separation)
    window = grid_for("paper", dataset, "state", period)
    assert isinstance(window, TransitionGrid)
    return TransitionGrid(
        cutoffs=1, windows=window.windows[:1], separation=dataset.settings.separation
    )


def best(
    densities: Sequence[Density],
    truth: Events,
    grid: AnyGrid,
    dataset: Dataset,
    tolerances: Sequence[float] | None = None,
) -> tuple[Plain, float]:
    """The best decoder of a grid as plain data, and its mAP."""
    try:
        found = calibrate(
            densities,
            truth,
            grid,
            tolerances=tuple(tolerances or dataset.settings.tolerances),
            intervals=dataset.intervals,
            event_free=dataset.settings.event_free,
        )
    except InputError as error:
        raise InputError(f"{len(densities)} recordings to choose a decoder on: {error}") from error
    return found.decoder.model_dump(mode="json"), float(found.score)


def choose(
    densities: Sequence[Density],
    truth: Events,
    dataset: Dataset,
    wanted: Plain,
    tuned: Plain | None = None,
) -> dict[str, Plain]:
    """The decoder of every stage, chosen on densities whose labels may be used.

    Parameters
    ----------
    wanted : ``grid``, ``alternatives``, ``rescored``, ``decoders`` and ``fixed`` of the row, as
        `wanted_stages` gives them.
    tuned : the tuned decoder where it is known already.
    """
    kind, period = densities[0].kind, densities[0].period
    grid = grid_for(wanted["grid"], dataset, kind, period)
    stages = {"tuned": wanted["fixed"] or tuned or best(densities, truth, grid, dataset)[0]}
    default = default_grid(dataset, kind, period)
    stages["default"] = best(densities, truth, default, dataset)[0]
    if kind == "events":
        for name in wanted["alternatives"]:
            stages[name] = best(densities, truth, preset(name, kind), dataset)[0]
        stages.update(wanted["decoders"])
    for name, tolerances in wanted["rescored"].items():
        stages[name] = best(densities, truth, grid, dataset, tolerances)[0]
    return stages


def wanted_stages(protocol: Protocol, row: Row) -> Plain:
    """What a row's decoders depend on, as plain data.

    >>> from bdl.study.catalogue import load
    >>> study = load("chbmit-strict")
    >>> wanted_stages(study, study.rows[0])["rescored"]
    {'strict': [1.0, 2.0, 3.0]}
    """
    return {
        "grid": protocol.grid,
        "alternatives": list(protocol.alternatives),
        "rescored": {name: list(values) for name, values in protocol.rescored.items()},
        "decoders": protocol.decoders,
        "fixed": row.decoder,
    }
