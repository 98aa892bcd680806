"""Events: one table of (recording, event type, time in seconds), with scores for detections.

Detections of a stream also have the time at which they were issued.

Recordings without events, repeated times and several types are valid. Names are kept as integer
codes into sorted tuples of distinct names, so that sorting, matching and bootstrapping work on
integers. Rows keep their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bdl import frames
from bdl.arrays import Floats
from bdl.errors import InputError
from bdl.frames import Backend, Codes, Tabular
from bdl.table_plots import Drawing


@dataclass(frozen=True, eq=False)
class Events(Tabular):
    """A table of events; `Events.of` and `Events.from_frame` make one.

    Parameters
    ----------
    recordings, types
        Distinct names, sorted.
    recording_code, type_code
        (n,) index of each row's name.
    time
        (n,) seconds from the recording's start, finite.
    score
        (n,) ranking score (never NaN), or None where the events are annotations.
    dropped
        Number of rows left out on reading because their time or score was missing.
    backend
        Kind of data frame the table came from, and that `to_frame` gives back; None for any.
    notes
        How the table was read, for a person.
    issued
        (n,) seconds from the recording's start at which each detection was issued, finite; None
        where that is not known.

    Examples
    --------
    >>> Events.of("night1", ["onset", "wakeup"], [3600.0, 30000.0])
    Events: 2 in 1 recording
      onset   1
      wakeup  1
    """

    drawing = Drawing("time", "recording", by=("event",), mode="markers")

    recordings: tuple[str, ...]
    types: tuple[str, ...]
    recording_code: Codes
    type_code: Codes
    time: Floats
    score: Floats | None = None
    dropped: int = 0
    backend: Backend | None = None
    notes: tuple[str, ...] = ()
    issued: Floats | None = None

    @classmethod
    def of(
        cls,
        recording: str | Sequence[str] | NDArray[Any],
        event: str | Sequence[str] | NDArray[Any],
        time: ArrayLike,
        score: ArrayLike | None = None,
        issued: ArrayLike | None = None,
    ) -> Events:
        """Events from columns of one length; a single name holds for all rows.

        Parameters
        ----------
        recording, event
            Names of the recording and the event type of each row.
        time
            Seconds from the start of the recording.
        score
            Ranking score of each row; None for annotations.
        issued
            Seconds from the start of the recording at which each detection was issued.

        Examples
        --------
        >>> Events.of(["a", "b"], "beat", [1.0, 2.0]).recordings
        ('a', 'b')
        """
        numbers: dict[str, Any] = {
            name: np.array(column, dtype=np.float64, ndmin=1)
            for name, column in (("time", time), ("score", score), ("issued", issued))
            if column is not None
        }
        rows = len(numbers["time"])
        names = [[n] * rows if isinstance(n, str) else n for n in (recording, event)]
        columns = {"recording": names[0], "event": names[1], **numbers}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) != 1:
            raise InputError(f"events need columns of one length, got {lengths}")
        recordings, recording_code = frames.encode_names(names[0], "recording")
        types, type_code = frames.encode_names(names[1], "event")
        events = cls(recordings, types, recording_code, type_code, **numbers)
        return events._checked("error", "event table")

    @classmethod
    def empty(cls, *, scored: bool = False, issued: bool = False) -> Events:
        """A table without rows, optionally with columns of scores and times of issue.

        Examples
        --------
        >>> len(Events.empty())
        0
        """
        floats, codes = np.zeros((3, 0)), np.zeros((2, 0), np.int32)
        events = cls((), (), codes[0], codes[1], floats[0], floats[1] if scored else None)
        return replace(events, issued=floats[2]) if issued else events

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        recording: str | None = None,
        event: str | None = None,
        time: str | None = None,
        score: str | None = "score",
        issued: str | None = "issued",
        incomplete: Literal["error", "drop"] = "error",
        source: str = "event table",
    ) -> Events:
        """Events from a pandas, polars or pyarrow table.

        Parameters
        ----------
        frame
            The table, one row per event.
        recording, event, time
            Names of the columns; those with an obvious name are found (see `bdl.column_names`).
        score, issued
            Names of the columns of scores and of times of issue, used if they exist; None ignores
            them. Without a column ``score``, one with another obvious name is taken.
        incomplete
            Whether a row without time, or without score in a table that has scores, is an error
            or is dropped and counted.
        source
            What the table is, for error messages.

        Examples
        --------
        >>> import polars as pl
        >>> frame = pl.DataFrame({"recording": ["a"], "event": ["beat"], "time": [1.5]})
        >>> Events.from_frame(frame).to_frame().columns
        ['recording', 'event', 'time']
        """
        named = {"recording": recording, "event": event, "time": time}
        columns = frames.event_columns(frame, named, score=score, issued=issued, source=source)
        return cls(**columns)._checked(incomplete, source)

    def _checked(self, rule: Literal["error", "drop"], source: str) -> Events:
        """The same events; those without a finite time or a score are an error or left out."""
        incomplete = frames.incomplete_rows(self._numbers(), rule, source)
        if not incomplete.any():
            return self
        return replace(self._rows(~incomplete), dropped=int(incomplete.sum()))

    def to_frame(self, backend: Backend | None = None) -> Any:
        """The table as a data frame of the kind it came from, or of ``backend``."""
        return super().to_frame(backend or self.backend)

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name."""
        return {"recording": self.recording, "event": self.event, **self._numbers()}

    def _numbers(self) -> dict[str, Floats]:
        """The columns of numbers that the table has."""
        columns = {"time": self.time, "score": self.score, "issued": self.issued}
        return {name: column for name, column in columns.items() if column is not None}

    @property
    def recording(self) -> NDArray[np.object_]:
        """Recording id of each row."""
        return np.array(self.recordings, dtype=object)[self.recording_code]

    @property
    def event(self) -> NDArray[np.object_]:
        """Event type of each row."""
        return np.array(self.types, dtype=object)[self.type_code]

    def times(self, recording: str, event: str) -> Floats:
        """Sorted times of one recording and type; empty where there are none.

        Examples
        --------
        >>> Events.of("a", "beat", [2.0, 1.0]).times("a", "beat").tolist()
        [1.0, 2.0]
        """
        if recording not in self.recordings or event not in self.types:
            return np.zeros(0)
        rows = self.recording_code == self.recordings.index(recording)
        return np.sort(self.time[rows & (self.type_code == self.types.index(event))])

    def select(
        self, *, recordings: Iterable[str] | None = None, types: Iterable[str] | None = None
    ) -> Events:
        """The rows of the given recordings and types, in their order.

        Parameters
        ----------
        recordings, types
            Names; None takes all.

        Examples
        --------
        >>> Events.of(["a", "b"], "beat", [1.0, 2.0]).select(recordings=["b"]).time.tolist()
        [2.0]
        """
        chosen = np.ones(len(self), dtype=bool)
        for selected, names, codes in (
            (recordings, self.recordings, self.recording_code),
            (types, self.types, self.type_code),
        ):
            if selected is not None:
                among = set(selected)
                chosen &= np.array([name in among for name in names], dtype=bool)[codes]
        return self._rows(chosen)

    def above(self, threshold: float) -> Events:
        """The rows with at least this score; all rows where there are no scores.

        Examples
        --------
        >>> Events.of("a", "beat", [1.0, 2.0], [0.9, 0.1]).above(0.5).time.tolist()
        [1.0]
        """
        return self if self.score is None else self._rows(self.score >= threshold)

    @classmethod
    def concat(cls, parts: Iterable[Events]) -> Events:
        """All rows of several tables, with scores and times of issue only if each of them has some.

        Examples
        --------
        >>> len(Events.concat([Events.of("a", "beat", [1.0]), Events.empty()]))
        1
        """
        tables = [*parts]
        filled = [table for table in tables if len(table)]
        columns = [table._numbers() for table in filled or tables or [cls.empty()]]
        numbers: dict[str, Any] = {
            name: np.concatenate([table[name] for table in columns])
            for name in ("time", "score", "issued")
            if all(name in table for table in columns)
        }
        if not filled:
            return cls.empty(scored="score" in numbers, issued="issued" in numbers)
        recordings, recording_code = frames.merge(
            [(table.recordings, table.recording_code) for table in filled]
        )
        types, type_code = frames.merge([(table.types, table.type_code) for table in filled])
        notes = tuple(note for table in filled for note in table.notes)
        events = cls(recordings, types, recording_code, type_code, **numbers, notes=notes)
        return replace(events, dropped=sum(t.dropped for t in filled), backend=filled[0].backend)

    def __len__(self) -> int:
        return len(self.time)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Events):
            return NotImplemented
        columns, others = self.columns(), other.columns()
        return columns.keys() == others.keys() and all(
            np.array_equal(columns[name], others[name]) for name in columns
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        used = len(np.unique(self.recording_code))
        scored = "" if self.score is None else ", scored"
        head = f"Events: {len(self):,} in {used:,} recording{'' if used == 1 else 's'}{scored}"
        return frames.counts_text(head, self.types, self.type_code)

    def _rows(self, keep: NDArray[Any]) -> Events:
        recording, event = self.recording_code[keep], self.type_code[keep]
        numbers = {name: column[keep] for name, column in self._numbers().items()}
        return replace(self, recording_code=recording, type_code=event, **numbers)
