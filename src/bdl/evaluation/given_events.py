"""Events as callers have them: a table of events, or a data frame."""

from __future__ import annotations

from bdl.events import Events
from bdl.frames import Frame


def as_events(table: Events | Frame, source: str) -> Events:
    """Events as they are, or those of a pandas, polars or pyarrow table.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"Recording": ["a"], "Event": ["beat"], "Time": [1.5]})
    >>> as_events(frame, "table of annotated events").time.tolist()
    [1.5]
    """
    return table if isinstance(table, Events) else Events.from_frame(table, source=source)
