"""The course of the days: when a wearer is up, sedentary, in bed, asleep, or without the device.

A night is sleep from its onset to the final waking, with interruptions: a few short ones in bed or
out of it, sometimes one of more than half an hour. It is preceded by a sedentary evening and some
time awake in bed, and followed by some time in bed. Some days have a nap. The device may be off
for hours or days.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bdl.datasets.sleep.wall_clock import DAY, PERIOD, WallClock
from bdl.datasets.sleep.wearer import Wearer

UP, EVENING, BED, ASLEEP = range(4)
HOUR = 3600 // PERIOD


@dataclass(frozen=True)
class DeviceOff:
    """A period without the device."""

    first: int  # first sample
    stop: int  # sample after the last
    repeated: bool  # whether it contains a copy of the day before; otherwise it is flat


@dataclass(frozen=True)
class DayCourse:
    """The course of one recording."""

    state: NDArray[np.int8]  # UP, EVENING, BED or ASLEEP of each sample, int8 of shape (samples,)
    # For each night the first and stop samples of its periods of sleep, shape (periods, 2); they
    # may extend beyond the recording.
    nights: list[NDArray[np.int64]]
    offs: list[DeviceOff]  # periods without the device


def draw(rng: Generator, person: Wearer, clock: WallClock, samples: int) -> DayCourse:
    """Draw a random course of days of one wearer."""
    state = np.full(samples, UP, np.int8)
    first = clock.local_start // DAY
    last = int(clock.local(np.array([samples - 1]))[0]) // DAY
    nights = []
    wakes = -np.inf
    for day in range(first - 1, last + 1):
        onset, wake = _night(rng, person, day)
        onset = max(onset, wakes + 5 * 3600.0)
        wake = max(wake, onset + 900.0)
        wakes = wake
        evening = person.evening * 3600 * rng.lognormal(-0.1, 0.45)
        latency = rng.exponential(person.latency * 60)
        linger = rng.exponential(person.linger * 60)
        nap = rng.uniform(12.0, 18.5) * 3600 + day * DAY
        nap_length = rng.uniform(20, 110) * 60
        napping = rng.random() < person.nap
        local = np.array(
            [
                onset - latency - evening,
                onset - latency,
                onset,
                wake,
                wake + linger,
                nap,
                nap + nap_length,
            ]
        )
        evening_at, bed_at, onset_at, wake_at, rise_at, nap_at, nap_stop = (
            np.rint(clock.samples(local)).astype(np.int64).tolist()
        )
        _fill(state, evening_at, bed_at, EVENING)
        _fill(state, bed_at, onset_at, BED)
        _fill(state, wake_at, rise_at, BED)
        _fill(state, onset_at, wake_at, ASLEEP)
        nights.append(_interrupt(rng, person, state, onset_at, wake_at))
        if napping and nap_stop < evening_at:
            _fill(state, nap_at - HOUR // 6, nap_stop + HOUR // 12, BED)
            _fill(state, nap_at, nap_stop, ASLEEP)
    return DayCourse(state, nights, _offs(rng, samples))


def _night(rng: Generator, person: Wearer, day: int) -> tuple[float, float]:
    """Onset and final waking of the night that follows ``day``, in local seconds."""
    weekday = (day + 3) % 7
    late = person.weekend if weekday in (4, 5) else 0.0
    onset = 24 + person.bed + late + rng.normal(0, person.bed_spread)
    length = np.clip(rng.normal(person.length, person.length_spread), 2.5, 13)
    if rng.random() < 0.01:
        length = rng.uniform(0.2, 1.5)  # a night almost without sleep
    wake = onset + length
    alarm = 24 + person.alarm + rng.normal(0, 0.25)
    if weekday not in (4, 5) and alarm > onset + 3:
        wake = min(wake, alarm)
    return day * DAY + onset * 3600, day * DAY + wake * 3600


def _interrupt(
    rng: Generator, person: Wearer, state: NDArray[np.int8], first: int, stop: int
) -> NDArray[np.int64]:
    """Enter the interruptions of a night and return its periods of sleep."""
    count = rng.poisson(person.awakenings)
    minutes = np.minimum(rng.lognormal(np.log(5), 0.9, size=count), 28)
    if rng.random() < person.insomnia:
        minutes = np.append(minutes, rng.uniform(31, 120))
    starts = rng.uniform(0.08, 0.92, size=len(minutes)) * (stop - first) + first
    up = rng.random(len(minutes)) < 0.35
    periods, asleep_from = [], first
    for number in np.argsort(starts):
        begin = max(int(starts[number]), asleep_from + 12)
        end = begin + int(minutes[number] * 60 / PERIOD)
        if end > stop - 12:
            break
        _fill(state, begin, end, UP if up[number] else BED)
        periods.append((asleep_from, begin))
        asleep_from = end
    periods.append((asleep_from, stop))
    return np.array(periods, dtype=np.int64)


def _offs(rng: Generator, samples: int) -> list[DeviceOff]:
    """Periods without the device: some hours, sometimes days, sometimes the end."""
    candidates = []
    for _ in range(rng.poisson(0.09 * samples / (DAY // PERIOD))):
        hours = rng.uniform(0.5, 4) if rng.random() < 0.5 else rng.uniform(6, 40)
        first = int(rng.uniform(0, samples))
        candidates.append((first, min(samples, first + int(hours * HOUR)), hours))
    if rng.random() < 0.15:
        hours = rng.uniform(0.05, 0.3) * samples / HOUR
        candidates.append((samples - int(hours * HOUR), samples, hours))
    offs: list[DeviceOff] = []
    for first, stop, hours in sorted(candidates):
        repeated = bool(rng.random() < 0.4) and hours > 6 and first >= DAY // PERIOD
        if not offs or first >= offs[-1].stop:
            offs.append(DeviceOff(first, stop, repeated))
    return offs


def _fill(state: NDArray[np.int8], first: int, stop: int, value: int) -> None:
    state[max(0, first) : max(0, stop)] = value
