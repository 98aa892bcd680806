"""Kaggle's event table: series_id, step, event, and a score for detections.

A step is a sample number, so that it takes the period to become seconds: time = step * period.
Rows without a step (nights that were not annotated) are dropped and counted by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from bdl.arrow import from_numpy, from_texts
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats.events.event_format import EventFormat
from bdl.formats.events.event_table import EventTable
from bdl.formats.table_writing import write_table
from bdl.recording import Recordings

_COLUMNS = ("series_id", "event", "step", "score")


class KaggleEvents(EventFormat):
    """Kaggle tables of series_id, step and event.

    Parameters
    ----------
    period
        Seconds per step.
    incomplete
        What to do with rows without a step or score: ``drop`` (and count) them or ``error``.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("series_id,step,event\\nx,12,onset\\nx,,wakeup\\n")
    >>> events = KaggleEvents(period=5.0).read(file)
    >>> events.time.tolist(), events.dropped
    ([60.0], 1)
    """

    unit: ClassVar[Literal["seconds", "steps"]] = "steps"

    kind: Literal["kaggle"] = "kaggle"
    period: float | None = Field(default=None, gt=0)
    incomplete: Literal["error", "drop"] = "drop"

    def recognises(self, path: Path, columns: Sequence[str]) -> bool:
        """By the columns."""
        return {*_COLUMNS[:3]} <= {*columns}

    def _seconds_per_step(self, path: Path) -> float:
        if self.period is None:
            raise ConfigError(
                f"{path}: steps are sample numbers; give the period in seconds "
                "(period=5.0, --period 5)"
            )
        return self.period

    def read(self, path: Path) -> Events:
        """The events of a table."""
        period = self._seconds_per_step(path)
        roles = dict(zip(("recording", "event", "time"), _COLUMNS, strict=False))
        events = EventTable(columns=roles, incomplete=self.incomplete).read(path)
        return replace(events, time=events.time * period)

    def write(self, events: Events, path: Path, recordings: Recordings | None = None) -> None:
        """Write a table; every time must be a whole step, within a millionth of a period."""
        period = self._seconds_per_step(path)
        steps = events.time / period
        rounded = np.round(steps)
        off = ~(np.abs(steps - rounded) <= 1e-6 * np.maximum(1, np.abs(rounded)))
        off |= np.abs(rounded) >= 2**53
        if off.any():
            row = int(np.argmax(off))
            raise InputError(
                f"{path}: row {row}: time {events.time[row]} s is not a whole number of steps of "
                f"{period} s; round the times to steps first, or write another format (--to)"
            )
        columns: dict[str, Any] = {
            "series_id": from_texts(events.recording),
            "step": from_numpy(rounded.astype(np.int64)),
            "event": from_texts(events.event),
        }
        if events.score is not None:
            columns["score"] = from_numpy(events.score)
        write_table(pa.table(columns), path)
