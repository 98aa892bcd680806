"""Delay: how long after an event its detection was issued.

The delay of a hit is the time at which its detection was issued minus the time of the event, in
seconds; a detection may be placed well and come late. Where a delay is allowed up to a limit, a hit
with a longer delay is not a hit: in average precision it is a false detection, and its event is
missed. It is not a false alarm, though, as there was an event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bdl.errors import ConfigError
from bdl.evaluation.bootstrapping import bootstrap
from bdl.evaluation.estimate import Estimate
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics import Metric
from bdl.evaluation.metrics.average_precision import AveragePrecision
from bdl.evaluation.metrics.delay import Delay
from bdl.evaluation.metrics.metric import number
from bdl.evaluation.metrics.screening import ScreeningSensitivity
from bdl.frames import Tabular
from bdl.table_plots import Drawing
from bdl.text_tables import text_table

RATES = (1.0, 5.0)


@dataclass(frozen=True, eq=False)
class DelayTable(Tabular):
    """Scores that know about delay, one row per type and tolerance; made by `delay_table`.

    Parameters
    ----------
    rows
        Event type and tolerance of each row.
    values
        Estimates by name: ``median`` and ``p95`` of the delay of hits, ``AP`` at any and at each
        allowed delay, and sensitivity at false alarms per day and an allowed delay.
    """

    drawing = Drawing("tolerance", "AP", by=("event",))

    rows: tuple[tuple[str, float], ...]
    values: dict[str, tuple[Estimate, ...]]

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name."""
        return {
            "event": [event for event, _ in self.rows],
            "tolerance": [tolerance for _, tolerance in self.rows],
            **{
                name: [estimate.value for estimate in column]
                for name, column in self.values.items()
            },
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data by type, tolerance and name, ready for JSON."""
        table: dict[str, Any] = {}
        for i, (event, tolerance) in enumerate(self.rows):
            cells = {name: column[i].to_dict() for name, column in self.values.items()}
            table.setdefault(event, {})[number(tolerance)] = cells
        return table

    def text(self, width: int | None = None) -> str:
        """The estimates as a table."""
        cells = {
            "type": [event for event, _ in self.rows],
            "tolerance": [number(tolerance) for _, tolerance in self.rows],
            **{
                name: [estimate.text(1 if name in ("median", "p95") else 3) for estimate in column]
                for name, column in self.values.items()
            },
        }
        head = "delay of hits in seconds, and scores of detections that are issued in time"
        return "\n".join([head, *text_table(cells, width=width)])

    __repr__ = text


def delay_table(
    matches: Matches,
    delays: Sequence[float],
    *,
    false_alarms_per_day: Sequence[float] = RATES,
    replicates: int = 0,
    seed: int = 0,
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> DelayTable:
    """Delay of the hits, and AP and sensitivity at allowed delays, by type and tolerance.

    Parameters
    ----------
    matches
        Matches of detections that have a time of issue.
    delays
        Allowed delays in seconds.
    false_alarms_per_day
        Rates at which sensitivity is read; needs durations, and is left out without.
    replicates, seed, clusters, level
        As in `bdl.evaluation.bootstrap`; 0 replicates give no confidence intervals.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> detections = Events.of("a", "beat", [10.0, 20.0], score=[0.9, 0.8], issued=[14.0, 50.0])
    >>> matches = match(Events.of("a", "beat", [10.0, 20.0]), detections, [5.0])
    >>> delay_table(matches, [5.0]).to_polars().row(0)
    ('beat', 5.0, 17.0, 28.7, 1.0, 0.5)
    """
    if not delays or not all(np.isfinite(delay) and delay >= 0 for delay in delays):
        raise ConfigError(f"delays of 0 seconds or more expected, got {[*delays]}")
    rows = tuple((event, t) for event in matches.types for t in matches.tolerances)

    def metrics(event: str, tolerance: float) -> dict[str, Metric]:
        common: dict[str, Any] = {"type": event, "tolerance": tolerance}
        by_name: dict[str, Metric] = {
            "median": Delay(statistic="median", **common),
            "p95": Delay(statistic="p95", **common),
            "AP": AveragePrecision(**common),
        }
        for delay in delays:
            by_name[f"AP <= {number(delay)} s"] = AveragePrecision(delay=delay, **common)
        for rate in false_alarms_per_day if matches.durations is not None else ():
            for delay in delays:
                name = f"sensitivity <= {number(delay)} s, {number(rate)}/day"
                by_name[name] = ScreeningSensitivity(
                    false_alarms_per_day=rate, delay=delay, **common
                )
        return by_name

    def estimate(metric: Metric) -> Estimate:
        if not replicates:
            return Estimate(metric.value(matches))
        drawn = bootstrap(
            {"detections": matches},
            metric=metric,
            replicates=replicates,
            seed=seed,
            clusters=clusters,
            level=level,
        )
        return drawn.systems["detections"]

    values: dict[str, list[Estimate]] = {}
    for event, tolerance in rows:
        for name, metric in metrics(event, tolerance).items():
            values.setdefault(name, []).append(estimate(metric))
    kept = {name: tuple(column) for name, column in values.items()}
    return DelayTable(rows, kept)
