"""The current labels: the original table with all edits of its journal applied.

Row ``i`` of the original table has the id ``i``; added labels get the next numbers. The table
remains an array, and only edited labels are stored in addition, so that millions of labels need
little more memory than their table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.events import Events
from bdl.explore.journal import Change, ConflictError, Entry, Journal, Label, Review
from bdl.recording_info import RecordingInfo


@dataclass
class EditedLabels:
    """Labels that can be edited; every edit is written to the journal before it takes effect.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> events = Events.of("a", "beat", [1.0, 2.0])
    >>> info = RecordingInfo("a", 10, ("x",), 1.0)
    >>> file = Path(tempfile.mkdtemp()) / "events.journal"
    >>> labels = EditedLabels(events, {"a": info}, Journal(file, table="events", digest=""))
    >>> before = labels.get(0)
    >>> labels.edit([Change(id=0, before=before, after=before.replace(time=1.5))]).number
    1
    >>> labels.corrected().time.tolist()
    [1.5, 2.0]
    >>> _ = labels.undo()
    >>> labels.corrected().time.tolist()
    [1.0, 2.0]
    """

    original: Events  # the table as it was read
    infos: Mapping[str, RecordingInfo]  # of the recordings that labels can be added to, by id
    journal: Journal
    edited: dict[int, Label | None] = field(default_factory=dict, init=False)
    verdicts: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._done: list[int] = []  # edits that can be undone, the latest last
        self._undone: list[int] = []  # edits that can be redone, the latest last
        self.next_id = len(self.original)
        order = np.argsort(self.original.recording_code, kind="stable")
        codes = np.arange(len(self.original.recordings) + 1)
        self._rows = order
        self._first = np.searchsorted(self.original.recording_code[order], codes)
        self._code = {name: code for code, name in enumerate(self.original.recordings)}
        for place, entry in enumerate(self.journal.entries, start=2):
            try:
                self._apply(entry, self._checked_changes(entry))
            except ConflictError as error:
                raise InputError(f"{self.journal.path}: line {place}: {error}") from error

    @property
    def undoable(self) -> int | None:
        """Number of the edit that `undo` reverts; None if there is none."""
        return self._done[-1] if self._done else None

    @property
    def redoable(self) -> int | None:
        """Number of the edit that `redo` repeats; None if there is none."""
        return self._undone[-1] if self._undone else None

    @property
    def undone(self) -> frozenset[int]:
        """Numbers of the edits that are undone."""
        edits = (e.number for e in self.journal.entries if e.undo is None and e.redo is None)
        return frozenset(edits) - {*self._done}

    def get(self, id: int) -> Label | None:
        """The label with an id; None if there is none."""
        if id in self.edited:
            return self.edited[id]
        if not 0 <= id < len(self.original):
            return None
        events = self.original
        return Label(
            recording=events.recordings[events.recording_code[id]],
            event=events.types[events.type_code[id]],
            time=float(events.time[id]),
        )

    def edit(
        self, changes: Sequence[Change], *, annotator: str = "", review: Review | None = None
    ) -> Entry:
        """Make several changes and record a verdict, as one edit: all or nothing.

        A change that adds a label may have any id; it is replaced by the next free one.
        """
        numbered, free = [], self.next_id
        for change in changes:
            self._check(change.after)
            if change.before is None:
                change, free = change.replace(id=free), free + 1
            numbered.append(change)
        return self._append(annotator=annotator, changes=tuple(numbered), review=review)

    def undo(self, number: int | None = None, *, annotator: str = "") -> Entry:
        """Undo the latest edit; a ``number`` that is not its own is a conflict."""
        return self._append(annotator=annotator, undo=self._expected(number, self.undoable, "undo"))

    def redo(self, number: int | None = None, *, annotator: str = "") -> Entry:
        """Redo the edit that was undone last; arguments as for `undo`."""
        return self._append(annotator=annotator, redo=self._expected(number, self.redoable, "redo"))

    def counts(self) -> dict[str, int]:
        """Number of labels of each recording."""
        sizes = np.diff(self._first).tolist()
        counts = dict(zip(self.original.recordings, sizes, strict=True))
        for id, label in self.edited.items():
            if id < len(self.original):
                owner = self.original.recordings[self.original.recording_code[id]]
                counts[owner] += 0 if label else -1
            elif label:
                counts[label.recording] = counts.get(label.recording, 0) + 1
        return counts

    def corrected(self) -> Events:
        """The table with all edits: rows in their order, added ones at the end."""
        events = self.original
        rows = np.setdiff1d(np.arange(len(events)), [*self.edited])
        changed = {id: label for id, label in self.edited.items() if label is not None}
        order = np.argsort(np.concatenate([rows, np.array([*changed], np.int64)]))
        unchanged = Events.of(events.recording[rows], events.event[rows], events.time[rows])
        added = Events.of(
            [label.recording for label in changed.values()],
            [label.event for label in changed.values()],
            [label.time for label in changed.values()],
        )
        joined = Events.concat([unchanged, added])
        return joined._rows(order) if len(joined) else joined

    def columns(self, id: str) -> dict[str, Any]:
        """Labels of one recording by time, as columns of plain values.

        ``type`` is an index into ``types``; ``comment`` is by id, for labels that have one.
        """
        events, rows = self.original, self._original_rows(id)
        here = {i: label for i, label in self.edited.items() if label and label.recording == id}
        changed = np.array([i for i in self.edited if i < len(events)], np.int64)
        rows = rows[~np.isin(rows, changed)]
        names = sorted({*events.types, *(label.event for label in here.values())})
        place = {name: code for code, name in enumerate(names)}
        codes = np.array([place[name] for name in events.types], np.int64)
        ids = np.concatenate([rows, np.array([*here], np.int64)])
        time = np.append(events.time[rows], [label.time for label in here.values()])
        added = [place[label.event] for label in here.values()]
        kind = np.append(codes[events.type_code[rows]] if len(codes) else rows, added)
        order = np.lexsort((ids, time))
        return {
            "id": ids[order].tolist(),
            "types": names,
            "type": kind[order].astype(int).tolist(),
            "time": time[order].tolist(),
            "comment": {i: label.comment for i, label in here.items() if label.comment},
        }

    def _original_rows(self, id: str) -> NDArray[np.int64]:
        code = self._code.get(id)
        if code is None:
            return self._rows[:0]
        return self._rows[self._first[code] : self._first[code + 1]]

    def _check(self, label: Label | None) -> None:
        if label is None:
            return
        info = self.infos.get(label.recording)
        if info is None:
            raise InputError(f"no recording {label.recording!r} to add a label to")
        if not 0 <= label.time <= info.duration:
            raise InputError(
                f"recording {label.recording!r}: a time from 0 to {info.duration:g} s expected, "
                f"got {label.time:g}"
            )

    def _expected(self, number: int | None, current: int | None, action: str) -> int:
        if current is None:
            raise ConflictError(f"there is nothing to {action}")
        if number is not None and number != current:
            raise ConflictError(f"another edit was made meanwhile; nothing to {action} was changed")
        return current

    def _append(self, **content: Any) -> Entry:
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        entry = Entry(number=len(self.journal.entries) + 1, at=at, **content)
        changes = self._checked_changes(entry)
        self.journal.append(entry)
        self._apply(entry, changes)
        return entry

    def edit_of(self, entry: Entry) -> Entry:
        """The edit that an entry undoes or redoes, or the entry itself."""
        other = entry.undo or entry.redo
        return entry if other is None else self.journal.entries[other - 1]

    def changes_of(self, entry: Entry) -> tuple[Change, ...]:
        """The changes that an entry makes, also by undoing or redoing an edit."""
        changes = self.edit_of(entry).changes
        return changes if entry.undo is None else tuple(c.inverse for c in reversed(changes))

    def _checked_changes(self, entry: Entry) -> tuple[Change, ...]:
        """The changes that an entry makes; a `ConflictError` if they cannot be made now."""
        other = entry.undo or entry.redo
        stack = self._done if entry.undo is not None else self._undone
        if other is not None and stack[-1:] != [other]:
            raise ConflictError(f"edit {other} is not the latest one")
        changes = self.changes_of(entry)
        for change in changes:
            if self.get(change.id) != change.before:
                raise ConflictError(
                    f"label {change.id} has changed meanwhile, in another window or by another "
                    "person; look at it again"
                )
        return changes

    def _apply(self, entry: Entry, changes: Sequence[Change]) -> None:
        for change in changes:
            self.edited[change.id] = change.after
            self.next_id = max(self.next_id, change.id + 1)
        if entry.undo is not None:
            self._undone.append(self._done.pop())
        elif entry.redo is not None:
            self._done.append(self._undone.pop())
        else:
            self._done.append(entry.number)
            self._undone.clear()
        review = self.edit_of(entry).review
        if review is not None and entry.undo is not None:
            self.verdicts.pop(review.item, None)
        elif review is not None:
            self.verdicts[review.item] = review.verdict
