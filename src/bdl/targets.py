"""Targets: annotations of a recording as masses or states on the bins of a crop.

A `Crop` is the samples ``[first, first + samples)`` of a recording. Its bin ``b`` covers the crop's
samples ``[b * stride, min((b + 1) * stride, samples))``; the last, partial bin is kept.

- *Mass* (`event_targets`). Every event whose sample is in the crop contributes exactly one unit:
  the kernel is cut at the edges of the crop and the rest is scaled to sum to one. Two events in a
  bin add up. An event outside the crop contributes nothing, even if its kernel reaches inside. The
  mass of a bin is a difference of the kernel's running sums, so that no timeline of raw samples is
  needed.
- *Maps* (`event_maps`). Unit-peak proximity: the largest kernel value among a bin's samples,
  divided by the kernel's peak; where events overlap, the larger value is used. Neither additive
  nor conserved. Localized regression is trained on these.
- *Points* (`event_points`). One in a bin that contains an event's sample, otherwise zero.
- *Occupancy* (`occupancy`). The share of a bin's samples that are in an interval, onset sample
  included, offset sample excluded; overlapping intervals count once.

Events are given by their samples: see `bdl.labels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bdl.arrays import Floats, Longs
from bdl.compiled import compiled
from bdl.errors import InputError
from bdl.kernels import Kernel, cumulative
from bdl.sampling import bin_count

Samples = Longs


@dataclass(frozen=True)
class Crop:
    """A part of a recording, in bins.

    Parameters
    ----------
    first, samples
        First sample of the crop, and its length in samples.
    stride
        Samples per bin.

    Examples
    --------
    >>> Crop(first=20, samples=21, stride=10).bins
    3
    """

    first: int
    samples: int
    stride: int

    @property
    def bins(self) -> int:
        """Number of bins, with the last, partial one."""
        return bin_count(self.samples, self.stride)


def event_targets(
    events_by_type: Sequence[Samples], kernel: Kernel, crop: Crop, *, period: float
) -> Floats:
    """Compute the event mass of each bin and type.

    Parameters
    ----------
    events_by_type
        For each event type, the samples of its events on the recording's clock.
    kernel
        How the unit mass of an event is spread.
    crop
        The part of the recording.
    period
        Seconds from one sample to the next.

    Returns
    -------
    ndarray
        (bins, types); a column sums to the number of its events in the crop.

    Examples
    --------
    >>> from bdl.kernels import Hard
    >>> event_targets([np.array([3, 4, 50])], Hard(), Crop(2, 9, stride=4), period=1.0)
    array([[2.],
           [0.],
           [0.]])
    """
    out = np.zeros((crop.bins, len(events_by_type)))
    offset, sums = cumulative(kernel, period)
    for column, events in enumerate(events_by_type):
        places = _places(events, crop)
        _add_masses(out[:, column], places, offset, sums, crop.stride, crop.samples)
    return out


def event_maps(
    events_by_type: Sequence[Samples], kernel: Kernel, crop: Crop, *, period: float
) -> Floats:
    """Compute the unit-peak proximity of each bin and type.

    Arguments are those of `event_targets`; the result is (bins, types), in [0, 1].

    Examples
    --------
    >>> from bdl.kernels import Tolerance
    >>> steps = Tolerance(tolerances=(1.0, 3.0))
    >>> event_maps([np.array([4])], steps, Crop(0, 9, stride=2), period=1.0)[:, 0].tolist()
    [0.5, 1.0, 1.0, 0.5, 0.0]
    """
    out = np.zeros((crop.bins, len(events_by_type)))
    offset, weights = kernel.weights(period)
    weights = weights / weights.max()
    for column, events in enumerate(events_by_type):
        places = _places(events, crop)
        _raise_maps(out[:, column], places, offset, weights, crop.stride, crop.samples)
    return out


def event_points(events_by_type: Sequence[Samples], crop: Crop) -> Floats:
    """Mark every bin that contains an event, (bins, types), 0 or 1; see `event_targets`.

    Examples
    --------
    >>> event_points([np.array([3, 4, 9])], Crop(2, 9, stride=4))[:, 0].tolist()
    [1.0, 1.0, 0.0]
    """
    out = np.zeros((crop.bins, len(events_by_type)))
    for column, events in enumerate(events_by_type):
        places = _places(events, crop)
        visible = places[(places >= 0) & (places < crop.samples)]
        out[visible // crop.stride, column] = 1.0
    return out


def occupancy(intervals_by_type: Sequence[Samples], crop: Crop) -> Floats:
    """Compute the share of each bin's samples inside an interval of each type.

    Parameters
    ----------
    intervals_by_type
        For each interval type, (n, 2) samples ``[onset, offset)`` on the recording's clock.
    crop
        The part of the recording.

    Returns
    -------
    ndarray
        (bins, types), in [0, 1].

    Examples
    --------
    >>> occupancy([np.array([[2, 7]])], Crop(0, 10, stride=4))[:, 0].tolist()
    [0.5, 0.75, 0.0]
    """
    edges = np.minimum(np.arange(crop.bins + 1) * crop.stride, crop.samples)
    out = np.zeros((crop.bins, len(intervals_by_type)))
    for column, spans in enumerate(intervals_by_type):
        merged = _merge(spans)
        if not len(merged):
            continue
        lengths = merged[:, 1] - merged[:, 0]
        before = np.concatenate([[0], np.cumsum(lengths)])
        at = np.searchsorted(merged[:, 0], crop.first + edges, side="right")
        last = np.maximum(at - 1, 0)
        within = np.clip(crop.first + edges - merged[last, 0], 0, lengths[last])
        out[:, column] = np.diff(before[last] + within) / np.diff(edges)
    return out


def _places(events: Samples, crop: Crop) -> Samples:
    """Return the samples of the events counted from the start of the crop, also those outside."""
    if events.dtype.kind not in "iu":
        raise InputError(f"events are given by whole samples, got {events.dtype}")
    return events.astype(np.int64, copy=False) - crop.first


def _merge(spans: Samples) -> Samples:
    """Return the union of intervals as sorted, disjoint, nonempty intervals."""
    spans = spans[spans[:, 1] > spans[:, 0]]
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    if len(spans) < 2:
        return spans
    reach = np.maximum.accumulate(spans[:, 1])
    opens = np.concatenate([[True], spans[1:, 0] > reach[:-1]])
    closes = np.concatenate([opens[1:], [True]])
    return np.stack([spans[opens, 0], reach[closes]], axis=1)


@compiled
def _add_masses(
    out: Floats, places: Samples, offset: int, sums: Floats, stride: int, samples: int
) -> None:
    reach = len(sums) - 1
    for place in places:
        if place < 0 or place >= samples:
            continue
        begin = place + offset
        low = max(begin, 0)
        high = min(begin + reach, samples)
        before = sums[low - begin]
        visible = sums[high - begin] - before
        for b in range(low // stride, (high - 1) // stride + 1):
            upto = sums[min((b + 1) * stride, high) - begin]
            out[b] += (upto - before) / visible
            before = upto


@compiled
def _raise_maps(
    out: Floats, places: Samples, offset: int, weights: Floats, stride: int, samples: int
) -> None:
    # Kernels never rise away from the event, so a bin's largest value is at its nearest sample.
    for place in places:
        if place < 0 or place >= samples:
            continue
        begin = place + offset
        low = max(begin // stride, 0)
        high = min((begin + len(weights) - 1) // stride, len(out) - 1)
        for b in range(low, high + 1):
            nearest = min(max(place, b * stride), (b + 1) * stride - 1)
            out[b] = max(out[b], weights[nearest - begin])
