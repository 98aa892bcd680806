"""Traits of a patient: where seizures begin, their shape, and the rest of the EEG."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bdl.arrays import Floats
from bdl.datasets.chbmit.eeg_files import CHANNELS

# Approximate positions of electrodes on the scalp: left-right and front-back, both in [-1, 1].
_ELECTRODES = {
    "FP1": (-0.3, 1.0), "FP2": (0.3, 1.0), "F7": (-0.8, 0.6), "F8": (0.8, 0.6), "F3": (-0.4, 0.5),
    "F4": (0.4, 0.5), "FZ": (0.0, 0.5), "T7": (-1.0, 0.0), "T8": (1.0, 0.0), "C3": (-0.5, 0.0),
    "C4": (0.5, 0.0), "CZ": (0.0, 0.0), "P7": (-0.8, -0.6), "P8": (0.8, -0.6), "P3": (-0.4, -0.5),
    "P4": (0.4, -0.5), "PZ": (0.0, -0.5), "O1": (-0.3, -1.0), "O2": (0.3, -1.0),
    "FT9": (-1.0, 0.3), "FT10": (1.0, 0.3),
}  # fmt: skip
POSITIONS = np.array(
    [np.mean([_ELECTRODES[end] for end in name.split("-")], axis=0) for name in CHANNELS]
)
FRONTAL = np.array([name.startswith("FP") for name in CHANNELS])
POSTERIOR = np.array(["O" in name for name in CHANNELS])
TEMPORAL = np.array(["T" in name for name in CHANNELS])


@dataclass(frozen=True)
class Patient:
    """Traits of one case."""

    rate: float  # seizures per hour
    length: float  # median length of a seizure in seconds
    fast: float  # frequency of the rhythm at its beginning in hertz
    slow: float  # frequency at its end
    sharp: float  # amplitude of the second harmonic relative to the first
    size: float  # amplitude of a fully developed seizure in microvolts
    build: float  # seconds until a seizure has its full amplitude
    focus: Floats  # weight of each channel at the beginning, shape (21,)
    spread: Floats  # weight of each channel when fully spread, shape (21,)
    background: float  # amplitude in microvolts
    alpha: float  # amplitude in microvolts
    blinks: float  # blinks per hour
    muscle: float  # muscle artefacts per hour
    chewing: float  # episodes of chewing per hour
    discharges: float  # short discharges per hour
    sources: Floats  # mixing matrix of background sources, shape (8, 21)


def draw(rng: Generator) -> Patient:
    """Draw a random case."""
    centre = rng.uniform([-1, -0.8], [1, 1])
    near = np.exp(-((POSITIONS - centre) ** 2).sum(axis=1) / 0.25)
    wide = np.exp(-((POSITIONS - centre) ** 2).sum(axis=1) / rng.uniform(0.6, 6))
    return Patient(
        rate=0.5 + float(rng.gamma(1.0, 0.5)),
        length=float(np.clip(rng.lognormal(np.log(45), 0.5), 12, 150)),
        fast=float(rng.uniform(4.0, 9.0)),
        slow=float(rng.uniform(1.5, 3.5)),
        sharp=float(rng.uniform(0.1, 0.7)),
        size=float(rng.lognormal(np.log(110), 0.4)),
        build=float(rng.uniform(3, 20)),
        focus=near * rng.uniform(0.6, 1.0, size=len(CHANNELS)),
        spread=wide * rng.uniform(0.5, 1.0, size=len(CHANNELS)),
        background=float(rng.lognormal(np.log(22), 0.25)),
        alpha=float(rng.uniform(3, 14)),
        blinks=float(rng.uniform(100, 700)),
        muscle=float(rng.uniform(10, 60)),
        chewing=float(rng.uniform(0, 4)),
        discharges=float(rng.gamma(1.0, 8)),
        sources=rng.normal(size=(8, len(CHANNELS))) / np.sqrt(8),
    )
