"""The EEG of one recording: background, sleep, artefacts, short discharges, and seizures.

A seizure is a rhythm that begins at a focus, slows down while it grows and spreads, and is followed
by some seconds of low amplitude. It lasts from 6 s to minutes. It is imitated by chewing
(rhythmic, temporal), slow waves of sleep, and discharges of the same morphology that stop before
6 s. Annotated times are whole seconds and scatter by about one. Values are in microvolts.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy.signal import lfilter

from bdl.arrays import Floats, Singles
from bdl.datasets.chbmit.eeg_files import CHANNELS, RATE
from bdl.datasets.chbmit.patient import FRONTAL, POSTERIOR, TEMPORAL, Patient

APART = 240


def draw(
    rng: Generator, person: Patient, seconds: int, *, least: int = 0
) -> tuple[Singles, list[tuple[int, int]]]:
    """Values of shape (samples, 21) in microvolts, and (onset, offset) of seizures in seconds."""
    values = _background(rng, person, seconds)
    _artefacts(rng, person, values)
    annotated = []
    for onset, length in _schedule(rng, person, seconds, least):
        _seizure(rng, person, values, onset, length)
        scatter = rng.normal(0, 0.8, size=2)
        begin, end = np.rint(np.array([onset, onset + length]) + scatter).astype(int)
        begin = int(np.clip(begin, 0, seconds - 2))
        annotated.append((begin, int(np.clip(end, begin + 1, seconds - 1))))
    return values, annotated


def _schedule(
    rng: Generator, person: Patient, seconds: int, least: int
) -> list[tuple[float, float]]:
    """Onset and length of each seizure, in order, some minutes apart."""
    count = max(least, int(rng.poisson(person.rate * seconds / 3600)))
    seizures: list[tuple[float, float]] = []
    for onset in np.sort(rng.uniform(0.05, 0.85, size=count) * seconds):
        length = min(max(6.0, rng.lognormal(np.log(person.length), 0.45)), 0.12 * seconds)
        if not seizures or onset > sum(seizures[-1]) + min(APART, 0.2 * seconds):
            seizures.append((float(onset), float(length)))
    return seizures


def _background(rng: Generator, person: Patient, seconds: int) -> Singles:
    """Noise that falls with frequency, a posterior alpha rhythm, and periods of slow-wave sleep."""
    samples = seconds * RATE
    white = rng.standard_normal((8, samples), dtype=np.float32)
    sources = np.empty((10, samples), np.float32)
    sources[:8] = lfilter([0.10], [1, -0.985], white)
    sources[:8] += 0.5 * lfilter([0.35], [1, -0.85], white[::-1])
    # Of unit variance: a resonance at about 10 Hz, and slow waves of deep sleep.
    pole, turn = 0.985, 2 * np.pi * rng.uniform(8.5, 11) / RATE
    sources[8] = lfilter([0.06], [1, -2 * pole * np.cos(turn), pole**2], white[0])
    steps = seconds // 30 + 2
    depth = np.clip(np.cumsum(rng.normal(0, 0.25, size=steps)) + rng.normal(0, 1), 0, 2)
    asleep = np.interp(np.arange(samples) / RATE / 30, np.arange(steps), depth)
    sources[9] = lfilter([0.0043], [1, -1.9895, 0.9905], white[1]) * asleep
    mixing = np.vstack(
        [
            person.sources * person.background * 2.2,
            person.alpha * (POSTERIOR + 0.15),
            12 * np.abs(person.sources[:2].sum(axis=0)) + 4,
        ]
    )
    values: Singles = sources.T @ mixing.astype(np.float32)
    values += rng.standard_normal(values.shape, dtype=np.float32) * np.float32(1.5)
    return values


def _artefacts(rng: Generator, person: Patient, values: Singles) -> None:
    """Add blinks, muscle bursts, chewing, slipping electrodes and short discharges."""
    hours = len(values) / RATE / 3600
    blink = np.sin(np.linspace(0, np.pi, int(0.35 * RATE))) ** 2
    for _ in range(rng.poisson(person.blinks * hours)):
        _add(values, rng.uniform() * len(values), rng.normal(110, 35) * blink, FRONTAL * 1.0)
    for _ in range(rng.poisson(person.muscle * hours)):
        burst = rng.normal(size=int(rng.uniform(0.3, 6) * RATE)) * rng.lognormal(3.2, 0.5)
        burst = np.diff(burst, prepend=0) * np.hanning(len(burst))
        side = rng.random(len(CHANNELS)) < 0.4
        _add(values, rng.uniform() * len(values), burst, TEMPORAL * side * 1.0)
    for _ in range(rng.poisson(person.chewing * hours)):
        time = np.arange(int(rng.uniform(5, 40) * RATE)) / RATE
        bites = np.maximum(np.sin(2 * np.pi * rng.uniform(1.2, 2.2) * time), 0) ** 4
        _add(values, rng.uniform() * len(values),
             bites * rng.normal(size=len(time)) * rng.uniform(40, 120), TEMPORAL * 1.0)  # fmt: skip
    for _ in range(rng.poisson(6 * hours)):
        slip = np.exp(-np.arange(3 * RATE) / RATE) * rng.normal(0, 250)
        _add(values, rng.uniform() * len(values), slip, np.eye(len(CHANNELS))[rng.integers(21)])
    for _ in range(rng.poisson(person.discharges * hours)):
        length = rng.uniform(1.0, 4.5)
        wave = _rhythm(rng, person, length) * np.hanning(int(length * RATE))
        _add(values, rng.uniform() * len(values), wave * rng.uniform(0.3, 1.0), person.focus)


def _seizure(rng: Generator, person: Patient, values: Singles, onset: float, length: float) -> None:
    """Add one seizure and attenuate the signal after it."""
    count = int(length * RATE)
    time = np.arange(count) / RATE
    rise = np.minimum(1, (time + 0.5) / min(person.build, 0.7 * length))
    fall = np.minimum(1, (length - time) / 1.5)
    wave = _rhythm(rng, person, length) * rise * fall * rng.lognormal(0, 0.25)
    first = int(onset * RATE)
    # It is at the focus from the beginning and reaches the other channels as it spreads.
    _add(values, first, wave, person.focus)
    _add(values, first, wave * rise**2, person.spread)
    after = values[first + count : first + count + int(rng.uniform(10, 50) * RATE)]
    after *= np.linspace(0.45, 1, len(after), dtype=np.float32)[:, None]


def _rhythm(rng: Generator, person: Patient, length: float) -> Floats:
    """A slowing oscillation with harmonics, in microvolts."""
    count = int(length * RATE)
    course = np.geomspace(person.fast, person.slow, count) * rng.lognormal(0, 0.1)
    wobble = 1 + 0.08 * lfilter([0.05], [1, -0.99], rng.normal(size=count))
    phase = 2 * np.pi * np.cumsum(course * wobble) / RATE + rng.uniform(0, 2 * np.pi)
    wave: Floats = np.sin(phase) + person.sharp * np.sin(2 * phase + 0.8)
    return wave * person.size


def _add(values: Singles, first: float, wave: Floats, weight: Floats) -> None:
    """Add a weighted wave to the channels, cut at the end of the recording."""
    begin = int(first)
    target = values[begin : begin + len(wave)]
    target += np.outer(wave[: len(target)], weight).astype(np.float32)
