"""Sleep: wrist accelerometers with onset and wakeup annotations (Child Mind Institute, Kaggle).

Files: ``train_series.parquet`` (series_id, step, timestamp in ISO 8601 with UTC offset, anglez,
enmo; one row every 5 s, the rows of a series contiguous and ordered by step) and
``train_events.csv`` (series_id, night, event, step, timestamp; no step where a night has no
label).

Rows without a step are dropped. Of the others, ordered by step within a series, only an onset
directly followed by a wakeup is retained, as in the paper (9,580 of 9,585 endpoints). Series
without any valid event are retained as event-free recordings and mentioned in the notes. Local
hour and weekday follow the UTC offset in the time stamps.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import polars as pl

from bdl.datasets.benchmark import Benchmark, Scale, Settings
from bdl.datasets.dataset import Dataset, Simulator
from bdl.datasets.downloads import Download, Kaggle
from bdl.datasets.raw_files import check_columns, published_files
from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.files import reading
from bdl.formats.recordings import ParquetRecordings
from bdl.intervals import IntervalType

if TYPE_CHECKING:
    from bdl.decoding.grid import Grid
    from bdl.density import DensityKind

DAY = 86400.0
PERIOD = 5.0
SERIES, EVENTS = "train_series.parquet", "train_events.csv"
INTERVAL = IntervalType("sleep", onset="onset", offset="wakeup")
FORMAT = ParquetRecordings(
    recording="series_id",
    sample="step",
    time="timestamp",
    channels=("anglez", "enmo"),
    period=PERIOD,
)


class Sleep(Dataset):
    """Sleep onsets and wakeups in wrist accelerometer recordings.

    Parameters
    ----------
    regular
        Whether steps that a series lacks become missing samples; otherwise they are an error.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> Sleep().simulate(folder, recordings=2, days=3)
    >>> benchmark = Sleep().load(folder)
    >>> len(benchmark.recordings), benchmark.events.types
    (2, ('onset', 'wakeup'))
    """

    kind: Literal["sleep"] = "sleep"
    regular: bool = False

    licence = "the competition's rules, to be accepted on Kaggle first"
    citation = (
        "Esper N, Demkin M, Hoolbrok R, et al. Child Mind Institute - Detect Sleep States. "
        "Kaggle, 2023"
    )
    requires = "Kaggle, Child Mind Institute, detect sleep states (1 GB)"
    recording_count = 277
    window_bins = 12_096
    settings: ClassVar[Settings] = Settings(
        types=("onset", "wakeup"),
        tolerances=tuple(
            PERIOD * steps for steps in (12, 36, 60, 90, 120, 150, 180, 240, 300, 360)
        ),
        stride=10,
        window=7 * DAY,
        reference_spacing=DAY,
        sigma=250.0,
        separation=1800.0,
        calendar=True,
    )
    scales: ClassVar[Mapping[str, Scale]] = {
        "small": Dataset.scales["small"].replace(
            recordings=40, days=7.0, epochs=20, window=2 * DAY
        ),
        "tiny": Dataset.scales["tiny"].replace(days=2.0, window=DAY),
    }

    def read(self, path: Path) -> Benchmark:
        series, table = published_files(path, SERIES, EVENTS, what="sleep data")
        recordings = FORMAT.replace(regular=self.regular).read(series)
        events, notes = _read_events(table, {info.id: info.samples for info in recordings.infos})
        event_free = len(recordings) - len(set(events.recordings))
        if event_free:
            notes.append(f"{event_free} series without any valid event retained, as event-free")
        notes += recordings.notes
        return Benchmark(self.kind, recordings, events, (INTERVAL,), self.settings, tuple(notes))

    def simulator(self) -> Simulator:
        """Simulated nights; 26 days per series by default."""
        from bdl.datasets.sleep.simulated_sleep import write

        return write

    def download(self) -> Download:
        return Kaggle(
            competition="child-mind-institute-detect-sleep-states", files=(SERIES, EVENTS)
        )

    @classmethod
    def grids(cls) -> Mapping[DensityKind, Grid]:
        """The grids of the paper; the window of the difference of means, 10 minutes, is ours."""
        from bdl.decoding.grid import paper_grids

        both = (False, True)
        return paper_grids(smooths=(0.0, 50.0), separation=1800.0, window=600.0, alternations=both)


def _read_events(table: Path, samples: dict[str, int]) -> tuple[Events, list[str]]:
    """The paired endpoints of the table, and notes on what was dropped."""
    with reading(table, "a CSV file"):
        frame = pl.read_csv(table, infer_schema=False)  # all text
    check_columns(frame.columns, ("series_id", "event", "step"), table)
    frame = _check_rows(frame, table, samples)
    labelled = frame.drop_nulls("step").sort("series_id", "step", maintain_order=True)
    lengths = labelled.select(pl.col("series_id").replace_strict(samples, return_dtype=pl.Int64))
    outside = (labelled["step"] < 0) | (labelled["step"] >= lengths["series_id"])
    if outside.any():
        row = labelled.filter(outside).row(0, named=True)
        raise InputError(
            f"{table}: {row['event']} of {row['series_id']!r} at step {row['step']:g} is outside "
            f"its {samples[row['series_id']]} steps"
        )
    opens = (
        (pl.col("event") == "onset")
        & (pl.col("event").shift(-1) == "wakeup")
        & (pl.col("series_id").shift(-1) == pl.col("series_id"))
    ).fill_null(False)
    paired = labelled.filter(opens | opens.shift(1, fill_value=False))
    notes = []
    if frame.height > labelled.height:
        dropped = frame.height - labelled.height
        notes.append(f"{dropped} rows without a step dropped (night unlabelled)")
    if labelled.height > paired.height:
        notes.append(f"{labelled.height - paired.height} unpaired endpoints dropped")
    times = paired["step"].cast(pl.Float64).to_numpy() * PERIOD
    return Events.of(paired["series_id"].to_numpy(), paired["event"].to_numpy(), times), notes


def _check_rows(frame: pl.DataFrame, table: Path, samples: dict[str, int]) -> pl.DataFrame:
    """The frame with numeric steps, its event types and series checked."""
    steps = frame["step"].cast(pl.Float64, strict=False)
    not_numeric = steps.is_null() & frame["step"].is_not_null()
    if not_numeric.any():
        row = int(not_numeric.arg_true()[0])
        raise InputError(f"{table}: row {row}: a step expected, got {frame['step'][row]!r}")
    unknown = set(frame["event"].unique()) - {"onset", "wakeup"}
    if unknown:
        raise InputError(
            f"{table}: events onset and wakeup expected, got {sorted(map(str, unknown))}"
        )
    stray = sorted(set(frame["series_id"]) - samples.keys())
    if stray:
        raise InputError(
            f"{table}: series {stray[0]!r} is not in {SERIES} ({len(stray)} such series); "
            "the two files belong to different downloads"
        )
    return frame.with_columns(steps)
