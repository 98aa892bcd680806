"""Opening a session: the labels are locked for other programs as long as it is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bdl.density import Density
from bdl.errors import BdlError
from bdl.events import Events
from bdl.explore.edited_labels import EditedLabels
from bdl.explore.journal import Journal
from bdl.explore.label_session import LabelSession
from bdl.explore.table_state import TableState
from bdl.intervals import IntervalType
from bdl.proposal import propose
from bdl.recording import Recordings


@contextmanager
def open_session(
    recordings: Recordings,
    events: Events | None = None,
    *,
    journal: str | Path,
    table: str | Path | None = None,
    others: Mapping[str, Events] | None = None,
    detections: Events | None = None,
    densities: Mapping[str, Density] | None = None,
    intervals: Sequence[IntervalType] | None = None,
    tolerance: float | None = None,
    threshold: float = 0.5,
    index: str | Path | None = None,
) -> Iterator[LabelSession]:
    """Open recordings, labels and outputs of a model to look at and edit.

    Parameters
    ----------
    recordings
        The recordings.
    events
        The labels; None starts without any.
    journal
        File of the edits; those it has are applied.
    table
        The file or folder that the labels were read from, to notice that it changes.
    others
        Events of further annotators by name.
    detections, densities
        Outputs of a model.
    intervals
        Interval types; None takes those that the names of the event types suggest.
    tolerance
        Seconds within which labels and model agree; by default proposed from the labels.
    threshold
        Score from which a detection counts.
    index
        Folder for the tiles of the recordings; None keeps them in memory.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from bdl.recording import Recording
    >>> recordings = Recordings.of([Recording.of(np.zeros(60), id="a", period=1.0)])
    >>> journal = Path(tempfile.mkdtemp()) / "events.journal"
    >>> with open_session(recordings, Events.of("a", "beat", [5.0]), journal=journal) as session:
    ...     session.labels.get(0).time
    5.0
    """
    labels = Events.empty() if events is None else events
    state = None if table is None else TableState.of(table)
    name = "no table" if state is None else state.path.name
    digest = "" if state is None else state.digest
    infos = {info.id: info for info in recordings.infos}
    with Journal.opened(Path(journal), table=name, digest=digest) as opened:
        yield LabelSession(
            recordings,
            EditedLabels(labels, infos, opened),
            others or {},
            detections,
            densities or {},
            intervals,
            _tolerance(recordings, labels) if tolerance is None else tolerance,
            threshold,
            index=None if index is None else Path(index),
            table=state,
        )


def _tolerance(recordings: Recordings, labels: Events) -> float:
    """The widest tolerance that is proposed for the labels, or a hundred samples."""
    try:
        return float(max(propose(recordings, labels).tolerances.value))
    except BdlError:
        return 100 * max((info.period for info in recordings.infos), default=0.01)
