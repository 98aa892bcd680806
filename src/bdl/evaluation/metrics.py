"""Metrics that a bootstrap or a selection can ask for, by name or as a value.

A metric takes kept matches and weights of the recordings, (replicates, recordings), and gives one
number a replicate; NaN where a replicate has nothing to measure. Names: ``mAP``, ``mF1``;
``AP@60``, ``F1@60`` (mean over types at one tolerance); ``sensitivity@60>=0.5``, ``precision@``,
``F1@``, ``false_alarms_per_day@60>=0.5`` (detections of score 0.5 and more, types together);
``bias@60``, ``median@60``, ``p95@60`` (timing error of hits). ``:onset`` at the end of a name asks
for one type.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bdl.errors import ConfigError
from bdl.evaluation import weighted
from bdl.evaluation.matches import Matches
from bdl.evaluation.timing import TimingError

Floats = NDArray[np.float64]
Metric = Callable[[Matches, Floats], Floats]
Figure = Literal["sensitivity", "precision", "F1", "false_alarms_per_day"]
_NAME = re.compile(r"(AP|F1)@([^:>=]+)(?::(.+))?")
_AT = re.compile(r"(sensitivity|precision|F1|false_alarms_per_day)@([^:>=]+)>=([^:]+)(?::(.+))?")
_TIMING = re.compile(r"(bias|median|p95)@([^:>=]+)(?:>=([^:]+))?(?::(.+))?")
EXPECTED = (
    "'mAP', 'mF1', 'AP@60', 'F1@60', 'AP@60:type', 'sensitivity@60>=0.5' (also precision, F1, "
    "false_alarms_per_day) or 'median@60' (also bias, p95)"
)


def named(name: str, durations: Mapping[str, float] | None = None) -> Metric:
    """The metric of that name; ``durations`` (seconds) are needed for false alarms only.

    >>> named("sensitivity@60>=0.5:onset")
    AtThreshold(figure='sensitivity', threshold=0.5, tolerance=60.0, type='onset', durations=None)
    >>> named("accuracy")
    Traceback (most recent call last):
    bdl.errors.ConfigError: metric 'accuracy' is not known; expected ...
    """
    if name in ("mAP", "mF1"):
        return Ranked("AP" if name == "mAP" else "F1")
    if found := _NAME.fullmatch(name):
        return Ranked(found[1], _float(found[2], name), found[3])  # type: ignore[arg-type]
    if found := _AT.fullmatch(name):
        threshold, tolerance = _float(found[3], name), _float(found[2], name)
        return AtThreshold(found[1], threshold, tolerance, found[4], durations)  # type: ignore[arg-type]
    if found := _TIMING.fullmatch(name):
        threshold = -np.inf if found[3] is None else _float(found[3], name)
        return TimingError(found[1], _float(found[2], name), found[4], threshold)  # type: ignore[arg-type]
    raise ConfigError(f"metric {name!r} is not known; expected {EXPECTED}")


def _float(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(
            f"metric {name!r}: {text!r} is not a number; expected {EXPECTED}"
        ) from None


def evaluate(matches: Matches, metric: str | Metric) -> float:
    """One metric of the matches as they are.

    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> truth = Events.of("a", "beat", [10.0, 20.0])
    >>> found = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> evaluate(match(truth, found, [5.0]), "F1@5")
    0.8
    """
    function = named(metric) if isinstance(metric, str) else metric
    return float(function(matches, np.ones((1, len(matches.recordings))))[0])


@dataclass(frozen=True)
class Ranked:
    """AP or best F1: mean over tolerances, then over types with truths.

    ``tolerance`` or ``type`` None means all of them.
    """

    kind: Literal["AP", "F1"] = "AP"
    tolerance: float | None = None
    type: str | None = None

    def __call__(self, matches: Matches, weights: Floats) -> Floats:
        function = weighted.average_precision if self.kind == "AP" else weighted.best_f1
        table = function(matches, weights)
        if self.tolerance is not None:
            table = table[:, :, [matches.tolerance_index(self.tolerance)]]
        if self.type is not None:
            table = table[:, [matches.type_index(self.type)]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a replicate without any truth: NaN
            means: Floats = np.nanmean(table.mean(axis=2), axis=1)
        return means


@dataclass(frozen=True)
class AtThreshold:
    """A figure of the detections with at least a given score.

    Parameters
    ----------
    figure : ``sensitivity`` (hits / truths), ``precision`` (hits / detections), ``F1``, or
        ``false_alarms_per_day`` (detections that are no hits, per 24 hours of recording).
    threshold, tolerance : score and seconds.
    type : one event type, or None for all types together.
    durations : seconds of each recording; needed for false alarms.

    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> found = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> kept = match(Events.of("a", "beat", [10.0, 20.0]), found, [5.0])
    >>> evaluate(kept, AtThreshold("false_alarms_per_day", 0.8, 5.0, durations={"a": 43200.0}))
    2.0
    """

    figure: Figure
    threshold: float
    tolerance: float
    type: str | None = None
    durations: Mapping[str, float] | None = None

    def __call__(self, matches: Matches, weights: Floats) -> Floats:
        types = matches.types if self.type is None else (self.type,)
        cut = matches.cuts([self.threshold])[0]
        size = len(matches.recordings)
        hits, detections = np.zeros(size), np.zeros(size)
        truths = matches.truths[:, [matches.type_index(name) for name in types]].sum(axis=1)
        for name in types:
            j = matches.type_index(name)
            rows, _ = matches.hits(name, self.tolerance)
            good = matches.recording[rows[rows < cut[j]]]
            hits += np.bincount(good, minlength=size)
            taken = matches.recording[matches.start[j] : cut[j]]
            detections += np.bincount(taken, minlength=size)
        found, taken_all, wanted = weights @ hits, weights @ detections, weights @ truths
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.figure == "sensitivity":
                value = found / wanted
            elif self.figure == "precision":
                value = found / taken_all
            elif self.figure == "F1":
                value = 2 * found / (taken_all + wanted)
            else:
                days = weights @ seconds(matches, self.durations) / 86400
                value = (taken_all - found) / days
        result: Floats = np.where(np.isfinite(value), value, np.nan)
        return result


def seconds(matches: Matches, durations: Mapping[str, float] | None) -> Floats:
    """Duration of each scored recording, or an error that names one without."""
    if durations is None:
        raise ConfigError(
            "false alarms per 24 hours need the duration of every scored recording in seconds"
        )
    lacking = [name for name in matches.recordings if name not in durations]
    if lacking:
        raise ConfigError(
            f"durations of {len(lacking)} scored recordings are missing, such as {lacking[0]!r}"
        )
    return np.array([durations[name] for name in matches.recordings], dtype=np.float64)
