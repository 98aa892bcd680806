"""Target audit: what a kernel, a stride and a crop make of a data set's events.

Targets are built as for training: after cropping, each visible event carrying one unit. For
comparison the audit works out what the naive construction, which cuts a kernel at an edge without
scaling it back, would have lost. Crops tile each recording from its start; without a crop the
recording itself is the crop. Masses are in units of one event; ``largest_sample`` is the largest
target before binning (on the sample clock), ``largest_bin`` the largest after.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bdl.errors import ConfigError
from bdl.events import Events
from bdl.kernels import Kernel, cumulative
from bdl.labels import label
from bdl.recording import RecordingInfo
from bdl.sampling import bin_count
from bdl.targets import Samples, event_targets


@dataclass(frozen=True)
class Audit:
    """Figures of one event type.

    Parameters
    ----------
    type : event type.
    events : events of the type in the table.
    outside : events outside their recording, which no target shows.
    placed : events that lie in a crop.
    mass : total target mass; equals ``placed``.
    worst : largest deviation of a crop's mass from its number of events.
    touched : placed events whose kernel an edge of a crop cuts.
    lost : mass that naive construction would have lost.
    largest_sample, largest_bin : largest target before and after binning.
    collisions : bins that hold the places of two or more events.
    above_one : bins whose target exceeds one.
    """

    type: str
    events: int
    outside: int
    placed: int
    mass: float
    worst: float
    touched: int
    lost: float
    largest_sample: float
    largest_bin: float
    collisions: int
    above_one: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def audit(
    events: Events,
    infos: Iterable[RecordingInfo],
    *,
    types: Iterable[str],
    kernel: Kernel,
    stride: int,
    crop: float | None = None,
) -> tuple[Audit, ...]:
    """Audit the targets of each event type.

    Parameters
    ----------
    events : annotations.
    infos : the recordings they lie on.
    types : event types to audit.
    kernel : a value of `bdl.kernels`.
    stride : samples a bin.
    crop : length of the crops in seconds; None for whole recordings.

    >>> from bdl.kernels import Gaussian
    >>> info = RecordingInfo("a", 17280, ("x",), 5.0)
    >>> one = Events.of("a", "onset", [36000.0])
    >>> found, = audit(one, [info], types=["onset"], kernel=Gaussian(sigma=250.0), stride=10)
    >>> found.placed, round(found.mass, 12), found.touched
    (1, 1.0, 0)
    """
    if crop is not None and not crop > 0:
        raise ConfigError(f"crop: a positive number of seconds expected, got {crop}")
    listed = [*infos]
    wanted = [*types]
    return tuple(_audit(events, listed, name, kernel, stride, crop) for name in wanted)


def _audit(
    events: Events,
    infos: list[RecordingInfo],
    name: str,
    kernel: Kernel,
    stride: int,
    crop: float | None,
) -> Audit:
    labels = label(events, infos, types=[name])
    mass = worst = lost = largest_sample = largest_bin = 0.0
    placed = touched = collisions = above = 0
    for info in infos:
        places = labels[info.id].events[0]
        size = info.samples if crop is None else max(stride, round(crop / info.period))
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
    known = {info.id for info in infos}
    rows = np.array([r in known for r in events.recordings], dtype=bool)[events.recording_code]
    total = int(((events.event == name) & rows).sum()) if len(events) else 0
    outside = sum(found.outside for found in labels.values())
    return Audit(
        name, total, outside, placed, mass, worst, touched, lost, largest_sample, largest_bin,
        collisions, above,
    )  # fmt: skip


def _targets(
    local: Samples, kernel: Kernel, period: float, stride: int, samples: int
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Target of the bins that the events reach; the long empty rest is left out.

    Only the stretch from the first to the last event and a kernel's reach around it is built,
    cut to whole bins, so that an audit of long recordings stays cheap.
    """
    offset, sums = cumulative(kernel, period)
    reach = max(-offset, len(sums) - 1 + offset) + 1
    begin = max(0, (int(local.min()) - reach) // stride * stride)
    end = min(samples, (int(local.max()) + reach) // stride * stride + stride)
    return event_targets(
        [local], kernel, period=period, stride=stride, first=begin, samples=end - begin
    )[: bin_count(end - begin, stride), 0]


def _cut(
    local: Samples, kernel: Kernel, period: float, samples: int
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Mass of each event's kernel that lies outside the crop."""
    offset, sums = cumulative(kernel, period)
    reach = len(sums) - 1
    low = np.clip(-(local + offset), 0, reach)
    high = np.clip(samples - (local + offset), 0, reach)
    return np.asarray(1.0 - (sums[high] - sums[low]))
