"""Stretches of a recording whose samples are unreliable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bdl.arrays import Longs
from bdl.frames import Tabular
from bdl.recording_info import RecordingInfo
from bdl.value_readers import Values

StretchKind = Literal["flat", "clipped", "repeated", "non_wear"]
Spans = Longs  # (stretches, 2): first sample, and the one after the last


@dataclass(frozen=True)
class Stretches(Tabular):
    """Unreliable stretches of a recording, as `bdl.quality.Quality.find` returns them.

    Parameters
    ----------
    info
        The recording.
    stretches
        For each kind that was looked for, the stretches of each channel: sorted, disjoint rows of
        the first sample and of the one after the last.

    Examples
    --------
    >>> info = RecordingInfo("a", samples=10, channels=("x",), period=0.5)
    >>> stretches = Stretches(info, {"flat": (np.array([[2, 6], [8, 9]]),)})
    >>> stretches.share("flat", 0), stretches.longest("flat", 0)
    (0.5, 2.0)
    >>> stretches.to_polars().row(0)
    ('x', 'flat', 1.0, 3.0)
    >>> stretches.mask(np.arange(10, dtype=np.float32)[:, None]).ravel().tolist()
    [0.0, 1.0, nan, nan, nan, nan, 6.0, 7.0, nan, 9.0]
    """

    info: RecordingInfo
    stretches: Mapping[StretchKind, tuple[Spans, ...]]

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per stretch, its ends in seconds."""
        period = self.info.period
        rows = [
            (channel, kind, first * period, stop * period)
            for kind, by_channel in self.stretches.items()
            for channel, spans in zip(self.info.channels, by_channel, strict=True)
            for first, stop in spans.tolist()
        ]
        names = ("channel", "kind", "start", "end")
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def share(self, kind: StretchKind, channel: int) -> float:
        """Return the share of the recording that stretches of a kind take in a channel."""
        return int(self._lengths(kind, channel).sum()) / max(self.info.samples, 1)

    def longest(self, kind: StretchKind, channel: int) -> float:
        """Return the length of the longest stretch of a kind in a channel, in seconds."""
        return int(self._lengths(kind, channel).max(initial=0)) * self.info.period

    def _lengths(self, kind: StretchKind, channel: int) -> Longs:
        intervals = self.stretches[kind][channel]
        lengths: Longs = intervals[:, 1] - intervals[:, 0]
        return lengths

    @cached_property
    def _intervals(self) -> list[Spans]:
        """Stretches of all kinds of each channel, in no order."""
        return [
            np.concatenate([by_channel[channel] for by_channel in self.stretches.values()])
            for channel in range(len(self.info.channels))
        ]

    def mask(self, values: Values, first: int = 0) -> Values:
        """Return a copy of some rows in which the samples of all stretches are missing.

        Parameters
        ----------
        values
            (rows, channels) of the recording.
        first
            Number of the first of these rows.
        """
        masked = np.array(values, dtype=np.float32)
        rows = len(masked)
        for channel, intervals in enumerate(self._intervals):
            places = np.clip(intervals - first, 0, rows)
            places = places[places[:, 0] < places[:, 1]]
            if len(places):
                changes = np.zeros(rows + 1, np.int32)
                np.add.at(changes, places[:, 0], 1)
                np.subtract.at(changes, places[:, 1], 1)
                masked[np.cumsum(changes[:-1]) > 0, channel] = np.nan
        return masked
