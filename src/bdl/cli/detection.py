"""The command that detects events with a trained model."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option, Typer

from bdl.cli import INCOMPLETE
from bdl.cli.console import err, print_json, progress
from bdl.cli.detection_formats import WRITING_OPTIONS, detection_format, write_detections
from bdl.cli.detection_inputs import chosen_point, done_files, open_recordings
from bdl.cli.event_conversion import WrittenFormat
from bdl.cli.numbers import ALARMS, COUNT, SENSITIVITY
from bdl.cli.options import Json, Quiet, Strict, WholeRanking, takes
from bdl.cli.recording_options import recording_formats
from bdl.cli.sources import SOURCE_OPTIONS, SourceOptions
from bdl.detector.model import Model
from bdl.detector.operating_point import OperatingPoint
from bdl.errors import ConfigError
from bdl.workers import Workers

if TYPE_CHECKING:
    import polars as pl

commands = Typer()


@commands.command(epilog="Example: `bdl detect model.safetensors new/ --out found.csv --update`")
@takes(source_options=SOURCE_OPTIONS, format_options=WRITING_OPTIONS, workers=Workers)
def detect(
    model: Annotated[Path, Argument(help="Model file written by fit or export.")],
    source: Annotated[
        str | None,
        Argument(
            help="Recordings: a file, folder, glob or prepared store, read and resampled as those "
            "that the model was trained on."
        ),
    ] = None,
    *,
    out: Annotated[
        Path,
        Option(
            help="Table of detections to write; with --to its file, or a folder if it has one "
            "file per recording."
        ),
    ],
    to: WrittenFormat = None,
    format: Annotated[
        str | None,
        Option(
            help=f"Format of the recordings: {', '.join(recording_formats())}. By default that of "
            "the training recordings, or recognised.",
            autocompletion=recording_formats,
        ),
    ] = None,
    config: Annotated[Path | None, Option(help="YAML file that names the recordings.")] = None,
    densities: Annotated[
        Path | None, Option(help="Also write the densities to this folder.")
    ] = None,
    resample: Annotated[
        bool, Option(help="Resample recordings with another rate to that of the model.")
    ] = False,
    all: WholeRanking = False,
    false_alarms_per_day: Annotated[
        float | None,
        Option(
            parser=ALARMS,
            help="Threshold with at most this many false alarms per day on held-out recordings, "
            "instead of the best F1; an interval counts once.",
        ),
    ] = None,
    sensitivity: Annotated[
        float | None,
        Option(parser=SENSITIVITY, help="Threshold that detects this share of held-out events."),
    ] = None,
    unpaired: Annotated[
        bool, Option("--unpaired", help="One row per event, also if events are ends of intervals.")
    ] = False,
    update: Annotated[
        bool, Option("--update", help="Only new or changed files; their rows are added to --out.")
    ] = False,
    partition: Annotated[
        int | None,
        Option(
            parser=COUNT,
            help="Write a folder of Parquet files, each with this many recordings, to --out.",
        ),
    ] = None,
    strict: Strict = False,
    quiet: Quiet = False,
    json: Json = False,
    source_options: SourceOptions,
    format_options: dict[str, Any],
    workers: dict[str, Any],
) -> None:
    """Detect events in recordings with a trained model.

    Detections are those above the threshold with the best F1 on held-out training recordings, if
    the model has one. Where events are ends of intervals, a row is an interval. Local times are
    added where the start of a recording is known. A recording that cannot be read or used is named
    and left out; the exit code is then 3. After an interruption the same command resumes: finished
    recordings are in OUT.run until the table is written.
    """
    from bdl import load
    from bdl.cli.detection_table import detection_table
    from bdl.detector.detection_run import detect_many
    from bdl.formats.addresses import address_of
    from bdl.formats.densities import write_densities
    from bdl.formats.outputs import check_output
    from bdl.formats.table_writing import check_table_output, write_partitions, write_table
    from bdl.units import in_units

    event_format = detection_format(to, format_options, out)
    if event_format is not None:
        if update or partition is not None:
            flag = "--update" if update else "--partition"
            raise ConfigError(f"{flag} has no effect with --to {to}")
    elif partition is None:
        check_table_output(out)
    else:
        if update:
            raise ConfigError("--partition has no effect with --update, which adds to one table")
        check_output(out, folder=True)
    if update and address_of(out) is not None:
        raise ConfigError(f"--update adds to a local table, and --out {out} is an address")
    if densities is not None:
        if update:
            raise ConfigError("--densities cannot be written with --update, only as a whole")
        check_output(densities, folder=True, flag="--densities")
    if unpaired and all:
        raise ConfigError("--unpaired has no effect with --all, which has one row per event")
    if resample and source is not None:
        raise ConfigError(
            f"--resample has no effect with the recordings {source}, which are always resampled"
        )
    detector = load(model)
    point = chosen_point(detector.model_, all, false_alarms_per_day, sensitivity)
    paired = not (all or unpaired)
    done = done_files(model, out, point, paired) if update else None
    options = replace(source_options, format=format)
    pool = Workers(**workers)
    recordings = open_recordings(detector.model_, source, options, config, done, pool)
    converted = in_units(recordings, detector.model_.units_by_channel, "the model", strict=False)
    notes = [note for note in converted.notes if note not in converted.left_out]
    err.notes(() if quiet or json else notes)
    stamps = {} if done is None else done.stamps(recordings)
    with progress(quiet=quiet) as report:
        run = detect_many(
            detector,
            recordings,
            out.with_name(f"{out.name}.run"),
            point=point,
            resample=resample,
            densities=densities is not None,
            workers=pool,
            strict=strict,
            progress=partial(report, "detecting"),
        )
    infos = {info.id: info for info in recordings.infos}
    table = detection_table(run.detections, detector.model_, infos, paired=paired)
    if densities is not None:
        write_densities(densities, run.densities())
    frame = table.frame
    if done is not None:
        frame = _merged(out, frame, infos, len(done) > 0)
    if event_format is not None:
        intervals, searched = detector.model_.intervals, recordings.select(run.detected)
        dropped = write_detections(event_format, table, run.detections, intervals, searched, out)
        if dropped and not quiet:
            err.print(f"note: scores are left out, as format {event_format.kind} has none")
    elif partition is None:
        write_table(frame.to_arrow(), out)
    else:
        write_partitions(frame.to_arrow(), out, ids=recordings.ids, size=partition)
    if done is not None:
        done.write({id: stamp for id, stamp in stamps.items() if id not in run.refused})
    if not run.refused:
        run.directory.remove()
    left_out = [*recordings.left_out, *(f"left out: {why}" for why in run.refused.values())]
    summary = {
        "out": str(out),
        "recordings": len(run.detected),
        "intervals" if table.intervals else "detections": len(table.frame),
        **({"rows": len(frame)} if update else {}),
        "unpaired": table.unpaired,
        "notes": notes,
        **({} if point is None else _held_out_rates(point, detector.model_)),
        "left_out": left_out,
    }
    for note in left_out:
        err.print(note)
    if json:
        print_json(summary)
    elif not quiet:
        err.print(_text(summary))
    if left_out:
        raise Exit(INCOMPLETE)


def _merged(
    out: Path, new: pl.DataFrame, updated: Collection[str], has_record: bool
) -> pl.DataFrame:
    """Return the rows of the table, except those of updated recordings, followed by new rows."""
    import polars as pl

    from bdl.formats.recordings.table_format import open_table

    if not has_record or not out.exists():
        return new
    table = open_table(out)
    old = pl.DataFrame(schema=dict.fromkeys(table.columns, pl.String))
    if batches := [*table.batches(table.columns)]:
        old = pl.concat([pl.DataFrame(pl.from_arrow(batch)) for batch in batches])
    numbers = [name for name, kind in new.schema.items() if kind == pl.Float64]
    old = old.with_columns(pl.col(name).cast(pl.Float64) for name in numbers if name in old.columns)
    old = old.filter(~pl.col("recording").is_in([*updated]))
    return pl.concat([old, new], how="diagonal_relaxed")


def _held_out_rates(point: OperatingPoint, model: Model) -> dict[str, Any]:
    """Return the threshold, and its scores on held-out recordings."""
    summary: dict[str, Any] = {"threshold": point.threshold, "held-out F1": round(point.f1, 4)}
    if point.curve is not None:
        place = point.curve.place(point.threshold)
        rate = point.curve.false_alarms_per_day(model.intervals)[place]
        summary["held-out sensitivity"] = round(float(point.curve.sensitivity()[place]), 4)
        summary["held-out false alarms per day"] = round(float(rate), 4)
    return summary


def _text(summary: dict[str, Any]) -> str:
    kind = "intervals" if "intervals" in summary else "detections"
    changed, total = "", ""
    if "rows" in summary:
        changed, total = "new or changed ", f" has {summary['rows']:,} rows"
    text = f"{summary[kind]:,} {kind} in {summary['recordings']:,} {changed}recordings: "
    text += f"{summary['out']}{total}"
    if summary["unpaired"]:
        text += (
            f"; {summary['unpaired']:,} ends without a partner are left out (--unpaired shows them)"
        )
    if "threshold" in summary:
        rates = [f"{name[9:]} {summary[name]:g}" for name in summary if name.startswith("held-out")]
        text += f"\nscore at least {summary['threshold']:.4g}; on held-out recordings "
        text += ", ".join(rates)
    return text
