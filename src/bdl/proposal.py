"""Settings proposed from a look at the data: every one with the reason for it.

Rules, all from the times of the annotated events and the clocks of the recordings:

- *spacing* of a type: recorded seconds divided by its events; the shortest one counts.
- *gap*: the 5 % quantile of the distance between successive events of a type.
- widest tolerance: a fifth of the gap, at most half an hour; the strictest a thirtieth of it, at
  least five samples; rounded to 1, 1.5, 2, 3, 5 or 7 times a power of ten.
- stride: the most samples whose bin fits the strictest tolerance and rarely holds two events.
- window: ten spacings, between 256 and 12,096 bins, at most the longest recording.
- separation: half the gap, at most the widest tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.events import Events
from bdl.intervals import IntervalType
from bdl.recording import Recordings

MAX_BINS, MIN_BINS = 12_096, 256
COLLISION = 1e-3
ENDS = (("onset", "offset"), ("onset", "wakeup"), ("start", "end"), ("begin", "end"), ("on", "off"))


@dataclass(frozen=True)
class Setting:
    """A proposed value and one sentence of reason."""

    value: Any
    reason: str


def propose(recordings: Recordings, events: Events) -> dict[str, Setting]:
    """Propose settings for a `bdl.Detector` on these recordings and events.

    Returns types, intervals, period, stride, tolerances, kernel, window, separation,
    reference_spacing, calendar and scaling.

    >>> from bdl.recording import Recording
    >>> ecg = Recordings.of([Recording.of(np.zeros(36000), id="a", period=0.01)])
    >>> beats = Events.of("a", "beat", np.arange(1.0, 359.0, 0.8))
    >>> made = propose(ecg, beats)
    >>> made["stride"].value, made["tolerances"].value[-1]
    (3, 0.15)
    """
    if not len(recordings):
        raise InputError("no recordings, so nothing can be proposed")
    known = events.select(recordings=recordings.ids)
    if not len(known):
        raise InputError(
            f"none of the {len(events)} events lies in one of the {len(recordings)} recordings; "
            "do the names of the recordings agree?"
        )
    period = _one_period(recordings)
    seconds = sum(info.duration for info in recordings.infos)
    longest = max(info.duration for info in recordings.infos)
    counts = {name: int(np.sum(known.event == name)) for name in sorted(set(known.event))}
    commonest = max(counts, key=lambda name: counts[name])
    spacing = seconds / counts[commonest]
    gap = _gap(known, spacing)
    widest = _round(max(min(gap / 5, 1800.0), 5 * period))
    strictest = min(_round(max(widest / 30, 5 * period)), widest)
    tolerances = _between(strictest, widest)
    stride = _stride(period, strictest, spacing)
    bins = np.clip(10 * spacing / (stride * period), MIN_BINS, MAX_BINS)
    window = float(f"{min(bins * stride * period, longest):.4g}")
    separation = float(f"{min(gap / 2, widest):.3g}")
    hours = all(info.start is not None for info in recordings.infos)
    daily = hours and longest >= 2 * 86400
    return {
        "types": Setting(tuple(counts), _told(counts)),
        "intervals": Setting(
            tuple(_intervals(tuple(counts))),
            "pairs of event types whose names say that one ends what the other begins",
        ),
        "period": Setting(period, f"every recording has a sample each {period:g} s"),
        "stride": Setting(
            stride,
            f"{stride} samples are {stride * period:g} s, within the strictest tolerance of "
            f"{strictest:g} s, and two {commonest!r} events rarely share a bin",
        ),
        "tolerances": Setting(
            tolerances,
            f"events of a type are {spacing:.4g} s apart on average and 5 % of them closer than "
            f"{gap:.4g} s, so a wider match than {widest:g} s could confuse neighbours",
        ),
        "kernel": _kernel(known, strictest),
        "window": Setting(
            window,
            f"about {window / spacing:.3g} events of the commonest type in "
            f"{window / (stride * period):,.0f} bins",
        ),
        "separation": Setting(
            separation,
            f"within the widest tolerance and half of the closest usual distance ({gap:.4g} s)",
        ),
        "reference_spacing": Setting(
            float(f"{spacing:.6g}"),
            f"{seconds:,.0f} recorded seconds hold {counts[commonest]:,} {commonest!r} events",
        ),
        "calendar": Setting(
            daily,
            "recordings of days with a known start: hour and weekday may help"
            if daily
            else "recordings are short or have no start time, so hour and weekday say little",
        ),
        "scaling": Setting(
            "robust", "channels are centred and scaled by median and quartiles of the training part"
        ),
    }


def _one_period(recordings: Recordings) -> float:
    periods = sorted({info.period for info in recordings.infos})
    if len(periods) > 1:
        raise InputError(
            f"recordings have different sampling periods, {', '.join(f'{p:g}' for p in periods)} "
            "seconds; a model needs one: prepare them on a common clock first"
        )
    return periods[0]


def _gap(events: Events, spacing: float) -> float:
    """5 % quantile of the distance between successive events of one recording and type."""
    key = events.recording_code.astype(np.int64) * len(events.types) + events.type_code
    order = np.lexsort((events.time, key))
    steps = np.diff(events.time[order])[np.diff(key[order]) == 0]
    steps = steps[steps > 0]
    return float(np.quantile(steps, 0.05)) if len(steps) else spacing


def _round(value: float) -> float:
    """The nearest of 1, 1.5, 2, 3, 5, 7 times a power of ten.

    >>> _round(1790.0), _round(0.021)
    (2000.0, 0.02)
    """
    power = 10.0 ** np.floor(np.log10(value))
    steps = np.array([1, 1.5, 2, 3, 5, 7, 10])
    return float(f"{steps[np.argmin(np.abs(np.log(steps * power / value)))] * power:.3g}")


def _between(low: float, high: float) -> tuple[float, ...]:
    grid = np.geomspace(low, high, 5) if high > low else np.array([low])
    return tuple(sorted({_round(float(value)) for value in grid}))


def _stride(period: float, tolerance: float, spacing: float) -> int:
    resolved = int(tolerance / period + 1e-9)
    apart = int(np.sqrt(2 * COLLISION) * spacing / period)
    return max(1, min(resolved, apart))


def _intervals(types: tuple[str, ...]) -> list[IntervalType]:
    found = []
    for first in types:
        for begin, end in ENDS:
            last = first.removesuffix(begin) + end
            if first.endswith(begin) and last in types:
                name = first.removesuffix(begin).rstrip(":_- ") or "interval"
                found.append(IntervalType(name, first, last))
                break
    return found


def _kernel(events: Events, strictest: float) -> Setting:
    """Hard, unless times stand on a grid so coarse that the strictest match is a matter of luck."""
    coarse = _grid(events.time)
    if coarse > 2 * strictest:
        return Setting(
            {"kind": "gaussian", "sigma": coarse / 2},
            f"annotated times stand on multiples of {coarse:g} s, coarser than the strictest "
            "tolerance, so each event is spread over that uncertainty",
        )
    return Setting({"kind": "hard"}, "annotated times are as fine as the strictest tolerance needs")


def _grid(times: NDArray[np.float64]) -> float:
    """The coarsest of some usual grids on which all times stand, 0 for none."""
    for step in (3600.0, 1800.0, 900.0, 600.0, 300.0, 60.0, 30.0, 10.0, 5.0, 1.0, 0.5, 0.1):
        if np.all(np.abs(times / step - np.round(times / step)) < 1e-6):
            return step
    return 0.0


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name!r}" for name, count in counts.items())
