"""What a score cutoff would give: counts and rates of the detections that reach it.

Detections are matched from the highest score down, so the hits among those that reach a cutoff are
the hits they would have if the others did not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics import seconds

ALL = "all"


@dataclass(frozen=True)
class Operating:
    """Figures at one cutoff, of one event type or all, at one tolerance.

    Parameters
    ----------
    detections, truths, hits : counts; a detection reaches the cutoff by being at or above it.
    days : scored days, or None where durations are unknown.
    """

    detections: int
    truths: int
    hits: int
    days: float | None = None

    @property
    def figures(self) -> dict[str, float | None]:
        """Counts and rates; a rate of nothing is None.

        >>> Operating(detections=4, truths=5, hits=3, days=2.0).figures["false_alarms_per_day"]
        0.5
        """
        false = self.detections - self.hits
        return {
            **{name: value for name, value in asdict(self).items() if name != "days"},
            "missed": self.truths - self.hits,
            "false": false,
            "precision": self.hits / self.detections if self.detections else None,
            "recall": self.hits / self.truths if self.truths else None,
            "F1": 2 * self.hits / (self.detections + self.truths) if self.truths else None,
            "false_alarms_per_day": false / self.days if self.days else None,
        }


def operating(
    matches: Matches, threshold: float, durations: Mapping[str, float] | None = None
) -> dict[str, dict[float, Operating]]:
    """Figures at a cutoff by event type (and ``all`` together) and tolerance.

    Parameters
    ----------
    threshold : detections of at least this score are kept.
    durations : seconds of each scored recording, for false alarms a day.

    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> truth = Events.of("a", "beat", [10.0, 20.0])
    >>> found = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> operating(match(truth, found, [5.0]), 0.8)["beat"][5.0]
    Operating(detections=2, truths=2, hits=1, days=None)
    """
    days = None if durations is None else float(seconds(matches, durations).sum()) / 86400
    cut = matches.cuts([threshold])[0]
    kept = np.append(cut - matches.start[:-1], (cut - matches.start[:-1]).sum())
    truths = np.diff(matches.first_truth)
    truths = np.append(truths, truths.sum())
    by_type = matches.hits_before(cut)
    hits = np.vstack([by_type, by_type.sum(axis=0)])
    return {
        name: {
            tolerance: Operating(int(kept[j]), int(truths[j]), int(hits[j, k]), days)
            for k, tolerance in enumerate(matches.tolerances)
        }
        for j, name in enumerate((*matches.types, ALL))
    }


def to_dict(found: Mapping[str, Mapping[float, Operating]]) -> dict[str, Any]:
    """Plain data by type and tolerance, ready for JSON."""
    return {
        name: {f"{tolerance:g}": one.figures for tolerance, one in row.items()}
        for name, row in found.items()
    }


def told(found: Mapping[str, Mapping[float, Operating]], threshold: float) -> str:
    """The figures as a table."""
    lines = [
        f"at scores of {threshold:g} and more",
        f"{'type':<16} {'tolerance':>10} {'kept':>8} {'correct':>8} {'missed':>8} {'false':>8} "
        f"{'precision':>9} {'recall':>8} {'F1':>8} {'false/day':>10}",
    ]
    for name, row in found.items():
        for tolerance, one in row.items():
            at = one.figures
            rates = [at[key] for key in ("precision", "recall", "F1", "false_alarms_per_day")]
            texts = ["–" if rate is None else f"{rate:.4f}" for rate in rates]
            lines.append(
                f"{name:<16} {tolerance:>10g} {one.detections:>8} {one.hits:>8} "
                f"{at['missed']:>8} {at['false']:>8} {texts[0]:>9} {texts[1]:>8} {texts[2]:>8} "
                f"{texts[3]:>10}"
            )
    return "\n".join(lines)
