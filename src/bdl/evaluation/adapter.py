r"""A regularised Poisson adapter of counts, fitted by group-wise cross-fitting.

Per event type the observed count of a recording is modelled as Poisson with mean

.. math:: \hat n\, \exp(a + b \log \hat n + c \log T),

where :math:`\hat n` is the summed density and T the recording's duration; b and c are penalised, so
that strong regularisation leaves one common factor :math:`e^a`. Each recording is adapted by
a model that has seen none of its group. The density, and with it the score of a detection, is
multiplied by the recording's factor: peaks stay where they are, ranks across recordings change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bdl.arrays import Floats, Longs
from bdl.density import Density
from bdl.errors import ConfigError, InputError, require
from bdl.evaluation.bootstrapping import group_codes
from bdl.evaluation.counts import Counts, count_events
from bdl.evaluation.regions import Regions
from bdl.events import Events
from bdl.frames import Tabular
from bdl.table_plots import Drawing

_LEAST = 1e-6  # a density that sums to less than this says nothing about a count
_FOLDS = 5
_PENALTY = 1.0  # of b and c


@dataclass(frozen=True, eq=False)
class Adaptation(Tabular):
    """Counts before and after, and the factor of each recording and type."""

    drawing = Drawing("observed", "adapted", by=("event",), mode="markers")

    # before, after: Counts of the summed density and of the adapted one.
    before: Counts
    after: Counts
    factors: Floats = field(repr=False)  # (recordings, types) adapted over summed

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per recording and event type."""
        adapted, factors = self.after.predicted.ravel(), self.factors.ravel()
        return {**self.before.columns(), "adapted": adapted, "factor": factors}

    def rescale(self, detections: Events) -> Events:
        """Detections with their scores multiplied by their recording's and type's factor."""
        if detections.score is None:
            raise InputError("detections need a score to be rescaled")
        rows = _places(detections.recordings, self.before.recordings)
        columns = _places(detections.types, self.before.types)
        factor = self.factors[rows[detections.recording_code], columns[detections.type_code]]
        return replace(detections, score=detections.score * factor)


def adapt(
    densities: Iterable[Density],
    truth: Events,
    *,
    groups: Mapping[str, str] | None = None,
    regions: Regions | None = None,
) -> Adaptation:
    """Fit and apply the adapter, each group by models that have not seen it.

    With ``regions``, events are counted inside them only.

    Examples
    --------
    Every density sums to twice the number of events; a factor of one half corrects that:

    >>> flat = np.full((100, 1), 0.2, np.float32)
    >>> names = [f"r{i}" for i in range(6)]
    >>> densities = [Density(n, flat, ("x",), 1.0, stride=1, samples=100) for n in names]
    >>> truth = Events.of(np.repeat(names, 10), "x", np.tile(np.arange(10.0), 6))
    >>> result = adapt(densities, truth)
    >>> round(result.before.ratio, 3), round(result.after.ratio, 3)
    (2.0, 1.0)
    """
    listed = [*densities]
    counts = count_events(listed, truth, regions=regions)
    group = group_codes(counts.recordings, groups)
    folds = min(_FOLDS, int(group.max()) + 1)
    if folds < 2:
        raise ConfigError("cross-fitting needs at least two groups of recordings, got one")
    seconds = {density.recording: density.samples * density.period for density in listed}
    seconds |= {} if regions is None else regions.durations
    duration = np.array([seconds[name] for name in counts.recordings])
    factors = np.ones_like(counts.predicted)
    for j in range(len(counts.types)):
        predicted = np.maximum(counts.predicted[:, j], _LEAST)
        features = np.log(np.stack([predicted, duration], axis=1))
        factors[:, j] = _cross_fit(features, predicted, counts.observed[:, j], group, folds)
    after = replace(counts, predicted=counts.predicted * factors)
    return Adaptation(counts, after, factors)


def _places(names: tuple[str, ...], among: tuple[str, ...]) -> Longs:
    place = {name: i for i, name in enumerate(among)}
    for name in names:
        if name not in place:
            raise InputError(f"{name!r} is in the detections but has no density")
    return np.array([place[name] for name in names], dtype=np.int64)


def _cross_fit(
    features: Floats, predicted: Floats, observed: Floats, group: Longs, folds: int
) -> Floats:
    regressor = require("sklearn.linear_model", "train").PoissonRegressor  # slow to import
    split = require("sklearn.model_selection", "train").GroupKFold(folds).split

    factor = np.ones(len(predicted))
    for train, test in split(features, groups=group):
        centre, spread = features[train].mean(axis=0), features[train].std(axis=0)
        spread = np.where(spread > 1e-9, spread, 1.0)
        scaled = (features - centre) / spread
        if not observed[train].any():
            factor[test] = 0.0  # nothing was ever observed: the best count is 0
            continue
        # A known factor in a Poisson mean: model the rate per unit, weighted by the units.
        model = regressor(alpha=_PENALTY, max_iter=1000)
        rate = observed[train] / predicted[train]
        model.fit(scaled[train], rate, sample_weight=predicted[train])
        factor[test] = model.predict(scaled[test])
    return factor
