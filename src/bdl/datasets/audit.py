"""Audit of training targets, as a kernel, a stride and windows make them from events.

Targets are built as for training: after cropping, with one unit of mass per visible event. For
comparison the audit computes the mass that the naive construction, which cuts a kernel at an edge
without renormalising it, would have lost. Windows tile each recording from its start; without a
length of windows the whole recording is one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.errors import ConfigError
from bdl.events import Events
from bdl.frames import Tabular, columns_of
from bdl.kernels import Kernel, cumulative
from bdl.labels import label
from bdl.recording import RecordingInfo
from bdl.table_plots import Drawing
from bdl.targets import Crop, Samples, event_targets


@dataclass(frozen=True)
class Audit:
    """The audit of one event type."""

    type: str
    events: int
    outside: int  # number of events outside their recording, which have no target
    placed: int  # number of events within a window
    mass: float  # total target mass in units of one event; equals ``placed``
    worst: float  # largest deviation of the mass of a window from its number of events
    touched: int  # number of placed events whose kernel is cut by an edge of a window
    lost: float  # mass that the naive construction would have lost
    largest_sample: float  # largest target per sample, before binning
    largest_bin: float  # largest target per bin
    collisions: int  # number of bins with two or more events
    above_one: int  # number of bins whose target is greater than one

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


class Audits(tuple[Audit, ...], Tabular):
    """The audits of several event types, as a tuple and as a table."""

    drawing = Drawing("type", "largest_bin", mode="markers")

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per event type."""
        return columns_of(self, Audit)


def audit(
    events: Events,
    infos: Iterable[RecordingInfo],
    *,
    types: Iterable[str],
    kernel: Kernel,
    stride: int,
    window: float | None = None,
) -> Audits:
    """Audit the targets of each event type, in windows of so many seconds or whole recordings.

    Examples
    --------
    >>> from bdl.kernels import Gaussian
    >>> info = RecordingInfo("a", 17280, ("x",), 5.0)
    >>> events = Events.of("a", "onset", [36000.0])
    >>> onsets, = audit(events, [info], types=["onset"], kernel=Gaussian(sigma=250.0), stride=10)
    >>> onsets.placed, round(onsets.mass, 12), onsets.touched
    (1, 1.0, 0)
    """
    if window is not None and not window > 0:
        raise ConfigError(f"window: a positive number of seconds expected, got {window}")
    listed = [*infos]
    return Audits(_audit(events, listed, type, kernel, stride, window) for type in types)


def _audit(
    events: Events,
    infos: list[RecordingInfo],
    name: str,
    kernel: Kernel,
    stride: int,
    window: float | None,
) -> Audit:
    labels = label(events, infos, types=[name])
    mass = worst = lost = largest_sample = largest_bin = 0.0
    placed = touched = collisions = above = 0
    for info in infos:
        places = labels[info.id].events[0]
        size = info.samples if window is None else max(stride, round(window / info.period))
        for first in range(0, info.samples, size):
            samples = min(size, info.samples - first)
            local = places[(places >= first) & (places < first + samples)] - first
            if not len(local):
                continue
            target = _targets(local, kernel, info.period, stride, samples)
            mass += float(target.sum())
            worst = max(worst, abs(float(target.sum()) - len(local)))
            fine = _targets(local, kernel, info.period, 1, samples)
            largest_sample = max(largest_sample, float(fine.max()))
            largest_bin = max(largest_bin, float(target.max()))
            above += int((target > 1 + 1e-12).sum())
            cut = _cut(local, kernel, info.period, samples)
            touched += int((cut > 0).sum())
            lost += float(cut.sum())
            collisions += int((np.bincount(local // stride) > 1).sum())
            placed += len(local)
    total = len(events.select(recordings={info.id for info in infos}, types=[name]))
    outside = sum(recording.outside for recording in labels.values())
    return Audit(
        name, total, outside, placed, mass, worst, touched, lost, largest_sample, largest_bin,
        collisions, above,
    )  # fmt: skip


def _targets(
    local: Samples, kernel: Kernel, period: float, stride: int, samples: int
) -> NDArray[np.float64]:
    """Targets of the bins around the events.

    Only the bins from the first to the last event and within reach of the kernel are computed,
    so that an audit of long recordings is cheap.
    """
    offset, sums = cumulative(kernel, period)
    reach = max(-offset, len(sums) - 1 + offset) + 1
    begin = max(0, (int(local.min()) - reach) // stride * stride)
    end = min(samples, (int(local.max()) + reach) // stride * stride + stride)
    return event_targets([local], kernel, Crop(begin, end - begin, stride), period=period)[:, 0]


def _cut(local: Samples, kernel: Kernel, period: float, samples: int) -> NDArray[np.float64]:
    """Mass of each event's kernel outside the window."""
    offset, sums = cumulative(kernel, period)
    reach = len(sums) - 1
    low = np.clip(-(local + offset), 0, reach)
    high = np.clip(samples - (local + offset), 0, reach)
    return np.asarray(1.0 - (sums[high] - sums[low]))
