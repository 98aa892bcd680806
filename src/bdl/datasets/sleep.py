"""Sleep: wrist accelerometers with onset and wakeup annotations (Child Mind Institute, Kaggle).

Layout: ``train_series.parquet`` (series_id, step, timestamp in ISO 8601 with UTC offset, anglez,
enmo; a row every 5 s, a series contiguous and in order of steps) and ``train_events.csv``
(series_id, night, event, step, timestamp; no step where a night has no label).

The benchmark's convention: rows without a step are dropped; of the rest, in order of steps within
a series, only an onset directly followed by a wakeup is retained, as the paper does (9,580 of
9,585 endpoints). Series without any valid event stay, and are marked in the notes. Local hour and
weekday follow the offset that the time stamps themselves carry.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from bdl.datasets.dataset import Dataset, Settings, find
from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.files import reading
from bdl.formats.layout import Layout
from bdl.formats.tables import read_tables
from bdl.intervals import IntervalType

PERIOD = 5.0
CHANNELS = ("anglez", "enmo")
SERIES, EVENTS = "train_series.parquet", "train_events.csv"
INTERVAL = IntervalType("sleep", onset="onset", offset="wakeup")
LAYOUT = Layout(
    recording="series_id", sample="step", time="timestamp", channels=CHANNELS, period=PERIOD
)
LICENCE = "licence: the competition's rules; Child Mind Institute, Detect Sleep States, Kaggle 2023"
STEPS = (12, 36, 60, 90, 120, 150, 180, 240, 300, 360)
SETTINGS = Settings(
    types=("onset", "wakeup"),
    tolerances=tuple(PERIOD * steps for steps in STEPS),
    stride=10,
    window=7 * 86400.0,
    reference_spacing=86400.0,
    sigma=250.0,
    separation=1800.0,
    calendar=True,
)


def load(path: Path, *, regular: bool = False) -> Dataset:
    """Sleep onsets and wakeups.

    Parameters
    ----------
    path : folder with ``train_series.parquet`` and ``train_events.csv``.
    regular : steps that a series lacks become missing samples; otherwise they are an error.

    >>> import tempfile
    >>> from bdl.datasets.simulate import simulate
    >>> folder = Path(tempfile.mkdtemp())
    >>> simulate("sleep", folder, recordings=2, days=3)
    >>> found = load(folder)
    >>> len(found.recordings), found.events.types, found.recordings.infos[0].duration / 86400
    (2, ('onset', 'wakeup'), 3.0)
    """
    series, table = find(path, SERIES, EVENTS, what="sleep data")
    recordings = read_tables([series], LAYOUT.replace(regular=regular))
    events, notes = _events(table, {info.id: info.samples for info in recordings.infos})
    empty = len(recordings) - len(set(events.recordings))
    if empty:
        notes.append(f"{empty} series without any valid event kept, as event-free")
    notes += recordings.notes
    return Dataset("sleep", recordings, events, (INTERVAL,), SETTINGS, (LICENCE, *notes))


def _events(table: Path, samples: dict[str, int]) -> tuple[Events, list[str]]:
    with reading(table, "a CSV file"):
        frame = pl.read_csv(table, infer_schema=False)  # all text
    for column in ("series_id", "event", "step"):
        if column not in frame.columns:
            raise InputError(f"{table}: column {column!r} missing; it has {frame.columns}")
    steps = frame["step"].cast(pl.Float64, strict=False)
    wrong = steps.is_null() & frame["step"].is_not_null()
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise InputError(f"{table}: row {row}: a step expected, got {frame['step'][row]!r}")
    frame = frame.with_columns(steps)
    kinds = set(frame["event"].unique()) - {"onset", "wakeup"}
    if kinds:
        raise InputError(
            f"{table}: events onset and wakeup expected, got {sorted(map(str, kinds))}"
        )
    stray = sorted(set(frame["series_id"]) - samples.keys())
    if stray:
        raise InputError(
            f"{table}: series {stray[0]!r} is not in {SERIES} ({len(stray)} such series); "
            "the two files belong to different downloads"
        )
    rows = frame.drop_nulls("step").sort("series_id", "step", maintain_order=True)
    ends = rows.select(pl.col("series_id").replace_strict(samples, return_dtype=pl.Int64))
    late = (rows["step"] < 0) | (rows["step"] >= ends["series_id"])
    if late.any():
        bad = rows.filter(late).row(0, named=True)
        raise InputError(
            f"{table}: {bad['event']} of {bad['series_id']!r} at step {bad['step']:g} lies outside "
            f"its {samples[bad['series_id']]} steps"
        )
    opens = (
        (pl.col("event") == "onset")
        & (pl.col("event").shift(-1) == "wakeup")
        & (pl.col("series_id").shift(-1) == pl.col("series_id"))
    ).fill_null(False)
    kept = rows.filter(opens | opens.shift(1, fill_value=False))
    notes = []
    if frame.height > rows.height:
        notes.append(f"{frame.height - rows.height} rows without a step dropped (night unlabelled)")
    if rows.height > kept.height:
        notes.append(f"{rows.height - kept.height} unpaired endpoints dropped")
    times = kept["step"].cast(pl.Float64).to_numpy() * PERIOD
    return Events.of(kept["series_id"].to_numpy(), kept["event"].to_numpy(), times), notes
