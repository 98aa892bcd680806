"""Calibration: the setting of a grid with the best score on recordings that are not reported on.

Every setting of the grid is scored, with the work shared: each recording is read once, each
decoder (smoothing, separation, scorer) decodes it once, one matching serves every threshold, since
the detections with the highest scores are matched first, and alternation works on the candidates
already found. The scores are those of decoding and matching each setting by itself.

Of settings with the same score the simplest is chosen, in the order of the grid (see
`bdl.decoding.grid`), so that the choice is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bdl.decoding.alternation import alternate
from bdl.decoding.candidates import ByType, above, to_events, unique
from bdl.decoding.decoder import Decoder, concerned_intervals
from bdl.decoding.grid import Grid
from bdl.density import Density
from bdl.errors import ConfigError, InputError
from bdl.evaluation import Matcher, Metric, Regions
from bdl.evaluation.matching import EventFree
from bdl.events import Events
from bdl.frames import Tabular
from bdl.intervals import IntervalType
from bdl.table_plots import Drawing


@dataclass(frozen=True)
class Trial:
    """One setting and its score on the calibration recordings."""

    decoder: Decoder
    score: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"decoder": self.decoder.model_dump(mode="json"), "score": self.score}


@dataclass(frozen=True)
class Calibration(Tabular):
    """The decoder that a calibration chose, and all settings it tried.

    Parameters
    ----------
    decoder
        The chosen setting.
    score
        Its score.
    metric
        Name of the score.
    tried
        Every setting from simple to less simple, with its score.

    Examples
    --------
    >>> best = Trial(Decoder.parse("peaks"), 0.7)
    >>> Calibration(best.decoder, best.score, "mAP", (best,)).to_dict()["decoder"]["kind"]
    'peaks'
    """

    drawing = Drawing("setting", "score", by=("decoder",), mode="markers")

    decoder: Decoder
    score: float
    metric: str
    tried: tuple[Trial, ...]

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per setting that was tried."""
        plain = [trial.decoder.model_dump(mode="json") for trial in self.tried]
        names = dict.fromkeys(name for settings in plain for name in settings if name != "kind")
        differing = [
            name for name in names if len({str(settings.get(name)) for settings in plain}) > 1
        ]
        return {
            "setting": [*range(1, len(plain) + 1)],
            "decoder": [settings["kind"] for settings in plain],
            **{name: [str(settings.get(name, "")) for settings in plain] for name in differing},
            "score": [trial.score for trial in self.tried],
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        chosen = Trial(self.decoder, self.score).to_dict()
        return {**chosen, "metric": self.metric, "tried": [trial.to_dict() for trial in self.tried]}


def calibrate(
    densities: Iterable[Density],
    truth: Events,
    grid: Grid | str | Mapping[str, Any],
    *,
    tolerances: Sequence[float],
    metric: str | Metric = "mAP",
    intervals: Sequence[IntervalType] = (),
    event_free: EventFree = "ignore",
    regions: Regions | None = None,
) -> Calibration:
    """Score every setting of a grid and choose the best.

    Parameters
    ----------
    densities
        Densities of the calibration recordings; read once, in order.
    truth
        Annotated events; those of other recordings are ignored.
    grid
        The settings to try: a grid, its name, or a mapping with the key ``kind``.
    tolerances
        Tolerances of the metric in seconds.
    metric
        A metric, or its name such as ``mAP`` or ``AP@60`` (see `bdl.evaluation.metrics`).
    intervals
        Interval types: needed for alternation and for densities of kind ``state``.
    event_free
        Whether detections in recordings without events are false alarms (``count``) or left out
        (``ignore``).
    regions
        Spans of the recordings that are scored; None for all.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[0.0], [0.9], [0.0], [0.2], [0.0]], np.float32)
    >>> density = Density("a", values, ("beat",), 1.0, stride=1, samples=5)
    >>> chosen = calibrate([density], Events.of("a", "beat", [1.0]), "peaks", tolerances=[1.0])
    >>> chosen.decoder.threshold, chosen.score, len(chosen.tried)
    (0.0, 1.0, 3)
    """
    metric = Metric.parse(metric)
    if not metric.measurable(tolerances):
        known = ", ".join(f"{tolerance:g}" for tolerance in tolerances)
        raise ConfigError(
            f"metric {metric.name!r}: a tolerance among {known} expected (--metric, --tolerance)"
        )
    grid = Grid.parse(grid)
    decoders = grid.decoders(tolerances)
    decoded: list[_Decoded] = []
    durations: dict[str, float] = {}
    highest, bounded = 0.0, True
    for density in unique(densities):
        grid.decoder.check_reads(density)
        concerned = concerned_intervals(density, tuple(intervals))
        candidates = grid.candidates(density, decoders, concerned)
        decoded.append(_Decoded(density.recording, concerned, candidates))
        durations[density.recording] = density.samples * density.period
        highest = max(highest, float(density.values.max(initial=0)))
        bounded = bounded and (density.bounded or density.kind == "state")
    if not decoded:
        raise InputError("calibration needs the density of at least one recording, got none")
    ids = [part.recording for part in decoded]
    types = sorted({event for part in decoded for event in part.candidates[0]})
    matcher = Matcher(
        truth,
        tolerances,
        types=types,
        event_free=event_free,
        recordings=ids,
        durations=durations if regions is None else regions.durations,
        regions=regions,
    )

    thresholds = grid.threshold_values(1.0 if bounded else highest)
    tried = []
    for alternating in sorted(set(grid.alternations)):
        for number, decoder in enumerate(decoders):
            scores = _scores(matcher, decoded, number, thresholds, metric, alternating)
            for threshold, value in zip(thresholds, scores, strict=True):
                setting = decoder.replace(threshold=threshold, alternate=alternating)
                tried.append(Trial(setting, value))
    best = max(tried, key=lambda trial: metric.better(trial.score))
    return Calibration(best.decoder, best.score, metric.name, tuple(tried))


@dataclass(frozen=True)
class _Decoded:
    """Candidates of one recording: one entry per decoder of the grid."""

    recording: str
    intervals: tuple[IntervalType, ...]
    candidates: list[ByType]


def _scores(
    matcher: Matcher,
    decoded: list[_Decoded],
    number: int,
    thresholds: list[float],
    metric: Metric,
    alternating: bool,
) -> list[float]:
    """Score of one decoder of the grid at each threshold."""
    if not alternating:
        events = to_events((part.recording, part.candidates[number]) for part in decoded)
        matches = matcher.match(events)
        return [metric.value(matches.above(threshold)) for threshold in thresholds]
    scores = []
    for threshold in thresholds:
        detected = (
            (part.recording, alternate(above(part.candidates[number], threshold), part.intervals))
            for part in decoded
        )
        scores.append(metric.value(matcher.match(to_events(detected))))
    return scores
