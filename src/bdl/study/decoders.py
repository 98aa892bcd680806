"""Decoders of a study: the grid that is searched, the untuned default, and named fixed ones.

Stages by name:

- ``tuned``: the best setting of the grid on the recordings that may be chosen on (or the row's
  fixed decoder);
- ``default``: before any tuning: the simplest setting of the paper's grid; for a segmentation the
  better of the two transition scorers;
- a name of ``alternatives``: the best setting of a further grid;
- a name of ``rescored``: tuned and scored at other tolerances;
- a name of ``decoders``: fixed, as the protocol gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bdl.datasets import Benchmark, Dataset
from bdl.decoding import Decoder, Grid, GridSettings, calibrate, paper_grid
from bdl.density import Density, Kind
from bdl.errors import InputError
from bdl.events import Events
from bdl.study.protocol import Protocol, Row

Plain = dict[str, Any]


def published_grid(dataset: Benchmark, kind: Kind, period: float) -> Grid:
    """The published grid of a data set for densities of a kind, or one in the paper's manner.

    That is three thresholds, smoothing by nothing or one bin, the separation of the data set, the
    largest tolerance as window, and alternation where there are intervals.
    """
    variant = Dataset.kinds().get(dataset.name)
    published = variant.grids() if variant else {}
    if kind in published:
        return published[kind]
    settings = dataset.settings
    numbers = GridSettings(
        smooths=(0.0, settings.stride * period),
        separation=settings.separation,
        window=max(settings.tolerances),
        alternations=(False, True) if dataset.intervals else (False,),
    )
    return paper_grid(kind, numbers)


def grid_for(choice: str | Plain, dataset: Benchmark, kind: Kind, period: float) -> Grid:
    """The grid a protocol searches on densities of a kind.

    ``paper`` is the published grid of the data set. Any other grid serves the densities that its
    decoder reads; the published grid serves those of the other kind.
    """
    if choice != "paper":
        grid = Grid.parse(choice, "grid")
        if grid.decoder.reads == kind:
            return grid
    return published_grid(dataset, kind, period)


def default_grid(dataset: Benchmark, kind: Kind, period: float) -> Grid:
    """The untuned decoder as a grid: one setting, or the two scorers of a segmentation."""
    return published_grid(dataset, kind, period).simplest()


def best(
    densities: Sequence[Density],
    truth: Events,
    grid: Grid,
    dataset: Benchmark,
    tolerances: Sequence[float] | None = None,
) -> tuple[Plain, float]:
    """The best decoder of a grid as plain data, and its mAP."""
    try:
        chosen = calibrate(
            densities,
            truth,
            grid,
            tolerances=tuple(tolerances or dataset.settings.tolerances),
            intervals=dataset.intervals,
            event_free=dataset.settings.event_free,
        )
    except InputError as error:
        raise InputError(f"{len(densities)} recordings to choose a decoder on: {error}") from error
    return chosen.decoder.model_dump(mode="json"), float(chosen.score)


def choose(
    densities: Sequence[Density],
    truth: Events,
    dataset: Benchmark,
    wanted: Plain,
    tuned: Plain | None = None,
) -> dict[str, Plain]:
    """The decoder of every stage, chosen on densities whose labels may be used.

    Parameters
    ----------
    densities, truth
        Densities and annotated events of the recordings to choose on.
    dataset
        The data set, for its settings and interval types.
    wanted
        ``grid``, ``alternatives``, ``rescored``, ``decoders`` and ``fixed`` of the row, as
        `wanted_stages` gives them.
    tuned
        The tuned decoder where it is known already.
    """
    kind, period = densities[0].kind, densities[0].period
    grid = grid_for(wanted["grid"], dataset, kind, period)
    stages = {"tuned": wanted["fixed"] or tuned or best(densities, truth, grid, dataset)[0]}
    default = default_grid(dataset, kind, period)
    stages["default"] = best(densities, truth, default, dataset)[0]
    for name in wanted["alternatives"]:
        alternative = Grid.parse(name, "alternatives")
        if alternative.decoder.reads == kind:
            stages[name] = best(densities, truth, alternative, dataset)[0]
    for name, decoder in wanted["decoders"].items():
        if Decoder.parse(decoder, f"decoders.{name}").reads == kind:
            stages[name] = decoder
    for name, tolerances in wanted["rescored"].items():
        stages[name] = best(densities, truth, grid, dataset, tolerances)[0]
    return stages


def wanted_stages(protocol: Protocol, row: Row) -> Plain:
    """The choices that a row's decoders depend on, as plain data.

    Examples
    --------
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
