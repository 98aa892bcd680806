"""Decoder stages: the decoders with which the densities of a row are decoded.

Stages by name:

- ``tuned``: the best setting of the grid on the recordings that may be used for selection, or the
  decoder that the row fixes;
- ``default``: before any tuning: the simplest setting of the paper's grid; for a segmentation the
  better of the two transition scorers;
- the kind of a grid in ``alternatives``: the best setting of that grid;
- a name of ``rescored``: tuned and scored at other tolerances;
- a name of ``decoders``: fixed by the protocol.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from bdl.config import Value
from bdl.datasets import Benchmark, Dataset
from bdl.decoding import Decoder, Grid, GridSettings, calibrate, decode, paper_grid
from bdl.density import Density
from bdl.errors import InputError
from bdl.evaluation import Regions
from bdl.events import Events
from bdl.study.stages import DEFAULT, TUNED


class DecoderStages(Value):
    """The decoders of a row by stage; see the docstring of the module."""

    # None for the published grid, which also serves densities that the grid's decoder cannot read.
    grid: Grid | None = None
    fixed: Decoder | None = None  # of the stage "tuned"; None searches the grid
    alternatives: tuple[Grid, ...] = ()
    rescored: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    decoders: dict[str, Decoder] = Field(default_factory=dict)
    # Whether grids are searched in their forward form: the row has a lag.
    forward: bool = False

    def tune(
        self, densities: Sequence[Density], truth: Events, benchmark: Benchmark
    ) -> tuple[Decoder, float]:
        """The decoder of the stage ``tuned``, and its mAP, on recordings for selection."""
        if self.fixed is None:
            return best_decoder(densities, truth, self._grid(benchmark, densities[0]), benchmark)
        matches = benchmark.match(
            truth,
            decode(densities, self.fixed, benchmark.intervals),
            [density.recording for density in densities],
        )
        return self.fixed, matches.mean_average_precision()

    def choose(
        self,
        densities: Sequence[Density],
        truth: Events,
        benchmark: Benchmark,
        tuned: Decoder | None = None,
    ) -> dict[str, Decoder]:
        """The decoder of every stage; the tuned one may be known already."""
        first = densities[0]

        def best(grid: Grid, tolerances: Sequence[float] | None = None) -> Decoder:
            return best_decoder(densities, truth, grid, benchmark, tolerances)[0]

        return {
            TUNED: self.fixed or tuned or best(self._grid(benchmark, first)),
            DEFAULT: best(self._searched(untuned_grid(benchmark, first))),
            **{
                grid.kind: best(self._searched(grid))
                for grid in self.alternatives
                if grid.decoder.reads == first.kind
            },
            **{
                name: decoder
                for name, decoder in self.decoders.items()
                if decoder.reads == first.kind
            },
            **{
                name: best(self._grid(benchmark, first), tolerances)
                for name, tolerances in self.rescored.items()
            },
        }

    def _grid(self, benchmark: Benchmark, density: Density) -> Grid:
        if self.grid is not None and self.grid.decoder.reads == density.kind:
            return self._searched(self.grid)
        return self._searched(published_grid(benchmark, density))

    def _searched(self, grid: Grid) -> Grid:
        return grid.forward() if self.forward else grid


def published_grid(benchmark: Benchmark, density: Density) -> Grid:
    """The published grid of a data set for densities of a kind, or a similar one.

    The latter has three thresholds, no smoothing or smoothing by one bin, the separation of the
    data set, the largest tolerance as window, and alternation if there are intervals.
    """
    variant = Dataset.kinds().get(benchmark.name)
    published = variant.grids() if variant else {}
    if density.kind in published:
        return published[density.kind]
    settings = benchmark.settings
    return paper_grid(
        density.kind,
        GridSettings(
            smooths=(0.0, settings.stride * density.period),
            separation=settings.separation,
            window=max(settings.tolerances),
            alternations=(False, True) if benchmark.intervals else (False,),
        ),
    )


def untuned_grid(benchmark: Benchmark, density: Density) -> Grid:
    """The untuned decoder as a grid: one setting, or the two scorers of a segmentation."""
    return published_grid(benchmark, density).simplest()


def best_decoder(
    densities: Sequence[Density],
    truth: Events,
    grid: Grid,
    benchmark: Benchmark,
    tolerances: Sequence[float] | None = None,
) -> tuple[Decoder, float]:
    """The best decoder of a grid and its mAP, at the tolerances of the data set or others."""
    try:
        calibration = calibrate(
            densities,
            truth,
            grid,
            tolerances=tuple(tolerances or benchmark.settings.tolerances),
            intervals=benchmark.intervals,
            event_free=benchmark.settings.event_free,
            regions=Regions.annotated(benchmark.recordings.infos),
        )
    except InputError as error:
        raise InputError(f"{len(densities)} recordings to choose a decoder on: {error}") from error
    return calibration.decoder, float(calibration.score)
