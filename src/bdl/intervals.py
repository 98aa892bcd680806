"""Intervals: pairs of an onset and an offset event.

`IntervalType` names the two event types of an interval and `Intervals` is a table of intervals;
`bdl.pairing.pair` makes that table from events. Times are in seconds from the start of the
recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bdl.arrays import Floats, Ints
from bdl.errors import ConfigError, InputError, require
from bdl.frames import Tabular, counts_text

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ENDS = (("onset", "offset"), ("onset", "wakeup"), ("start", "end"), ("begin", "end"), ("on", "off"))


@dataclass(frozen=True)
class IntervalType:
    """Name of an interval and of the two event types that are its ends.

    Parameters
    ----------
    name
        Name of the interval.
    onset, offset
        Event types of its start and its end.

    Examples
    --------
    >>> IntervalType("sleep", onset="onset", offset="wakeup")
    IntervalType(name='sleep', onset='onset', offset='wakeup')
    >>> IntervalType.named("seizure").offset
    'seizure:offset'
    """

    name: str
    onset: str
    offset: str

    @classmethod
    def named(cls, name: str) -> IntervalType:
        """The interval type whose event types are ``NAME:onset`` and ``NAME:offset``."""
        return cls(name, f"{name}:onset", f"{name}:offset")

    @classmethod
    def parse(cls, text: str) -> IntervalType:
        """An interval type from ``NAME=ONSET,OFFSET``, or ``NAME`` for ``NAME:onset`` and so on.

        Examples
        --------
        >>> IntervalType.parse("sleep=onset,wakeup")
        IntervalType(name='sleep', onset='onset', offset='wakeup')
        """
        name, equals, events = text.partition("=")
        ends = [end.strip() for end in events.split(",")]
        if not name or (equals and (len(ends) != 2 or not all(ends))):
            raise ConfigError(f"interval {text!r} (--interval): NAME=ONSET,OFFSET or NAME expected")
        return cls(name, *ends) if equals else cls.named(name)


def likely_intervals(types: Sequence[str]) -> tuple[IntervalType, ...]:
    """Interval types that the names of event types suggest, such as onset and wakeup.

    Examples
    --------
    >>> likely_intervals(["seizure:onset", "seizure:offset", "beat"])
    (IntervalType(name='seizure', onset='seizure:onset', offset='seizure:offset'),)
    """
    intervals = []
    for first in types:
        for begin, end in ENDS:
            last = first.removesuffix(begin) + end
            if first.endswith(begin) and last in types:
                name = first.removesuffix(begin).rstrip(":_- ") or "interval"
                intervals.append(IntervalType(name, first, last))
                break
    return tuple(intervals)


class Interval(NamedTuple):
    """One row of `Intervals`."""

    recording: str
    name: str
    start: float
    end: float
    score: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Tabular):
    """A table of intervals, usually made by `bdl.pairing.pair` or `Intervals.of`.

    Parameters
    ----------
    recordings, names
        Distinct names of recordings and of interval types that occur, sorted.
    recording_code, name_code
        (n,) index of each row's recording and interval type.
    start, end
        (n,) seconds, start not after end.
    score
        (n,) sum of the scores of both ends, or None without scores.
    unpaired
        Number of onsets and offsets that belong to no interval.

    Examples
    --------
    >>> rest = Intervals.of("a", "rest", [0.0, 9.0], [4.0, 9.5])
    >>> rest
    Intervals: 2 in 1 recording, 4.5 s in total
      rest  2
    >>> rest.of_recording("a").tolist()
    [[0.0, 4.0], [9.0, 9.5]]
    """

    recordings: tuple[str, ...]
    names: tuple[str, ...]
    recording_code: Ints
    name_code: Ints
    start: Floats
    end: Floats
    score: Floats | None = None
    unpaired: int = 0

    @classmethod
    def of(
        cls,
        recording: str | Sequence[str] | NDArray[np.object_],
        name: str | Sequence[str] | NDArray[np.object_],
        start: ArrayLike,
        end: ArrayLike,
        score: ArrayLike | None = None,
        *,
        unpaired: int = 0,
    ) -> Intervals:
        """Intervals from columns of one length; a single name holds for all rows."""
        starts, ends = (np.atleast_1d(np.asarray(c, dtype=np.float64)) for c in (start, end))
        scores = None if score is None else np.atleast_1d(np.asarray(score, dtype=np.float64))
        recordings, names = (
            [column] * len(starts) if isinstance(column, str) else list(column)
            for column in (recording, name)
        )
        columns = (starts, ends, recordings, names) + (() if scores is None else (scores,))
        lengths = {len(column) for column in columns}
        if len(lengths) != 1:
            raise InputError(f"intervals need columns of one length, got {sorted(lengths)}")
        invalid = ~(starts <= ends) | ~np.isfinite(starts) | ~np.isfinite(ends)
        if invalid.any():
            row = int(np.flatnonzero(invalid)[0])
            raise InputError(
                f"interval {names[row]!r} of recording {recordings[row]!r}, row {row}: a finite "
                f"start not after a finite end expected, got {starts[row]} to {ends[row]}"
            )
        coded = []
        for column in (recordings, names):
            distinct, code = np.unique(np.array(column, dtype=object), return_inverse=True)
            coded.append((tuple(distinct.tolist()), code.astype(np.int32)))
        (distinct_recordings, recording_code), (distinct_names, name_code) = coded
        codes = (recording_code, name_code)
        return cls(distinct_recordings, distinct_names, *codes, starts, ends, scores, unpaired)

    @classmethod
    def empty(cls) -> Intervals:
        """No intervals."""
        return cls.of([], [], [], [])

    @property
    def seconds(self) -> Floats:
        """(n,) duration of each interval."""
        return self.end - self.start

    def of_recording(self, recording: str, name: str | None = None) -> Floats:
        """Start and end of the intervals of one recording, (n, 2), in the order of the table.

        Parameters
        ----------
        recording
            Name of the recording; an unknown one has no intervals.
        name
            One interval type; all by default.
        """
        rows = np.zeros(len(self), dtype=bool)
        if recording in self.recordings:
            rows = self.recording_code == self.recordings.index(recording)
        if name is not None:
            code = self.names.index(name) if name in self.names else -1
            rows = rows & (self.name_code == code)
        return np.stack([self.start[rows], self.end[rows]], axis=1)

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name."""
        columns = {
            "recording": np.array(self.recordings, dtype=object)[self.recording_code],
            "name": np.array(self.names, dtype=object)[self.name_code],
            "start": self.start,
            "end": self.end,
        }
        return columns if self.score is None else {**columns, "score": self.score}

    def plot(self) -> Figure:
        """Draw each interval as a line at its recording, as an interactive plotly figure."""
        figure = require("plotly.graph_objects", "report").Figure()
        recordings = np.array(self.recordings, dtype=object)[self.recording_code]
        for code, name in enumerate(self.names):
            rows = np.flatnonzero(self.name_code == code)
            gaps = np.full(len(rows), np.nan)
            figure.add_scatter(
                x=np.stack([self.start[rows], self.end[rows], gaps], axis=1).ravel(),
                y=np.repeat(recordings[rows], 3),
                mode="lines",
                line={"width": 6},
                name=escape(name),
                showlegend=True,
            )
        figure.update_layout(xaxis_title="time", yaxis_title="recording")
        plot: Figure = figure
        return plot

    def __len__(self) -> int:
        return len(self.start)

    def __iter__(self) -> Iterator[Interval]:
        columns = (column.tolist() for column in self.columns().values())
        return (Interval(*row) for row in zip(*columns, strict=True))

    def __repr__(self) -> str:
        count = len(self.recordings)
        head = (
            f"Intervals: {len(self):,} in {count:,} recording{'' if count == 1 else 's'}, "
            f"{float(self.seconds.sum()):g} s in total"
        )
        return counts_text(head, self.names, self.name_code)
