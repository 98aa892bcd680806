"""All figures of one set of detections: `score` matches once and everything is read from that.

Printed, a score says which rule for event-free recordings was used and how many rows were left
out, since both change the figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from bdl.evaluation.errors import ErrorTable, error_table
from bdl.evaluation.matches import Matches
from bdl.evaluation.matching import Rules, match
from bdl.evaluation.metrics import AtThreshold, evaluate
from bdl.evaluation.timing import timing
from bdl.events import Events

EVENT_FREE = {
    "ignore": "recordings without truths are ignored",
    "count": "detections in recordings without truths count as false alarms",
}


@dataclass(frozen=True, eq=False)
class Score:
    """Figures of one set of detections.

    Parameters
    ----------
    matches : what everything is read from.
    durations : scored seconds of each recording, where known.
    """

    matches: Matches
    durations: Mapping[str, float] | None = None

    @property
    def mean_average_precision(self) -> float:
        """Mean of AP over tolerances, then types."""
        return self.matches.mean_average_precision()

    @property
    def mean_f1(self) -> float:
        """Mean of the best F1 over tolerances, then types."""
        return self.matches.mean_f1()

    @property
    def average_precision(self) -> dict[str, dict[str, float | None]]:
        """AP by event type and tolerance; None for a type without truths."""
        return by_name(self.matches, self.matches.average_precision())

    def errors(self, tolerance: float | None = None) -> ErrorTable:
        """What went wrong at one tolerance, by default the widest; see `error_table`."""
        return error_table(
            self.matches, max(self.matches.tolerances) if tolerance is None else tolerance
        )

    def timing(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """Errors in time of the hits at the best-F1 threshold, by type and tolerance."""
        matches = self.matches
        out: dict[str, dict[str, dict[str, float | None]]] = {}
        thresholds = matches.best_f1().threshold
        for j, name in enumerate(matches.types):
            out[name] = {}
            for k, tolerance in enumerate(matches.tolerances):
                found = timing(matches, name, tolerance, threshold=thresholds[j, k])
                figures = found._asdict().items()
                out[name][number(tolerance)] = {key: _plain(value) for key, value in figures}
        return out

    def false_alarms_per_day(self) -> dict[str, dict[str, float | None]] | None:
        """False alarms per 24 hours at the best-F1 threshold; None without durations."""
        if self.durations is None:
            return None
        matches = self.matches
        thresholds = matches.best_f1().threshold
        rates = np.full(thresholds.shape, np.nan)
        for j, name in enumerate(matches.types):
            for k, tolerance in enumerate(matches.tolerances):
                if not np.isnan(thresholds[j, k]):
                    metric = AtThreshold(
                        "false_alarms_per_day", thresholds[j, k], tolerance, name, self.durations
                    )
                    rates[j, k] = evaluate(matches, metric)
        return by_name(matches, rates)

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain data, ready for JSON."""
        matches = self.matches
        best = matches.best_f1()
        errors = self.errors()
        return {
            "mAP": _plain(self.mean_average_precision),
            "AP": self.average_precision,
            "mF1": _plain(self.mean_f1),
            "F1": by_name(matches, best.f1),
            "F1_threshold": by_name(matches, best.threshold),
            "event_free": matches.event_free,
            "recordings": len(matches.recordings),
            "truths": dict(zip(matches.types, matches.truths.sum(axis=0).tolist(), strict=True)),
            "detections": dict(
                zip(matches.types, matches.detections.sum(axis=0).tolist(), strict=True)
            ),
            "timing": self.timing(),
            "false_alarms_per_day": self.false_alarms_per_day(),
            "errors": {"tolerance": errors.tolerance, "reach": errors.reach, **errors.totals},
            "left_out": matches.left_out.told(),
        }

    def __str__(self) -> str:
        matches = self.matches
        best = matches.best_f1()
        rows = [
            f"mAP {self.mean_average_precision:.4f}   mF1 {self.mean_f1:.4f}",
            f"{len(matches.recordings):,} recordings, {len(matches.truth_time):,} truths, "
            f"{len(matches.time):,} detections; {EVENT_FREE[matches.event_free]}",
            *(f"left out: {line}" for line in matches.left_out.told()),
            f"{'type':<16} {'tolerance':>10} {'AP':>8} {'best F1':>8} {'at score':>10} "
            f"{'bias':>8} {'median':>8} {'95 %':>8}",
        ]
        for j, name in enumerate(matches.types):
            for k, tolerance in enumerate(matches.tolerances):
                found = timing(matches, name, tolerance, threshold=best.threshold[j, k])
                rows.append(
                    f"{name:<16} {number(tolerance):>10} "
                    f"{matches.average_precision()[j, k]:8.4f} {best.f1[j, k]:8.4f} "
                    f"{best.threshold[j, k]:10.4g} {found.bias:8.3g} {found.median:8.3g} "
                    f"{found.p95:8.3g}"
                )
        return "\n".join(rows)


def score(
    truth: Events,
    detections: Events,
    tolerances: Sequence[float],
    *,
    durations: Mapping[str, float] | None = None,
    **rules: Unpack[Rules],
) -> Score:
    """Match and score; the parameters, ``rules`` too, are those of `bdl.evaluation.match`.

    ``durations`` (seconds of each recording) are needed for false alarms per 24 hours only.

    >>> truth = Events.of("a", "beat", [10.0, 20.0])
    >>> found = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> score(truth, found, [5.0, 0.5]).average_precision
    {'beat': {'5': 0.8333333333333333, '0.5': 0.0}}
    """
    matches = match(truth, detections, tolerances, **rules)
    regions = rules.get("regions")
    if durations is None and regions is not None:
        durations = regions.durations
    return Score(matches, durations)


def by_name(matches: Matches, table: Any) -> dict[str, dict[str, float | None]]:
    """A (types, tolerances) table as {type: {tolerance: value}}, None for NaN."""
    names = [number(tolerance) for tolerance in matches.tolerances]
    return {
        kind: {name: _plain(value) for name, value in zip(names, row, strict=True)}
        for kind, row in zip(matches.types, table.tolist(), strict=True)
    }


def number(value: float) -> str:
    """A number as short text that reads back as the same number.

    >>> number(60.0), number(0.1)
    ('60', '0.1')
    """
    return str(int(value)) if value == int(value) else repr(value)


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
