"""Agreement of annotators: event F1 over tolerance, differences in time, and where they differ.

The events of two tables are paired one to one within a recording and type, as many as possible with
a distance strictly less than the tolerance. So the F1 of two tables does not depend on their order.
Recordings that only one of the tables names are left out: it is not known whether the other
annotator saw them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bdl.arrays import Floats, Longs
from bdl.compiled import compiled
from bdl.errors import ConfigError, InputError
from bdl.evaluation.matching import check_tolerances
from bdl.evaluation.tally import Tally
from bdl.events import Events
from bdl.frames import Tabular
from bdl.review.queue import Item, ReviewQueue
from bdl.table_plots import Drawing

Rows = Longs


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

    def f1(self, first: str, second: str, event: str = "all") -> dict[float, float]:
        """F1 of two tables by tolerance."""
        return {
            row["tolerance"]: row["F1"]
            for row in self.rows
            if {row["first"], row["second"]} == {first, second} and row["event"] == event
        }

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
    >>> agreement({"A": first, "B": second}, [1.0, 5.0]).f1("A", "B")
    {1.0: 0.4, 5.0: 0.8}
    """
    if len(tables) < 2:
        raise ConfigError(f"agreement needs two or more tables, got {len(tables)}")
    rows = []
    for name, other in combinations(tables, 2):
        first, second, types = _common(tables[name], tables[other], f"{name} and {other}")
        for tolerance in check_tolerances(tolerances):
            parts = {event: _compare(first, second, event, tolerance) for event in types}
            for event in ["all", *types]:
                chosen = [*parts.values()] if event == "all" else [parts[event]]
                firsts, seconds, differences = zip(*chosen, strict=True)
                difference = np.concatenate(differences)
                tally = Tally(len(difference), sum(seconds), sum(firsts))
                absolute = np.abs(difference)
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
                        "bias": _statistic(difference, np.mean),
                        "median": _statistic(absolute, np.median),
                        "p95": _statistic(absolute, lambda values: np.quantile(values, 0.95)),
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
    first, second, types = _common(first, second, "the two annotators")
    items = []
    for recording in sorted({*first.recordings} & {*second.recordings}):
        for event in types:
            labels, others = (table.times(recording, event) for table in (first, second))
            near = pairs(labels, others, tolerance)
            labels, others = np.delete(labels, near[0]), np.delete(others, near[1])
            left, right = pairs(labels, others, reach)
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


def pairs(first: Floats, second: Floats, tolerance: float) -> tuple[Rows, Rows]:
    """As many pairs of two increasing sequences as possible, strictly nearer than the tolerance.

    Examples
    --------
    >>> [rows.tolist() for rows in pairs(np.array([1.0, 2.0]), np.array([1.9, 2.9]), 1.0)]
    [[0, 1], [0, 1]]
    """
    most = min(len(first), len(second))
    left, right = np.empty(most, np.int64), np.empty(most, np.int64)
    count = _pairs(np.asarray(first), np.asarray(second), float(tolerance), left, right)
    return left[:count], right[:count]


@compiled(small_in_python=True)
def _pairs(first: Floats, second: Floats, tolerance: float, left: Rows, right: Rows) -> int:
    """Pair the earliest of both sides if they are near, otherwise leave the earlier one out.

    An exchange argument shows that no pairing has more pairs.
    """
    i = j = count = 0
    while i < len(first) and j < len(second):
        difference = second[j] - first[i]
        if abs(difference) < tolerance:
            left[count], right[count] = i, j
            count, i, j = count + 1, i + 1, j + 1
        elif difference > 0:
            i += 1
        else:
            j += 1
    return count


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
        left, right = pairs(first_times, second_times, tolerance)
        differences.append(second_times[right] - first_times[left])
        sizes += (len(first_times), len(second_times))
    return int(sizes[0]), int(sizes[1]), np.concatenate(differences)


def _statistic(values: Floats, function: Any) -> float:
    return float(function(values)) if len(values) else float("nan")
