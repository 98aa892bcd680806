"""One line of a benchmark: the package and a plain implementation, measured in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True)
class Row:
    """A measured pair. ``limit`` is an estimate of what the hardware allows, in the same unit."""

    name: str
    ours: float
    plain: float
    limit: float | None = None
    unit: str = "s"
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times better ours is than the plain implementation."""
        return self.plain / self.ours


def best(
    work: Callable[[], object], repeats: int = 3, clock: Callable[[], float] = perf_counter
) -> float:
    """Shortest time of several runs in seconds: the one least disturbed by the machine.

    On a busy machine, the processor time (``process_time``) is disturbed less.
    """
    times = []
    for _ in range(repeats):
        begin = clock()
        work()
        times.append(clock() - begin)
    return min(times)


def table(rows: Iterable[Row]) -> str:
    """Rows as a Markdown table."""
    lines = [
        "| work | ours | plain | ratio | limit | share of limit | note |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        limit = "" if row.limit is None else f"{row.limit:.4g} {row.unit}"
        share = "" if row.limit is None else f"{row.limit / row.ours:.0%}"
        lines.append(
            f"| {row.name} | {row.ours:.4g} {row.unit} | {row.plain:.4g} {row.unit} "
            f"| {row.ratio:.1f} | {limit} | {share} | {row.note} |"
        )
    return "\n".join(lines)
