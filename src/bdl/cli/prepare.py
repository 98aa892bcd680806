"""The command that makes a prepared store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bdl.cli.console import err, out, print_json, progress
from bdl.cli.options import (
    Channels,
    Clock,
    FirstSample,
    Group,
    GroupPattern,
    Json,
    Pattern,
    Period,
    Recording,
    Regular,
    Sample,
    Time,
    Unit,
    Zone,
    advance,
    layout_of,
)

commands = typer.Typer()


@commands.command(
    epilog=(
        "Example: `bdl prepare train_series.parquet store/ --recording series_id --sample step "
        "--time timestamp --period 5`"
    )
)
def prepare(
    source: Annotated[Path, typer.Argument(help="Recordings: a file, folder or glob.")],
    target: Annotated[Path, typer.Argument(help="Folder of the store.")],
    dataset: Annotated[
        str | None, typer.Option(help="The source is this data set's folder, such as sleep.")
    ] = None,
    pattern: Pattern = None,
    recording: Recording = None,
    channel: Channels = None,
    sample: Sample = None,
    first_sample: FirstSample = 0,
    time: Time = None,
    clock: Clock = None,
    unit: Unit = "s",
    period: Period = None,
    zone: Zone = None,
    group: Group = None,
    group_pattern: GroupPattern = None,
    regular: Regular = False,
    json: Json = False,
) -> None:
    """Stream recordings into a store of memory-mapped arrays, which every later step reads fastest.

    Interrupted, the same command goes on where it stopped.
    """
    from bdl import formats

    if dataset is not None:
        from bdl import datasets

        recordings = datasets.load(dataset, source).recordings
    else:
        layout = layout_of(
            pattern=pattern,
            recording=recording,
            channels=channel,
            sample=sample,
            first_sample=first_sample,
            time=time,
            clock=clock,
            unit=unit,
            period=period,
            zone=zone,
            group=group,
            group_pattern=group_pattern,
            regular=regular,
        )
        recordings = formats.read_recordings(source, **layout)
    with progress() as bar:
        store = formats.prepare(recordings, target, progress=advance(bar, "preparing"))
    samples = sum(info.samples for info in store.infos)
    if json:
        print_json({"recordings": len(store), "samples": samples, "notes": [*recordings.notes]})
        return
    for note in recordings.notes:
        err.print(f"note: {note}", markup=False, soft_wrap=True)
    out.print(f"{len(store):,} recordings, {samples:,} samples in {target}", markup=False)
