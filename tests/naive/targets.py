"""Targets the plain way: a timeline of raw samples, then sums over bins. Slow and obvious."""

from __future__ import annotations

import numpy as np

from bdl.kernels import Gaussian, Hard, RightGaussian, Tolerance


def shape(kernel, distance, period):
    """Kernel value at whole sample distances, straight from its formula, not normalised."""
    seconds = distance * period

    def within(reach):
        return np.abs(distance) <= reach / period * (1 + 1e-9) + 1e-9

    if isinstance(kernel, Hard):
        return (distance == 0) * 1.0
    if isinstance(kernel, Gaussian):
        return np.exp(-(seconds**2) / (2 * kernel.sigma**2)) * within(3 * kernel.sigma)
    if isinstance(kernel, RightGaussian):
        bell = np.exp(-(seconds**2) / (2 * kernel.sigma**2)) * within(3 * kernel.sigma)
        return bell * (distance >= 0)
    assert isinstance(kernel, Tolerance)
    return sum(within(t * kernel.width) * 1.0 for t in kernel.tolerances)


def raw_timeline(places, kernel, period, first, samples):
    """Event mass of every sample of the crop."""
    timeline = np.zeros(samples)
    for place in places:
        if first <= place < first + samples:
            values = shape(kernel, np.arange(first, first + samples) - place, period)
            timeline += values / values.sum()
    return timeline


def bins(timeline, stride):
    """The samples of each bin."""
    return [timeline[at : at + stride] for at in range(0, len(timeline), stride)]


def event_targets(places, kernel, period, stride, first, samples):
    """Event mass of every bin."""
    timeline = raw_timeline(places, kernel, period, first, samples)
    return np.array([part.sum() for part in bins(timeline, stride)])


def event_maps(places, kernel, period, stride, first, samples):
    """Largest unit-peak kernel value of every bin."""
    timeline = np.zeros(samples)
    for place in places:
        if first <= place < first + samples:
            values = shape(kernel, np.arange(first, first + samples) - place, period)
            timeline = np.maximum(timeline, values / shape(kernel, np.zeros(1), period)[0])
    return np.array([part.max() for part in bins(timeline, stride)])


def occupancy(spans, stride, first, samples):
    """Share of every bin's samples inside any interval."""
    inside = np.zeros(samples, dtype=bool)
    for onset, offset in spans:
        inside[max(onset - first, 0) : max(offset - first, 0)] = True
    return np.array([part.mean() for part in bins(inside, stride)])
