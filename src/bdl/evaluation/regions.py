"""Scored regions: the parts of recordings in which detections and events count.

A region is half open, ``start <= time < end``, in seconds. Where regions are given, nothing else
is scored: a recording without a region is not scored at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bdl.column_values import ColumnPlace
from bdl.errors import InputError
from bdl.frames import Frame, encode, numbers, open_frame
from bdl.recording_info import RecordingInfo

Span = tuple[float, float]


@dataclass(frozen=True)
class Regions:
    """Scored spans of each recording, in order and without overlap.

    Parameters
    ----------
    spans
        For each recording pairs of start and end in seconds; `Regions.of` sorts and joins them.

    Examples
    --------
    >>> regions = Regions.of({"a": [(50, 60), (0, 10), (5, 20)]})
    >>> regions
    Regions(spans={'a': ((0.0, 20.0), (50.0, 60.0))})
    >>> regions.durations
    {'a': 30.0}
    """

    spans: Mapping[str, tuple[Span, ...]]

    @classmethod
    def of(cls, spans: Mapping[str, Iterable[Span]]) -> Regions:
        """Regions from (start, end) pairs in seconds; touching or overlapping ones are joined."""
        joined = {}
        for recording, pairs in spans.items():
            listed: list[Span] = []
            for start, end in sorted((float(a), float(b)) for a, b in pairs):
                if not start < end:
                    raise InputError(
                        f"region of recording {recording!r}: start < end expected, got "
                        f"({start}, {end})"
                    )
                if listed and start <= listed[-1][1]:
                    listed[-1] = (listed[-1][0], max(end, listed[-1][1]))
                else:
                    listed.append((start, end))
            joined[recording] = tuple(listed)
        return cls(joined)

    @classmethod
    def annotated(cls, infos: Iterable[RecordingInfo]) -> Regions | None:
        """The annotated spans of recordings; None if all are annotated as a whole.

        Examples
        --------
        >>> info = RecordingInfo("a", 60, ("x",), 1.0, annotated=((0.0, 20.0),))
        >>> Regions.annotated([info])
        Regions(spans={'a': ((0.0, 20.0),)})
        """
        listed = [*infos]
        if all(info.annotated is None for info in listed):
            return None
        return cls.of({info.id: info.annotated or ((0.0, info.duration),) for info in listed})

    @classmethod
    def from_frame(
        cls, frame: Frame, *, recording: str = "recording", source: str = "table of regions"
    ) -> Regions:
        """Regions from a table with one span per row: columns of recordings, start and end.

        Parameters
        ----------
        frame
            A pandas, polars or pyarrow table.
        recording
            Name of the column of recordings.
        source
            What the table is, for error messages.

        Examples
        --------
        >>> import polars as pl
        >>> Regions.from_frame(pl.DataFrame({"recording": ["a"], "start": [0], "end": [9]}))
        Regions(spans={'a': ((0.0, 9.0),)})
        """
        table = open_frame(frame, (recording, "start", "end"), source)
        names, codes = encode(table[recording], ColumnPlace(source, recording))
        starts = numbers(table["start"], ColumnPlace(source, "start"))
        ends = numbers(table["end"], ColumnPlace(source, "end"))
        lacking = np.flatnonzero(~np.isfinite(starts) | ~np.isfinite(ends))
        if len(lacking):
            raise InputError(f"{source}: row {lacking[0]} lacks its start or end")
        spans: dict[str, list[Span]] = {}
        for code, *span in zip(codes.tolist(), starts.tolist(), ends.tolist(), strict=True):
            spans.setdefault(names[code], []).append((span[0], span[1]))
        return cls.of(spans)

    @property
    def durations(self) -> dict[str, float]:
        """Scored seconds of each recording."""
        return {name: sum(b - a for a, b in spans) for name, spans in self.spans.items()}

    def holds(
        self, names: tuple[str, ...], code: NDArray[np.int32], time: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Which of the rows (code into ``names``, time) are in a region; negative codes are not."""
        inside = np.zeros(len(time), dtype=bool)
        order = np.argsort(code, kind="stable")
        cuts = np.searchsorted(code[order], np.arange(len(names) + 1))
        for i, name in enumerate(names):
            spans = self.spans.get(name)
            rows = order[cuts[i] : cuts[i + 1]]
            if spans and len(rows):
                edges = np.array(spans).ravel()
                inside[rows] = np.searchsorted(edges, time[rows], side="right") % 2 == 1
        return inside
