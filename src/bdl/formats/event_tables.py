"""Event tables: our own (recording, event, time, score) and Kaggle's (series_id, step, event).

Both in any table format; the score column is there for detections only. A Kaggle step is a
sample number, so it takes the period to become seconds: time = step * period. Rows of a Kaggle
table without a step (nights that were not annotated) are dropped and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq

from bdl.arrow import from_numpy, from_texts, to_numpy
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats.columns import Place, names, numbers
from bdl.formats.files import atomic
from bdl.formats.sources import need, open_source

Missing = Literal["error", "drop"]


def read_table(
    path: str | Path,
    *,
    recording: str = "recording",
    event: str = "event",
    time: str = "time",
    score: str = "score",
    period: float | None = None,
    missing: Missing = "error",
) -> Events:
    """Events of a table with the named columns; with ``period``, ``time`` is a sample number.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("recording,event,time\\nnight1,onset,3600\\n")
    >>> read_table(file).time.tolist()
    [3600.0]
    """
    source = open_source(path, text=[recording, event])
    columns = [recording, event, time] + ([score] if score in source.columns else [])
    need(source, columns)
    if len(set(columns)) != len(columns):
        raise ConfigError(f"{path}: four different columns expected, got {', '.join(columns)}")
    parts, row = [], 0
    for batch in source.batches(columns):
        parts.append(_part(batch, columns, source.path, row))
        row += len(batch)
    if not parts:
        return Events.empty(scored=len(columns) == 4)
    table = pa.concat_tables(parts)
    if period is not None:
        steps = to_numpy(table["time"]) * period
        table = table.set_column(table.column_names.index("time"), "time", from_numpy(steps))
    events = Events.from_frame(table, missing=missing, source=str(path))
    return events._with("polars")


def _part(batch: pa.RecordBatch, columns: Sequence[str], path: Path, row: int) -> pa.Table:
    made: dict[str, Any] = {}
    for plain, name in zip(("recording", "event", "time", "score"), columns, strict=False):
        place = Place(path, name, row)
        if plain in ("recording", "event"):
            distinct, codes = names(batch.column(name), place)
            made[plain] = from_texts(distinct).take(from_numpy(codes))
        else:
            made[plain] = from_numpy(numbers(batch.column(name), place))
    return pa.table(made)


def read_kaggle(path: str | Path, *, period: float | None, missing: Missing = "drop") -> Events:
    """Events of a Kaggle table; ``period`` is the seconds between two steps.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("series_id,step,event\\nx,12,onset\\nx,,wakeup\\n")
    >>> events = read_kaggle(file, period=5.0)
    >>> events.time.tolist(), events.dropped
    ([60.0], 1)
    """
    return read_table(
        path, recording="series_id", time="step", period=_period(path, period), missing=missing
    )


def _period(path: str | Path, period: float | None) -> float:
    if period is None or not (np.isfinite(period) and period > 0):
        raise ConfigError(
            f"{path}: steps are sample numbers; give the period in seconds "
            f"(period=5.0, --period 5), got {period}"
        )
    return period


def write_table(events: Events, path: str | Path) -> None:
    """Write our own table; the suffix chooses CSV, TSV, Parquet or Feather.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> write_table(Events.of("a", "beat", [0.5]), file)
    >>> read_table(file) == Events.of("a", "beat", [0.5])
    True
    """
    write_arrow(events.to_frame("pyarrow"), path)


def write_kaggle(events: Events, path: str | Path, *, period: float | None) -> None:
    """Write a Kaggle table; every time must stand on a step, within a millionth of a period.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> write_kaggle(Events.of("x", "onset", [60.0]), file, period=5.0)
    >>> file.read_text().splitlines()[1].split(",")[1]
    '12'
    """
    steps = events.time / _period(path, period)
    whole = np.round(steps)
    off = np.flatnonzero(~(np.abs(steps - whole) <= 1e-6 * np.maximum(1, np.abs(whole))))
    if len(off) or (np.abs(whole) >= 2**53).any():
        at = int(off[0]) if len(off) else int(np.argmax(np.abs(whole)))
        raise InputError(
            f"{path}: row {at}: time {events.time[at]} s is no whole number of steps of {period} "
            "s; round the times to steps first, or write another format"
        )
    columns: dict[str, Any] = {
        "series_id": from_texts(events.recording),
        "step": from_numpy(whole.astype(np.int64)),
        "event": from_texts(events.event),
    }
    if events.score is not None:
        columns["score"] = from_numpy(events.score)
    write_arrow(pa.table(columns), path)


def write_arrow(table: pa.Table, path: str | Path) -> None:
    """Write an Arrow table as its suffix says, whole or not at all."""
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".csv", ".tsv", ".parquet", ".pq", ".feather", ".ftr", ".arrow"):
        raise ConfigError(
            f"{target}: a suffix among .csv, .tsv, .parquet, .feather expected, got "
            f"{kind or 'none'}"
        )
    with atomic(target) as temporary:
        if kind in (".csv", ".tsv"):
            options = pacsv.WriteOptions(
                delimiter="\t" if kind == ".tsv" else ",", quoting_style="needed"
            )
            pacsv.write_csv(_printable(table), temporary, options)
        elif kind in (".parquet", ".pq"):
            pq.write_table(table, temporary, write_page_checksum=True)
        else:
            feather.write_feather(table, str(temporary), compression="uncompressed")


def _printable(table: pa.Table) -> pa.Table:
    """Floats as their shortest exact text; other writers may round."""
    for i, name in enumerate(table.column_names):
        if pa.types.is_floating(table.schema.field(i).type):
            texts = [None if v is None else repr(v) for v in table[name].to_pylist()]
            table = table.set_column(i, name, from_texts(texts))
    return table
