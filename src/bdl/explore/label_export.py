"""Export of the corrected table in any event format, with the change log beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from bdl.errors import ConfigError
from bdl.explore.edited_labels import EditedLabels
from bdl.explore.journal import Change, ConflictError
from bdl.explore.label_session import LabelSession
from bdl.formats import write_events
from bdl.formats.events.event_format import EventFormat
from bdl.formats.table_writing import write_table

LOG_COLUMNS = (
    "edit", "at", "annotator", "action", "recording", "event", "time", "new_event", "new_time",
    "comment", "review", "item", "undone",
)  # fmt: skip


def export(session: LabelSession, path: str | Path, *, format: str = "bdl", **options: Any) -> Path:
    """Write the corrected table, and the change log as ``NAME.changes.csv`` beside it.

    Parameters
    ----------
    session
        The session. If its table has changed on disk since it was opened, this is an error.
    path
        File or folder to write, other than the original table.
    format
        Name of a format of events.
    **options
        Options of the format.

    Returns
    -------
    Path
        The change log.
    """
    target = Path(path)
    if session.table is not None:
        if target.resolve() == session.table.path.resolve():
            raise ConfigError(
                f"{target}: the original table is never overwritten; give another name (--out)"
            )
        if session.table.changed:
            raise ConflictError(
                f"{session.table.path}: the table has changed on disk since it was opened: the "
                "edits belong to its earlier content, so nothing was written"
            )
    with session.lock:
        corrected, rows = session.labels.corrected(), _change_rows(session.labels)
    periods = {info.period for info in session.recordings.infos}
    defaults = {"period": periods.pop()} if len(periods) == 1 else {}
    write_events(
        corrected, target, format=format, recordings=session.recordings, defaults=defaults,
        **options,
    )  # fmt: skip
    log = target.with_name(f"{target.name}.changes.csv")
    types = {"edit": pa.int64(), "time": pa.float64(), "new_time": pa.float64(),
             "undone": pa.bool_()}  # fmt: skip
    columns = {
        name: pa.array([row[name] for row in rows], types.get(name, pa.string()))
        for name in LOG_COLUMNS
    }
    write_table(pa.table(columns), log)
    return log


def export_formats() -> list[str]:
    """Names of the formats that are written, our own table first.

    Examples
    --------
    >>> export_formats()[0]
    'bdl'
    """
    names = [name for name, kind in EventFormat.kinds().items() if kind.writes()]
    return sorted(names, key=lambda name: name != "bdl")


def corrected_name(table: Path, format: str) -> Path:
    """Path of the table that the button of the page writes, beside the journal.

    Examples
    --------
    >>> corrected_name(Path("events.csv"), "bdl").name, corrected_name(Path("e"), "bids").name
    ('events.corrected.csv', 'e.corrected-bids')
    """
    if format not in export_formats():
        raise ConfigError(f"format: one of {', '.join(export_formats())} expected, got {format!r}")
    if format == "bdl":
        suffix = table.suffix if table.suffix in (".tsv", ".parquet", ".feather") else ".csv"
        return table.with_name(f"{table.stem}.corrected{suffix}")
    if EventFormat.parse(format).ending() is not None:  # a folder, with one file per recording
        return table.with_name(f"{table.stem}.corrected-{format}")
    suffix = (*EventFormat.kinds()[format].suffixes, ".csv")[0]
    return table.with_name(f"{table.stem}.corrected.{format}{suffix}")


def _change_rows(labels: EditedLabels) -> list[dict[str, Any]]:
    """The change log: one row per changed label or verdict, in order, and whether it is undone."""
    undone = labels.undone
    rows: list[dict[str, Any]] = []
    for entry in labels.journal.entries:
        if entry.undo is not None or entry.redo is not None:
            continue

        for change in entry.changes or (None,):
            before, after = (change.before, change.after) if change else (None, None)
            label = after or before
            rows.append(
                {
                    "edit": entry.number,
                    "at": entry.at,
                    "annotator": entry.annotator,
                    "action": _action(change),
                    "recording": label.recording if label else "",
                    "event": before.event if before else "",
                    "time": before.time if before else None,
                    "new_event": after.event if after else "",
                    "new_time": after.time if after else None,
                    "comment": label.comment if label else "",
                    "review": entry.review.verdict if entry.review else "",
                    "item": entry.review.item if entry.review else "",
                    "undone": entry.number in undone,
                }
            )
    return rows


def _action(change: Change | None) -> str:
    if change is None:
        return "review"
    if change.before is None or change.after is None:
        return "add" if change.before is None else "delete"
    for name in ("time", "event", "comment"):
        if getattr(change.before, name) != getattr(change.after, name):
            return {"time": "move", "event": "retype", "comment": "comment"}[name]
    raise ConfigError("a change that changes nothing")
