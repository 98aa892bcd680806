"""Predicted against observed numbers of events.

The density of a bin is an expected number of events, so its sum over a recording is the expected
number of events there. Per recording and type it is compared with the number of annotated events
within the recording. Relative error divides by the observed number, or by one where
nothing was observed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bdl.arrays import Flags, Floats
from bdl.density import Density
from bdl.errors import InputError
from bdl.evaluation.regions import Regions
from bdl.events import Events
from bdl.frames import Tabular
from bdl.sampling import nearest_sample
from bdl.table_plots import Drawing


@dataclass(frozen=True, eq=False)
class Counts(Tabular):
    """Predicted and observed counts by recording and type.

    Examples
    --------
    >>> table = Counts(("a", "b"), ("x",), np.array([[3.0], [1.0]]), np.array([[2.0], [0.0]]))
    >>> table.mae, table.relative_mae, table.ratio
    (1.0, 0.75, 2.0)
    """

    drawing = Drawing("observed", "predicted", by=("event",), mode="markers")

    recordings: tuple[str, ...]
    types: tuple[str, ...]
    # predicted, observed: (recordings, types) summed density, and number of annotated events.
    predicted: Floats = field(repr=False)
    observed: Floats = field(repr=False)

    @property
    def mae(self) -> float:
        """Mean absolute error over recordings and types, in events."""
        return float(np.abs(self.predicted - self.observed).mean())

    @property
    def relative_mae(self) -> float:
        """Mean over recordings and types of the absolute error over max(observed, 1)."""
        error = np.abs(self.predicted - self.observed)
        return float((error / np.maximum(self.observed, 1)).mean())

    @property
    def ratio(self) -> float:
        """All predicted over all observed events; NaN where none was observed."""
        total = float(self.observed.sum())
        return float(self.predicted.sum()) / total if total else float("nan")

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per recording and event type."""
        return {
            "recording": np.repeat(np.array(self.recordings, dtype=object), len(self.types)),
            "event": np.tile(np.array(self.types, dtype=object), len(self.recordings)),
            "predicted": self.predicted.ravel(),
            "observed": self.observed.ravel(),
        }


def count_events(
    densities: Iterable[Density], truth: Events, *, regions: Regions | None = None
) -> Counts:
    """Summed densities against the number of annotated events, per recording and type.

    An event outside its recording (by its nearest sample) is not counted, since no bin could hold
    it. Only recordings with a density (of kind ``events``) are compared. With ``regions``, only
    events and bins (by their centre) inside them count.

    Examples
    --------
    >>> density = Density("a", np.full((4, 1), 0.5, np.float32), ("x",), 1.0, stride=1, samples=4)
    >>> count_events([density], Events.of("a", "x", [0.0, 2.0, 9.0])).observed.tolist()
    [[2.0]]
    """
    names: list[str] = []
    predicted: list[Floats] = []
    observed: list[list[float]] = []
    types: tuple[str, ...] | None = None
    for density in densities:
        if density.kind != "events":
            raise InputError(
                f"density of recording {density.recording!r} holds states; only densities of "
                "events sum to counts"
            )
        types = types or density.types
        if density.types != types:
            raise InputError(
                f"density of recording {density.recording!r} has types {density.types}, the "
                f"others {types}"
            )
        names.append(density.recording)
        values = density.values
        if regions is not None:
            values = values[_inside(regions, density, density.times)]
        predicted.append(values.sum(axis=0, dtype=np.float64))
        observed.append([float(_visible(truth, density, kind, regions)) for kind in types])
    if types is None:
        raise InputError("no densities to count in")
    if len(set(names)) != len(names):
        raise InputError("two densities are of the same recording")
    return Counts(tuple(names), types, np.array(predicted), np.array(observed))


def _visible(truth: Events, density: Density, kind: str, regions: Regions | None) -> int:
    times = truth.times(density.recording, kind)
    if regions is not None:
        times = times[_inside(regions, density, times)]
    sample = nearest_sample(times, density.period)
    return int(((sample >= 0) & (sample < density.samples)).sum())


def _inside(regions: Regions, density: Density, times: Floats) -> Flags:
    return regions.holds((density.recording,), np.zeros(len(times), np.int32), times)
