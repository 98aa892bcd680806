"""Traits of the person who wears the device, constant over a recording.

They vary widely: the quiet evening of one person resembles the night of another, so that a detector
has to use the course of the day and cannot rely on a threshold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray


@dataclass(frozen=True)
class Wearer:
    """Traits of one wearer."""

    bed: float  # mean onset of sleep in hours after midnight (negative is before)
    bed_spread: float  # night-to-night standard deviation of the onset in hours
    length: float  # mean time asleep in hours
    length_spread: float  # standard deviation of the time asleep in hours
    weekend: float  # hours by which Friday and Saturday nights begin later
    alarm: float  # hour of the alarm on workdays, or infinity
    evening: float  # mean hours of sedentary evening
    latency: float  # mean minutes awake in bed before onset
    linger: float  # mean minutes in bed after waking
    restless: float  # movements per hour in deep sleep
    awakenings: float  # mean number of short interruptions per night
    insomnia: float  # probability of an interruption of more than half an hour
    nap: float  # probability of a nap per day
    # Share of quiet bouts of the waking day, the evening and the time in bed, shape (3,).
    stillness: NDArray[np.float64]
    activity: float  # factor on waking movement
    peak: float  # hour of highest activity
    floor: float  # ENMO of a still device in g
    tremor: float  # standard deviation of the angle of a still arm in degrees
    sleep_angles: NDArray[np.float64]  # habitual arm angles asleep in degrees
    rest_angles: NDArray[np.float64]  # habitual arm angles at rest in degrees


def draw(rng: Generator) -> Wearer:
    """Draw a random wearer."""
    return Wearer(
        bed=float(np.clip(rng.normal(-0.8, 1.2), -3.5, 3.0)),
        bed_spread=float(rng.uniform(0.3, 1.4)),
        length=float(np.clip(rng.normal(8.4, 1.0), 5.5, 11.0)),
        length_spread=float(rng.uniform(0.4, 1.3)),
        weekend=float(max(0.0, rng.normal(0.7, 0.6))),
        alarm=float(rng.normal(6.8, 0.7)) if rng.random() < 0.6 else np.inf,
        evening=float(rng.uniform(0.5, 3.5)),
        latency=float(rng.lognormal(np.log(8), 0.6)),
        linger=float(rng.lognormal(np.log(6), 0.6)),
        restless=float(rng.lognormal(np.log(5), 0.5)),
        awakenings=float(rng.gamma(2.0, 0.7)),
        insomnia=float(rng.beta(1.0, 14.0)),
        nap=float(rng.beta(1.0, 9.0)),
        stillness=np.array([rng.beta(2, 14), rng.beta(3, 8), rng.beta(4, 8)]),
        activity=float(rng.lognormal(0.0, 0.35)),
        peak=float(rng.normal(14.5, 1.5)),
        floor=float(rng.gamma(1.2, 0.004)),
        tremor=float(rng.lognormal(np.log(0.35), 0.5)),
        sleep_angles=np.clip(rng.normal(0, 40, size=5), -85, 85),
        rest_angles=np.clip(rng.normal(-15, 30, size=4), -85, 85),
    )
