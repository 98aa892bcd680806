"""From the course of the days to arm angle and ENMO, one value every 5 s.

Within a state, time is divided into bouts; a bout has an arm angle and either movement or none.
During sleep, bouts begin with a short movement, and sleep is light (more movement) in its first and
last half hour and at the end of every 90-minute cycle. Quiet bouts while awake resemble sleep.
Angles are in degrees within [-90, 90], ENMO in g, both with four decimals.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.signal import lfilter

from bdl.arrays import Longs, Singles
from bdl.datasets.sleep.day_course import ASLEEP, BED, EVENING, HOUR, UP, DayCourse
from bdl.datasets.sleep.wall_clock import DAY, PERIOD, WallClock
from bdl.datasets.sleep.wearer import Wearer

MINUTE = 60 // PERIOD


def draw(
    rng: Generator, person: Wearer, clock: WallClock, course: DayCourse
) -> tuple[Singles, Singles]:
    """Draw angle and ENMO, float32 of shape (samples,) each."""
    state = course.state
    samples = len(state)
    change = np.empty(samples, bool)
    change[0] = True
    np.not_equal(state[1:], state[:-1], out=change[1:])
    change |= rng.random(samples, dtype=np.float32) < _hazard(person, state)
    starts = np.flatnonzero(change)
    lengths = np.diff(starts, append=samples)
    angle, tremor, energy = _bouts(rng, person, clock, state[starts], starts)
    since = np.arange(samples, dtype=np.int32) - np.repeat(starts.astype(np.int32), lengths)
    # Every bout begins with the movement that brings the arm there.
    moves = np.repeat(rng.exponential(3.0, len(starts)).astype(np.float32), lengths)
    shove = np.repeat(rng.lognormal(np.log(0.02), 0.8, len(starts)).astype(np.float32), lengths)
    moving = since < moves
    level = np.repeat(energy, lengths)
    np.maximum(level, shove, out=level, where=moving)
    jitter = np.repeat(tremor, lengths)
    np.maximum(jitter, 12.0, out=jitter, where=moving)
    noise = rng.standard_normal(samples, dtype=np.float32)
    wander = lfilter([0.8], [1, -0.6], noise).astype(np.float32)
    degrees = _fold(np.repeat(angle, lengths) + jitter * wander)
    drive = rng.standard_normal(samples, dtype=np.float32)
    pace = np.exp(lfilter([0.55], [1, -0.8], drive)).astype(np.float32)
    hum = np.abs(noise) * np.float32(0.0012)
    enmo = np.maximum(np.float32(person.floor) + level * pace + hum - np.float32(0.001), 0)
    degrees, enmo = np.round(degrees, 4), np.round(enmo, 4)
    for off in course.offs:
        _take_off(rng, degrees, enmo, off.first, off.stop, off.repeated)
    return degrees, enmo


def _hazard(person: Wearer, state: NDArray[np.int8]) -> Singles:
    """Probability per sample that a bout ends."""
    table = np.zeros(4, np.float32)
    table[[UP, EVENING, BED]] = 1 / (1.5 * MINUTE), 1 / (7 * MINUTE), 1 / (4 * MINUTE)
    table[ASLEEP] = person.restless / HOUR
    return table[state] * (1 + 2 * _lightness(state))


def _lightness(state: NDArray[np.int8]) -> Singles:
    """How light sleep is, 0 to 1; 0 outside sleep."""
    asleep = state == ASLEEP
    edges = np.flatnonzero(np.diff(asleep.astype(np.int8), prepend=0, append=0))
    light = np.zeros(len(state), np.float32)
    for first, stop in zip(edges[::2], edges[1::2], strict=True):
        age = np.arange(stop - first, dtype=np.float32)
        edge = np.exp(-age / (12 * MINUTE)) + np.exp(-age[::-1] / (15 * MINUTE))
        cycle = np.maximum(np.sin(age * np.float32(2 * np.pi / (90 * MINUTE)) - 1.6), 0) ** 6
        light[first:stop] = np.minimum(edge + 0.5 * cycle, 1)
    return light


def _bouts(
    rng: Generator,
    person: Wearer,
    clock: WallClock,
    kind: NDArray[np.int8],
    starts: Longs,
) -> tuple[Singles, Singles, Singles]:
    """Angle (degrees), tremor (degrees) and movement (g) of every bout."""
    count = len(kind)
    hour = clock.local(starts) % DAY / 3600
    rhythm = np.exp(0.6 * np.cos((hour - person.peak) * (np.pi / 12)))
    # Periods of more and less activity, about an hour long each.
    spell = np.repeat(rng.normal(0, 0.5, count // 30 + 1), 30)[:count]
    median = np.array([0.026, 0.010, 0.006, 0.0])[kind]
    median[kind == UP] *= (person.activity * rhythm * np.exp(spell))[kind == UP]
    energy = median * rng.lognormal(0, 0.9, count)
    quiet = rng.random(count) < np.append(person.stillness, 1.0)[kind]
    # Sleep is annotated from movement: lying awake without any counts as sleep, so that the last
    # bout before sleep and the first after it are not quiet.
    asleep = kind == ASLEEP
    quiet[:-1] &= asleep[:-1] | ~asleep[1:]
    quiet[1:] &= asleep[1:] | ~asleep[:-1]
    energy[quiet] = 0.0
    tremor = np.where(quiet, person.tremor, 3 + 30 * np.minimum(1, energy / 0.05))
    tremor = tremor * rng.lognormal(0, 0.4, count)
    choice = rng.integers(0, 20, count)
    lying = person.sleep_angles[choice % 5] + rng.normal(0, 6, count)
    resting = person.rest_angles[choice % 4] + rng.normal(0, 9, count)
    free = rng.normal(-15, 38, count)
    angle = np.select([kind == UP, kind == EVENING], [free, resting], lying)
    return angle.astype(np.float32), tremor.astype(np.float32), energy.astype(np.float32)


def _fold(angle: Singles) -> Singles:
    """Reflect at the poles, as an angle to a plane does."""
    folded: Singles = np.float32(90) - np.abs(np.mod(angle + 90, 360) - 180)
    return folded


def _take_off(
    rng: Generator, degrees: Singles, enmo: Singles, first: int, stop: int, repeated: bool
) -> None:
    """Replace a period by a resting device, or by repetitions of the day before it."""
    if repeated:
        day = DAY // PERIOD
        source = first - day + np.arange(stop - first) % day
        degrees[first:stop], enmo[first:stop] = degrees[source], enmo[source]
    else:
        degrees[first:stop] = np.round(np.float32(rng.uniform(-88, 88)), 4)
        enmo[first:stop] = 0.0
