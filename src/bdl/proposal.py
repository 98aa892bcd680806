"""Settings proposed from the data, each with the reason for it.

All rules use the times of the annotated events and the clocks of the recordings only:

- *spacing* of a type: recorded seconds divided by its number of events; that of the most frequent
  type is used.
- *gap*: the 5 % quantile of the distance between successive events of a type.
- largest tolerance: a fifth of the gap, at most half an hour; finest tolerance: a thirtieth of the
  largest; both rounded to 1, 1.5, 2, 3, 5 or 7 times a power of ten that is at least two samples.
- stride: the most samples whose bin is at most half the finest tolerance and rarely contains two
  events, at least one.
- window: one and a half spacings, between 512 and 4,096 bins, at most the longest recording.
- sigma of kernels: the finest tolerance, or half the step of a time grid that is coarser.
- separation: half the gap, at most the largest tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bdl.arrays import Floats
from bdl.errors import InputError, some
from bdl.events import Events
from bdl.intervals import likely_intervals
from bdl.recording import Recordings
from bdl.text_tables import duration_text

MAX_BINS, MIN_BINS = 4_096, 512
COLLISION = 1e-3


@dataclass(frozen=True)
class Proposed:
    """A proposed value and one sentence of reason."""

    value: Any
    reason: str


@dataclass(frozen=True)
class Proposal:
    """Settings proposed for a `bdl.Detector`, each with its reason."""

    intervals: Proposed
    stride: Proposed
    tolerances: Proposed
    sigma: Proposed
    window: Proposed
    separation: Proposed
    calendar: Proposed


def propose(recordings: Recordings, events: Events, tolerances: Sequence[float] = ()) -> Proposal:
    """Propose settings for a `bdl.Detector` on these recordings and events.

    Parameters
    ----------
    recordings
        Recordings of one period.
    events
        Their annotated events.
    tolerances
        Matching tolerances in seconds, if they are known.

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> ecg = Recordings.of([Recording.of(np.zeros(36000), id="a", period=0.01)])
    >>> beats = Events.of("a", "beat", np.arange(1.0, 359.0, 0.8))
    >>> proposal = propose(ecg, beats)
    >>> proposal.stride.value, proposal.tolerances.value[-1]
    (1, 0.15)
    """
    if not len(recordings):
        raise InputError("there are no recordings, so nothing can be proposed")
    annotated = events.select(recordings=recordings.ids)
    if not len(annotated):
        raise InputError(
            f"none of the {len(events)} events belongs to one of the {len(recordings)} recordings: "
            f"the table of events names {some(events.recordings)}, the recordings are "
            f"{some(recordings.ids)}; name the columns that have the same names (--column "
            "recording=NAME of the events, --recording NAME of the recordings), or rename the files"
        )
    period = _common_period(recordings)
    seconds = sum(info.duration for info in recordings.infos)
    longest = max(info.duration for info in recordings.infos)
    counts = {name: int(np.sum(annotated.event == name)) for name in sorted(set(annotated.event))}
    commonest = max(counts, key=lambda name: counts[name])
    spacing = seconds / counts[commonest]
    gap = _gap(annotated, spacing)
    largest = max(tolerances, default=_round(min(gap / 5, 1800.0), 2 * period))
    finest = min(tolerances, default=min(_round(largest / 30, 2 * period), largest))
    most_for_tolerance = int(finest / 2 / period + 1e-6)
    most_for_spacing = int(np.sqrt(2 * COLLISION) * spacing / period)
    stride = max(1, min(most_for_tolerance, most_for_spacing))
    bin_text = f"{stride} {'sample is' if stride == 1 else 'samples are'} "
    bin_text += duration_text(stride * period)
    half = f"half the finest tolerance of {duration_text(finest)}"
    shared = f"two {commonest!r} events"
    problems = [f"it is more than {half}"] if most_for_tolerance < 1 else []
    problems += [f"{shared} may share it"] if most_for_spacing < 1 else []
    bins = np.clip(1.5 * spacing / (stride * period), MIN_BINS, MAX_BINS)
    window = _round_down(min(bins * stride * period, longest))
    hours = all(info.start is not None for info in recordings.infos)
    daily = hours and longest >= 2 * 86400
    return Proposal(
        intervals=Proposed(
            likely_intervals(tuple(counts)),
            "pairs of event types whose names are those of an onset and an offset",
        ),
        stride=Proposed(
            stride,
            f"{bin_text}, the shortest bin of these recordings, although {' and '.join(problems)}"
            if problems
            else f"{bin_text}, within {half}, and {shared} rarely share a bin",
        ),
        tolerances=Proposed(
            tuple(tolerances) or _between(finest, largest),
            f"events of a type are {duration_text(spacing)} apart on average and 5 % of them "
            f"closer than {duration_text(gap)}, so a wider match than {duration_text(largest)} "
            "could confuse neighbours",
        ),
        sigma=_sigma(annotated, finest),
        window=Proposed(
            window,
            f"about {window / spacing:.3g} events of the most frequent type in "
            f"{window / (stride * period):,.0f} bins",
        ),
        separation=Proposed(
            float(f"{min(gap / 2, largest):.3g}"),
            f"within the largest tolerance and half of the closest usual distance "
            f"({duration_text(gap)})",
        ),
        calendar=Proposed(
            daily,
            "recordings of days with a known start: hour and weekday may help"
            if daily
            else "recordings are short or have no start time, so hour and weekday say little",
        ),
    )


def _common_period(recordings: Recordings) -> float:
    periods = sorted({info.period for info in recordings.infos})
    if len(periods) > 1:
        raise InputError(
            f"recordings have different sampling periods, {', '.join(f'{p:g}' for p in periods)} "
            "seconds; a model needs one: `bdl prepare --rate "
            f"{1 / max(periods):g} --out STORE` brings them to one" + _nearly_equal(periods)
        )
    return periods[0]


def _nearly_equal(periods: Sequence[float]) -> str:
    """Return what else helps if the periods were inferred from irregular times."""
    if max(periods) > 1.05 * min(periods):
        return ""
    return f"; if their times are irregular, --regular --period {np.median(periods):.2g} also helps"


def _gap(events: Events, spacing: float) -> float:
    """Return the 5 % quantile of the distance between successive events of a recording and type."""
    key = events.recording_code.astype(np.int64) * len(events.types) + events.type_code
    order = np.lexsort((events.time, key))
    steps = np.diff(events.time[order])[np.diff(key[order]) == 0]
    steps = steps[steps > 0]
    return float(np.quantile(steps, 0.05)) if len(steps) else spacing


def _round(value: float, least: float = 0.0) -> float:
    """Return the nearest of 1, 1.5, 2, 3, 5, 7 times a power of ten that is not below ``least``.

    Examples
    --------
    >>> _round(1790.0), _round(0.021), _round(0.001, least=0.021)
    (2000.0, 0.02, 0.03)
    """
    value = max(value, least)
    power = 10.0 ** np.floor(np.log10(value))
    steps = power * np.array([1, 1.5, 2, 3, 5, 7, 10])
    steps = steps[steps >= least * (1 - 1e-6)]  # periods of clocks that were read as text
    return float(f"{steps[np.argmin(np.abs(np.log(steps / value)))]:.3g}")


def _round_down(value: float) -> float:
    """Return at most ``value``, with four significant digits: no longer than a recording.

    Examples
    --------
    >>> _round_down(12345.6), _round_down(0.25)
    (12340.0, 0.25)
    """
    nearest = float(f"{value:.4g}")
    step = 10.0 ** (math.floor(math.log10(value)) - 3)
    return nearest if nearest <= value else float(f"{value - step / 2:.4g}")


def _between(low: float, high: float) -> tuple[float, ...]:
    grid = np.geomspace(low, high, 5) if high > low else np.array([low])
    return tuple(sorted({_round(float(value)) for value in grid}))


def _sigma(events: Events, finest: float) -> Proposed:
    """Propose the finest tolerance, or half the step of times on a coarser grid."""
    coarse = _grid(events.time)
    if coarse > 2 * finest:
        return Proposed(
            coarse / 2,
            f"annotated times are multiples of {coarse:g} s, coarser than the finest tolerance, so "
            "each event is spread over that uncertainty",
        )
    return Proposed(finest, "annotated times are as fine as the finest tolerance needs")


def _grid(times: Floats) -> float:
    """Return the coarsest of some usual time grids that contains all times, 0 for none."""
    for step in (3600.0, 1800.0, 900.0, 600.0, 300.0, 60.0, 30.0, 10.0, 5.0, 1.0, 0.5, 0.1):
        if np.all(np.abs(times / step - np.round(times / step)) < 1e-6):
            return step
    return 0.0
