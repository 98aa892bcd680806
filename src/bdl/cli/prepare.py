"""The command that makes a prepared store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bdl.cli.console import err, out, print_json, progress
from bdl.cli.dataset_options import DatasetName, DatasetOptions, named_dataset
from bdl.cli.options import Json, Pattern, advance, takes
from bdl.cli.recording_options import RECORDING_OPTIONS, FormatName

commands = typer.Typer()


@commands.command(
    epilog=(
        "Example: `bdl prepare train_series.parquet --out store/ --recording series_id "
        "--sample step --time timestamp --period 5`"
    )
)
@takes(options=RECORDING_OPTIONS)
def prepare(
    source: Annotated[Path, typer.Argument(help="Recordings: a file, folder or glob.")],
    target: Annotated[Path, typer.Option("--out", help="Folder of the store.")],
    dataset: DatasetName = None,
    option: DatasetOptions = None,
    format: FormatName = None,
    pattern: Pattern = None,
    *,
    options: dict[str, Any],
    rate: Annotated[
        float | None,
        typer.Option(help="Resample all recordings to so many samples per second, anti-aliased."),
    ] = None,
    json: Json = False,
) -> None:
    """Stream recordings into a store of memory-mapped arrays.

    Every later step reads it fastest. Interrupted, the same command goes on where it stopped.
    """
    from bdl import formats
    from bdl.formats.polyphase import on_one_clock

    if dataset is not None:
        recordings = named_dataset(dataset, option).load(source).recordings
    else:
        recordings = formats.read_recordings(source, format=format, pattern=pattern, **options)
    if rate is not None:
        recordings = on_one_clock(recordings, rate)
    with progress() as bar:
        store = formats.prepare(recordings, target, progress=advance(bar, "preparing"))
    samples = sum(info.samples for info in store.infos)
    if json:
        print_json({"recordings": len(store), "samples": samples, "notes": [*recordings.notes]})
        return
    for note in recordings.notes:
        err.print(f"note: {note}", markup=False, soft_wrap=True)
    out.print(f"{len(store):,} recordings, {samples:,} samples in {target}", markup=False)
