"""What a bootstrap gives: systems, their differences, and both by fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from bdl.arrays import Floats
from bdl.errors import require
from bdl.evaluation.estimate import Estimate, plain
from bdl.evaluation.matches import Matches
from bdl.evaluation.multiplicity import Difference, needed_replicates
from bdl.frames import Tabular
from bdl.text_tables import number_text, text_table

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True, eq=False)
class BootstrapResult(Tabular):
    """Result of `bdl.evaluation.bootstrap`.

    Parameters
    ----------
    metric
        Name of the metric.
    level
        Share of replicates inside the confidence intervals.
    clusters
        Number of clusters that replicates are drawn from.
    systems
        Estimate of each system.
    differences
        Of each pair, the later system minus the earlier one, or each minus the baseline.
    replicates
        (replicates, systems) the metric of every replicate.
    folds
        By fold, each system's metric on the recordings of that fold alone.
    matches
        Matches of each system, one for each training seed.
    baseline
        The system that all others were compared with; None for all pairs.
    """

    metric: str
    level: float
    clusters: int
    systems: dict[str, Estimate]
    differences: dict[str, Difference]
    replicates: Floats = field(repr=False)
    folds: dict[str, dict[str, float]] = field(default_factory=dict)
    matches: dict[str, list[Matches]] = field(default_factory=dict, repr=False)
    baseline: str | None = None

    @property
    def fold_differences(self) -> dict[str, dict[str, float]]:
        """By fold, the same differences."""
        pairs = compared_pairs([*self.systems], self.baseline)
        return {
            fold: {f"{a} - {b}": values[a] - values[b] for a, b in pairs}
            for fold, values in self.folds.items()
        }

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: systems, then differences."""
        rows = {**self.systems, **self.differences}
        estimates = [*rows.values()]
        paired = [e if isinstance(e, Difference) else Difference(nan) for e in estimates]
        return {
            "name": [*rows],
            self.metric: [estimate.value for estimate in estimates],
            "low": [estimate.low for estimate in estimates],
            "high": [estimate.high for estimate in estimates],
            "adjusted_low": [difference.adjusted.low for difference in paired],
            "adjusted_high": [difference.adjusted.high for difference in paired],
            "p": [difference.p for difference in paired],
            "adjusted_p": [difference.adjusted_p for difference in paired],
        }

    def text(self, cluster: str = "cluster", width: int | None = None) -> str:
        """Heading, systems, differences and differences per fold, as tables.

        ``cluster`` is what a replicate draws: a recording or a group.
        """
        plural = "" if self.clusters == 1 else "s"
        lines = [
            f"{self.metric} with its {self.level:.0%} confidence interval",
            f"{len(self.replicates):,} bootstrap replicates over {self.clusters:,} "
            f"{cluster}{plural}, models held fixed",
            *text_table(self._estimates("system", self.systems), width=width),
        ]
        if self.differences:
            number = len(self.differences)
            table = self._estimates("difference", self.differences)
            table["p"] = [
                number_text(difference.p, ".4f") for difference in self.differences.values()
            ]
            if number > 1:
                lines.append(f"Holm: adjusted for {number} differences")
                table["Holm CI"] = [
                    difference.adjusted.interval_text() for difference in self.differences.values()
                ]
                table["Holm p"] = [
                    number_text(difference.adjusted_p, ".4f")
                    for difference in self.differences.values()
                ]
            lines += text_table(table, width=width)
            needed = needed_replicates(number, self.level)
            if len(self.replicates) < needed:
                lines.append(
                    f"too few replicates for {number} differences at {self.level:.0%}: give at "
                    f"least {needed:,} (--bootstrap {needed})"
                )
        for fold, changes in self.fold_differences.items():
            lines += [f"fold {fold}: {name}  {change:+.4f}" for name, change in changes.items()]
        return "\n".join(lines)

    def _estimates(self, head: str, rows: dict[str, Any]) -> dict[str, list[str]]:
        return {
            head: [*rows],
            self.metric: [number_text(estimate.value, "z.4f") for estimate in rows.values()],
            f"{self.level:.0%} CI": [estimate.interval_text() for estimate in rows.values()],
        }

    def plot(self) -> Figure:
        """Systems and differences with their confidence intervals, as a plotly figure."""
        go = require("plotly.graph_objects", "report")
        subplots = require("plotly.subplots", "report")
        parts = [part for part in (self.systems, self.differences) if part]
        titles = ["systems", "differences"][: len(parts)]
        figure = subplots.make_subplots(rows=1, cols=len(parts), subplot_titles=titles)
        for place, part in enumerate(parts, start=1):
            estimates = [*part.values()]
            values = np.array([estimate.value for estimate in estimates])
            bars = {
                "type": "data",
                "symmetric": False,
                "array": np.array([estimate.high for estimate in estimates]) - values,
                "arrayminus": values - np.array([estimate.low for estimate in estimates]),
            }
            names = [*part]
            points = go.Scatter(x=values, y=names, error_x=bars, mode="markers", showlegend=False)
            figure.add_trace(points, row=1, col=place)
            figure.update_xaxes(title_text=self.metric, row=1, col=place)
            figure.update_yaxes(autorange="reversed", row=1, col=place)
        plot: Figure = figure
        return plot

    __repr__ = text

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "metric": self.metric,
            "level": self.level,
            "replicates": len(self.replicates),
            "clusters": self.clusters,
            "baseline": self.baseline,
            "systems": {name: estimate.to_dict() for name, estimate in self.systems.items()},
            "differences": {name: e.to_dict() for name, e in self.differences.items()},
            "folds": {
                fold: {name: plain(value) for name, value in values.items()}
                for fold, values in self.folds.items()
            },
        }


def compared_pairs(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Which system minus which: later minus earlier, or all others minus the baseline.

    Examples
    --------
    >>> compared_pairs(["a", "b", "c"], None), compared_pairs(["a", "b", "c"], "b")
    ([('b', 'a'), ('c', 'a'), ('c', 'b')], [('a', 'b'), ('c', 'b')])
    """
    if baseline is not None:
        return [(name, baseline) for name in names if name != baseline]
    return [(later, names[i]) for j, later in enumerate(names) for i in range(j)]
