"""The command that writes a prepared store."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Context, Exit, Option, Typer

from bdl.cli import INCOMPLETE
from bdl.cli.console import err, out, print_json, progress
from bdl.cli.dataset_options import DatasetName, DatasetOptions, named_dataset
from bdl.cli.numbers import RATE
from bdl.cli.options import Json, Pattern, Strict, refuse_options, takes
from bdl.cli.recording_options import RECORDING_OPTIONS, FormatName
from bdl.workers import Workers

commands = Typer()


@commands.command(
    epilog=(
        "Example: `bdl prepare train_series.parquet --out store/ --recording series_id "
        "--sample step --time timestamp --period 5`"
    )
)
@takes(options=RECORDING_OPTIONS, workers=Workers)
def prepare(
    source: Annotated[Path, Argument(help="Recordings: a file, folder or glob.")],
    target: Annotated[Path, Option("--out", help="Folder of the store.")],
    dataset: DatasetName = None,
    option: DatasetOptions = None,
    format: FormatName = None,
    pattern: Pattern = None,
    *,
    options: dict[str, Any],
    rate: Annotated[
        float | None,
        Option(
            parser=RATE,
            help="Resample all recordings to this many samples per second, anti-aliased.",
        ),
    ] = None,
    strict: Strict = False,
    json: Json = False,
    workers: dict[str, Any],
    context: Context,
) -> None:
    """Stream recordings into a store of memory-mapped arrays.

    Other commands read a store fastest. After an interruption the same command resumes.
    A recording that cannot be read is named and left out; the exit code is then 3.
    """
    from bdl import formats
    from bdl.formats.outputs import check_output
    from bdl.formats.polyphase import on_one_clock

    check_output(target, folder=True)
    reading = None
    invalid: Literal["error", "skip"] = "error" if strict else "skip"
    if Workers(**workers).here:
        refuse_options(context, ("threads",), "with one worker process (--jobs)")
    if dataset is None:
        refuse_options(context, ("option",), "without --dataset")
    else:
        names = ("format", "pattern", *RECORDING_OPTIONS.parameters())
        refuse_options(context, names, "with --dataset")
    if dataset is not None:
        recordings = named_dataset(dataset, option).load(source).recordings
    else:
        recordings = formats.read_recordings(
            source,
            format=format,
            pattern=pattern,
            invalid=invalid,
            workers=Workers(**workers),
            **options,
        )
        reading = {"format": format, "pattern": pattern, "layout": options, "rate": rate}
    if rate is not None:
        recordings = on_one_clock(recordings, rate)
    with progress() as report:
        store = formats.prepare(
            recordings,
            target,
            progress=partial(report, "preparing"),
            workers=Workers(**workers),
            invalid=invalid,
            reading=reading,
        )
    samples = sum(info.samples for info in store.infos)
    if json:
        print_json({"recordings": len(store), "samples": samples, "notes": [*store.notes]})
    else:
        err.notes(store.notes)
        out.print(f"{len(store):,} recordings, {samples:,} samples in {target}")
    if store.left_out:
        raise Exit(INCOMPLETE)
