"""Agreement of annotators: event F1 over tolerance, differences in time, and where they differ.

The events of two tables are paired one to one within a recording and type, as many as possible with
a distance less than the tolerance, by the rule of rounding that all matching follows. So the F1 of
two tables does not depend on their order.
Recordings that only one of the tables names are left out: it is not known whether the other
annotator saw them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bdl.arrays import Floats
from bdl.errors import ConfigError, InputError
from bdl.evaluation.largest_pairs import largest_pairs
from bdl.evaluation.matching import check_tolerances
from bdl.evaluation.tally import Tally
from bdl.evaluation.timing import STATISTICS, error_statistic
from bdl.events import Events
from bdl.frames import Tabular
from bdl.review.queue import Item, ReviewQueue
from bdl.table_plots import Drawing


@dataclass(frozen=True, eq=False)
class Agreement(Tabular):
    """Agreement of each pair of tables, by event type and tolerance; made by `agreement`.

    Parameters
    ----------
    rows
        One mapping per pair of tables, type (and ``all``) and tolerance: numbers of events and of
        pairs, F1, and bias, median and 95 % quantile of the difference in time (second minus first;
        absolute for the quantiles) in seconds.
    """

    drawing = Drawing("tolerance", "F1", by=("first", "second", "event"))

    rows: tuple[dict[str, Any], ...]

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name."""
        return {name: [row[name] for row in self.rows] for name in self.rows[0]}

    def __repr__(self) -> str:
        lines = [
            f"{row['first']} and {row['second']}, {row['event']}, {row['tolerance']:g} s: "
            f"F1 {row['F1']:.3f}, {row['pairs']} pairs, median difference {row['median']:.3g} s"
            for row in self.rows
        ]
        return "\n".join(lines)


def agreement(tables: Mapping[str, Events], tolerances: Sequence[float]) -> Agreement:
    """Agreement of two or more annotators.

    Parameters
    ----------
    tables
        Events by name of the annotator.
    tolerances
        Seconds.

    Examples
    --------
    >>> first = Events.of("a", "beat", [10.0, 20.0, 30.0])
    >>> second = Events.of("a", "beat", [10.5, 22.0])
    >>> rows = agreement({"A": first, "B": second}, [1.0, 5.0]).rows
    >>> [(row["tolerance"], row["F1"]) for row in rows if row["event"] == "all"]
    [(1.0, 0.4), (5.0, 0.8)]
    """
    if len(tables) < 2:
        raise ConfigError(f"agreement needs two or more tables, got {len(tables)}")
    rows: list[dict[str, Any]] = []
    for name, other in combinations(tables, 2):
        first, second, types = _common(tables[name], tables[other], f"{name} and {other}")
        for tolerance in check_tolerances(tolerances):
            parts = {event: _compare(first, second, event, tolerance) for event in types}
            for event in ["all", *types]:
                chosen = [*parts.values()] if event == "all" else [parts[event]]
                firsts, seconds, differences = zip(*chosen, strict=True)
                difference = np.concatenate(differences)
                tally = Tally(len(difference), sum(seconds), sum(firsts))
                rows.append(
                    {
                        "first": name,
                        "second": other,
                        "event": event,
                        "tolerance": tolerance,
                        "events of first": int(tally.truths),
                        "events of second": int(tally.detections),
                        "pairs": int(tally.hits),
                        "F1": tally.f1,
                        **{name: error_statistic(difference, name) for name in STATISTICS},
                    }
                )
    return Agreement(tuple(rows))


def disagreements(
    first: Events,
    second: Events,
    *,
    tolerance: float,
    reach: float | None = None,
    source: str = "other annotator",
) -> ReviewQueue:
    """Where two annotators differ, as a queue; the first table is the one to correct.

    Parameters
    ----------
    first, second
        Events of two annotators.
    tolerance
        Seconds within which they agree.
    reach
        Seconds within which they may refer to the same event; five tolerances by default.
    source
        Name of the second annotator.

    Examples
    --------
    >>> first, second = Events.of("a", "x", [10.0, 20.0]), Events.of("a", "x", [12.0, 50.0])
    >>> queue = disagreements(first, second, tolerance=1.0)
    >>> [(item.kind, item.label, item.model) for item in queue]
    [('displaced', 10.0, 12.0), ('unsupported', 20.0, None), ('unlabelled', None, 50.0)]
    """
    [tolerance] = check_tolerances([tolerance])
    reach = 5 * tolerance if reach is None else reach
    if not (np.isfinite(reach) and reach >= 0):
        raise ConfigError(f"reach (--reach): seconds of 0 or more expected, got {reach:g}")
    first, second, types = _common(first, second, "the two annotators")
    items = []
    for recording in sorted({*first.recordings} & {*second.recordings}):
        for event in types:
            labels, others = (table.times(recording, event) for table in (first, second))
            near = largest_pairs(labels, others, tolerance, inclusive=False)
            labels, others = np.delete(labels, near[0]), np.delete(others, near[1])
            left, right = largest_pairs(labels, others, reach, inclusive=False)
            moved = zip(labels[left].tolist(), others[right].tolist(), strict=True)
            differing: list[tuple[str, float | None, float | None]] = [
                *(("displaced", *ends) for ends in moved),
                *(("unsupported", time, None) for time in np.delete(labels, left).tolist()),
                *(("unlabelled", None, time) for time in np.delete(others, right).tolist()),
            ]
            items += [
                Item(kind, recording, event, label, other, 1.0, source)
                for kind, label, other in differing
            ]
    return ReviewQueue.of(items)


def _common(first: Events, second: Events, what: str) -> tuple[Events, Events, list[str]]:
    """Both tables, restricted to common recordings, and all their types."""
    shared = {*first.recordings} & {*second.recordings}
    if not shared:
        raise InputError(f"{what}: no recording is named in both tables")
    tables = [table.select(recordings=shared) for table in (first, second)]
    used = {str(event) for table in tables for event in table.event}
    return tables[0], tables[1], sorted(used)


def _compare(
    first: Events, second: Events, event: str, tolerance: float
) -> tuple[int, int, Floats]:
    """Numbers of events, and differences in time of the pairs, of one type."""
    differences, sizes = [np.zeros(0)], np.zeros(2, np.int64)
    for recording in {*first.recordings} & {*second.recordings}:
        first_times, second_times = (table.times(recording, event) for table in (first, second))
        left, right = largest_pairs(first_times, second_times, tolerance, inclusive=False)
        differences.append(second_times[right] - first_times[left])
        sizes += (len(first_times), len(second_times))
    return int(sizes[0]), int(sizes[1]), np.concatenate(differences)
