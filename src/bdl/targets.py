"""Targets: annotations of a recording as masses or states on the bins of a crop.

A crop is the samples ``[first, first + samples)`` of a recording. Its bin ``b`` covers the crop's
samples ``[b * stride, min((b + 1) * stride, samples))``; the last, partial bin is kept.

- *Mass* (`event_targets`). Every event whose sample lies in the crop contributes exactly one
  unit: the kernel is cut at the crop's edges and what remains is scaled back to one. Two events
  in a bin add. An event outside the crop contributes nothing, however far its kernel reaches.
  A bin's mass is a difference of the kernel's running sums, so that no timeline of raw samples is
  ever made.
- *Maps* (`event_maps`). Unit-peak proximity: the largest kernel value among a bin's samples over
  the kernel's peak; where events overlap the larger one stands. Neither additive nor conserved:
  this is what localised regression is trained on.
- *Points* (`event_points`). One in a bin that holds an event's sample, else zero.
- *Occupancy* (`occupancy`). The share of a bin's samples that lie in an interval, onset sample
  included, offset sample excluded; overlapping intervals count once.

Places are on the sample clock already: see `bdl.labels`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bdl.compiled import compiled
from bdl.errors import InputError
from bdl.kernels import Kernel, cumulative
from bdl.sampling import bin_count

Samples = NDArray[np.int64]
Floats = NDArray[np.float64]


def event_targets(
    samples_by_type: Sequence[Samples],
    kernel: Kernel,
    *,
    period: float,
    stride: int,
    first: int,
    samples: int,
) -> Floats:
    """Event mass of each bin and type: (bins, types); a column sums to its visible events.

    >>> from bdl.kernels import Hard
    >>> event_targets([np.array([3, 4, 50])], Hard(), period=1.0, stride=4, first=2, samples=9)
    array([[2.],
           [0.],
           [0.]])
    """
    out = np.zeros((bin_count(samples, stride), len(samples_by_type)))
    offset, sums = cumulative(kernel, period)
    for column, places in enumerate(samples_by_type):
        _add_masses(out[:, column], _visible(places, first, samples), offset, sums, stride, samples)
    return out


def event_maps(
    samples_by_type: Sequence[Samples],
    kernel: Kernel,
    *,
    period: float,
    stride: int,
    first: int,
    samples: int,
) -> Floats:
    """Unit-peak proximity of each bin and type: (bins, types), in [0, 1].

    >>> from bdl.kernels import Tolerance
    >>> steps = Tolerance(tolerances=(1.0, 3.0))
    >>> event_maps([np.array([4])], steps, period=1.0, stride=2, first=0, samples=9)[:, 0].tolist()
    [0.5, 1.0, 1.0, 0.5, 0.0]
    """
    out = np.zeros((bin_count(samples, stride), len(samples_by_type)))
    offset, weights = kernel.weights(period)
    weights = weights / weights.max()
    for column, places in enumerate(samples_by_type):
        _raise_maps(out[:, column], _visible(places, first, samples), offset, weights, stride)
    return out


def event_points(
    samples_by_type: Sequence[Samples], *, stride: int, first: int, samples: int
) -> Floats:
    """One in every bin that holds an event: (bins, types).

    >>> event_points([np.array([3, 4, 9])], stride=4, first=2, samples=9)[:, 0].tolist()
    [1.0, 1.0, 0.0]
    """
    out = np.zeros((bin_count(samples, stride), len(samples_by_type)))
    for column, places in enumerate(samples_by_type):
        out[_visible(places, first, samples) // stride, column] = 1.0
    return out


def occupancy(
    intervals_by_type: Sequence[Samples], *, stride: int, first: int, samples: int
) -> Floats:
    """Share of each bin's samples inside an interval of each type: (bins, types), in [0, 1].

    >>> occupancy([np.array([[2, 7]])], stride=4, first=0, samples=10)[:, 0].tolist()
    [0.5, 0.75, 0.0]
    """
    edges = np.minimum(np.arange(bin_count(samples, stride) + 1) * stride, samples)
    out = np.zeros((len(edges) - 1, len(intervals_by_type)))
    for column, spans in enumerate(intervals_by_type):
        merged = _merge(spans)
        if not len(merged):
            continue
        lengths = merged[:, 1] - merged[:, 0]
        before = np.concatenate([[0], np.cumsum(lengths)])
        at = np.searchsorted(merged[:, 0], first + edges, side="right")
        last = np.maximum(at - 1, 0)
        within = np.clip(first + edges - merged[last, 0], 0, lengths[last])
        out[:, column] = np.diff(before[last] + within) / np.diff(edges)
    return out


def _visible(places: Samples, first: int, samples: int) -> Samples:
    """Crop-local samples of the events inside the crop."""
    if places.dtype.kind not in "iu":
        raise InputError(f"event places are whole samples, got {places.dtype}")
    local = places.astype(np.int64) - first
    return local[(local >= 0) & (local < samples)]


def _merge(spans: Samples) -> Samples:
    """The union of intervals as sorted, disjoint, nonempty ones."""
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
def _raise_maps(out: Floats, places: Samples, offset: int, weights: Floats, stride: int) -> None:
    # Kernels never rise away from the event, so a bin's largest value is at its nearest sample.
    for place in places:
        begin = place + offset
        low = max(begin // stride, 0)
        high = min((begin + len(weights) - 1) // stride, len(out) - 1)
        for b in range(low, high + 1):
            nearest = min(max(place, b * stride), (b + 1) * stride - 1)
            out[b] = max(out[b], weights[nearest - begin])
