"""The family of grids: the settings of a decoder that a calibration tries.

A grid gives a list of decoders that differ in where they find candidates (smoothing, separation,
scorer), each tried at several thresholds, without and with alternation. Settings are tried from
simple to less simple: without alternation first, then in the order in which the grid lists its
values, then from the lowest threshold up.

A grid has the ``kind`` of its decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from bdl.config import Seconds, Value
from bdl.decoding.candidates import ByType
from bdl.decoding.decoder import Decoder
from bdl.density import Density, DensityKind
from bdl.errors import ConfigError
from bdl.intervals import IntervalType
from bdl.registry import Variant

NonNegatives = Annotated[tuple[NonNegativeFloat, ...], Field(min_length=1)]
Booleans = Annotated[tuple[bool, ...], Field(min_length=1)]


class GridSettings(Value):
    """Numbers of a data set from which the grid of the paper's studies is made."""

    thresholds: PositiveInt = 3  # how many thresholds
    smooths: NonNegatives = (0.0,)  # standard deviations of Gaussian smoothing in seconds
    separation: Seconds = 0.0  # least time between two detections of one type in seconds
    # Seconds on each side of a change of state over which its probability is averaged.
    window: PositiveFloat
    alternations: Booleans = (False,)  # whether to alternate, as in `Grid`


class Grid(Variant):
    """Settings of one decoder.

    A grid names its decoder and, in ``axes``, the fields that list values of one of its
    parameters. Fields of the same name as a parameter are the same for all settings.

    Parameters
    ----------
    thresholds
        Least scores: a list, or how many to space evenly from 0 to the largest value of the
        calibration densities (to 1 where values cannot exceed 1).
    alternations
        Whether to alternate: (False,), (True,) or (False, True).
    """

    package: ClassVar[str] = "bdl.decoding"
    decoder: ClassVar[type[Decoder]]
    """The decoder whose settings these are."""
    axes: ClassVar[dict[str, str]] = {}
    """Fields that list values, each with the parameter of the decoder; the slowest first."""

    thresholds: PositiveInt | NonNegatives = 3
    alternations: Booleans = (False,)

    @classmethod
    def default(
        cls, tolerances: Sequence[float], separation: float, alternations: tuple[bool, ...]
    ) -> Self | None:
        """The grid that is searched where none is named, or None: not a default grid.

        Arguments are those of `default_grid`.
        """
        return None

    @classmethod
    def added(
        cls, tolerances: Sequence[float], separation: float, alternations: tuple[bool, ...]
    ) -> Self | None:
        """The grid that every fit tries beside the default one, or None for no such grid.

        Arguments are those of `default_grid`.
        """
        return None

    @classmethod
    def paper(cls, settings: GridSettings) -> Self | None:
        """The grid of the paper's studies, or None where they do not use the decoder."""
        return None

    def forward(self) -> Grid:
        """The grid most like this one whose decoders have a bounded look-ahead."""
        return self

    def decoders(self, tolerances: Sequence[float]) -> list[Any]:
        """The decoders of the grid at the lowest threshold, without alternation."""
        shared: dict[str, Any] = {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name in self.decoder.model_fields and name != "kind"
        }
        lowest = 0.0 if isinstance(self.thresholds, int) else min(self.thresholds)
        return [
            self.decoder(**shared, threshold=lowest, **setting).complete(tolerances)
            for setting in self.varied()
        ]

    def varied(self) -> Iterator[dict[str, Any]]:
        """The parameters of each decoder that differ within the grid, in order."""
        for values in product(*(getattr(self, name) for name in self.axes)):
            yield dict(zip(self.axes.values(), values, strict=True))

    def threshold_values(self, highest: float) -> list[float]:
        """The thresholds, increasing; ``highest`` is the largest value that a score can have."""
        if isinstance(self.thresholds, int):
            spaced: list[float] = np.linspace(0.0, highest, self.thresholds).tolist()
            return spaced
        return sorted(self.thresholds)

    def candidates(
        self, density: Density, decoders: Sequence[Any], intervals: tuple[IntervalType, ...]
    ) -> list[ByType]:
        """Candidates of each decoder; a grid may override this to share work between them."""
        return [decoder.candidates(density, intervals) for decoder in decoders]

    def simplest(self) -> Self:
        """The grid of the first value of each list: an untuned decoder."""
        single = {name: getattr(self, name)[:1] for name in self.axes}
        lowest = 1 if isinstance(self.thresholds, int) else (min(self.thresholds),)
        return self.replace(thresholds=lowest, alternations=(False,), **single)


def default_grid(
    kind: DensityKind,
    *,
    tolerances: Sequence[float],
    separation: float = 0.0,
    alternations: tuple[bool, ...] = (False,),
) -> Grid:
    """The grid that is searched on densities of a kind where none is named.

    Parameters
    ----------
    kind, tolerances, separation
        As in `bdl.decoding.default_decoder`.
    alternations
        Whether to alternate, as in `Grid`.

    Examples
    --------
    >>> default_grid("state", tolerances=(1.0, 2.0, 5.0)).windows
    (2.0, 5.0)
    """
    return _first(
        kind,
        lambda variant: variant.default(tuple(tolerances), separation, alternations),
        "no grid is the default",
    )


def paper_grid(kind: DensityKind, settings: GridSettings) -> Grid:
    """The grid of the paper's studies for densities of a kind.

    Examples
    --------
    >>> numbers = GridSettings(smooths=(0.0, 50.0), separation=1800.0, window=600.0)
    >>> paper_grid("events", numbers).kind, paper_grid("state", numbers).windows
    ('peaks', (600.0,))
    """
    return _first(kind, lambda variant: variant.paper(settings), "the paper has no grid")


def paper_grids(**settings: Any) -> dict[DensityKind, Grid]:
    """The grids of the paper's studies by kind of density, from fields of `GridSettings`."""
    kinds: tuple[DensityKind, ...] = ("events", "state")
    return {kind: paper_grid(kind, GridSettings(**settings)) for kind in kinds}


def _first(kind: DensityKind, make: Callable[[type[Grid]], Grid | None], problem: str) -> Grid:
    for variant in Grid.kinds().values():
        if variant.decoder.reads == kind and (grid := make(variant)) is not None:
            return grid
    raise ConfigError(f"{problem} for densities of kind {kind!r}; name one")
