"""Commands from saved densities to detections: ``decode`` and ``calibrate``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option, Typer

from bdl.cli import console
from bdl.cli.detection_formats import WRITING_OPTIONS as WRITING
from bdl.cli.detection_formats import detection_format, sample_periods, write_decoded
from bdl.cli.event_conversion import WrittenFormat
from bdl.cli.generated_options import Fields
from bdl.cli.numbers import DURATION, SCORE
from bdl.cli.options import (
    TOLERANCES,
    EventFreeRule,
    Intervals,
    Json,
    StepPeriod,
    interval_types,
    parse_variant,
    takes,
)
from bdl.cli.recording_options import EVENT_OPTIONS, EventsFormat
from bdl.errors import ConfigError, InputError, some
from bdl.formats.events import EventFormat

if TYPE_CHECKING:
    from bdl.decoding import Calibration, Decoder, Grid
    from bdl.density import DensityKind
    from bdl.events import Events
    from bdl.formats.densities import DensityEntry

commands = Typer()

Densities = Annotated[
    Path, Argument(help="Folder of densities, as `bdl detect --densities` writes it.")
]
Tolerances = Annotated[list[float] | None, TOLERANCES]
# The command has an option --interval of its own, which serves the decoder as well.
_WRITING = Fields(EventFormat, without=(*WRITING.without, "intervals"))


@commands.command()
@takes(format_options=_WRITING)
def decode(
    densities: Densities,
    out: Annotated[
        Path,
        Option(
            help="Table of detections to write (.csv or .parquet); with --to its file, or a "
            "folder if it has one file per recording."
        ),
    ],
    decoder: Annotated[
        str | None,
        Option(
            help="A decoder: its name, a YAML mapping such as '{kind: peaks, smooth: 50}', or a "
            "file such as `bdl calibrate` writes. By default the recommended decoder, which needs "
            "--tolerance."
        ),
    ] = None,
    tolerance: Tolerances = None,
    threshold: Annotated[
        float | None, Option(parser=SCORE, help="Lowest score, instead of the decoder's threshold.")
    ] = None,
    interval: Intervals = None,
    to: WrittenFormat = None,
    period: StepPeriod = None,
    pairs: Annotated[
        Path | None,
        Option(help="Also pair detections to intervals and write them here (.csv, .parquet)."),
    ] = None,
    min_duration: Annotated[
        float | None,
        Option(parser=DURATION, help="Shortest interval of --pairs in seconds; default 0."),
    ] = None,
    max_duration: Annotated[
        float | None,
        Option(parser=DURATION, help="Longest interval of --pairs in seconds. [default: any]"),
    ] = None,
    min_gap: Annotated[
        float | None,
        Option(parser=DURATION, help="Shortest gap between --pairs in seconds; default 0."),
    ] = None,
    as_json: Json = False,
    *,
    format_options: dict[str, Any],
) -> None:
    """Turn saved densities into detections."""
    from bdl import decoding, formats
    from bdl.formats.densities import read_densities, read_manifest
    from bdl.formats.format_options import option_names
    from bdl.formats.table_writing import check_table_output
    from bdl.frames import counts_text

    intervals = interval_types(interval)
    options = {"min_duration": min_duration, "max_duration": max_duration, "min_gap": min_gap}
    limits = {name: limit for name, limit in options.items() if limit is not None}
    if limits and pairs is None:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in limits)
        raise ConfigError(f"{flags}: limits of intervals have no effect without --pairs FILE")
    given_period = {} if period is None else {"period": period}
    event_format = detection_format(to, {**format_options, **given_period}, out)
    for file, flag in ((None if event_format else out, "--out"), (pairs, "--pairs")):
        if file is not None:
            check_table_output(file, flag=flag)
    entries = read_manifest(densities).recordings
    periods = sample_periods(event_format, entries, period)
    kind: DensityKind = entries[0].kind if entries else "events"
    parsed = _parse_decoder(decoder, kind, tolerance or ())
    unused = intervals and pairs is None and kind == "events" and not parsed.alternate
    if unused and (event_format is None or "intervals" not in option_names(type(event_format))):
        raise ConfigError(
            "--interval has no effect without --pairs: the decoder does not alternate onsets "
            f"and offsets (alternate: true), and the format {to or 'bdl'} has no intervals; "
            "leave it out"
        )
    if threshold is not None:
        parsed = parsed.replace(threshold=threshold)
    detections = decoding.decode(
        console.track(read_densities(densities), "decoding", len(entries)), parsed, intervals
    )
    if event_format is None:
        formats.write_events(detections, out)
    elif write_decoded(event_format, detections, intervals, periods, out):
        console.err.print(f"note: scores are left out, as format {event_format.kind} has none")
    if pairs is not None:
        from bdl.formats.table_writing import write_table
        from bdl.pairing import pair

        paired = pair(detections, intervals, rule="best", **limits)
        write_table(paired.to_frame("pyarrow"), pairs)
    if as_json:
        counts = {name: int((detections.event == name).sum()) for name in detections.types}
        summary = {"recordings": len(entries), "detections": len(detections), "types": counts}
        console.print_json({**summary, "out": str(out)})
    else:
        head = f"{len(detections):,} detections in {len(entries):,} recordings: {out}"
        console.out.print(counts_text(head, detections.types, detections.type_code))


@commands.command()
@takes(event_options=EVENT_OPTIONS)
def calibrate(
    densities: Densities,
    events: Annotated[Path, Option(help="Table of annotated events of these recordings.")],
    out: Annotated[
        Path, Option(help="File to write (JSON): the chosen decoder and all tried settings.")
    ],
    grid: Annotated[
        str | None,
        Option(
            help="Settings to try: the name of a decoder, a YAML mapping such as '{kind: peaks, "
            "smooths: [0, 50]}', a file, or the name of a data set for its published "
            "grid. By default the grid of the recommended decoder."
        ),
    ] = None,
    tolerance: Tolerances = None,
    metric: Annotated[
        str, Option(help="Metric to choose by, such as mAP or AP@60; an unknown one lists all.")
    ] = "mAP",
    interval: Intervals = None,
    event_free: EventFreeRule = "ignore",
    events_format: EventsFormat = None,
    period: StepPeriod = None,
    as_json: Json = False,
    *,
    event_options: dict[str, Any],
) -> None:
    """Choose the best decoder of a grid on calibration recordings."""
    from bdl import decoding, formats
    from bdl.formats.densities import read_densities, read_manifest
    from bdl.formats.outputs import check_output

    if not tolerance:
        raise ConfigError("calibration needs the tolerances of the metric: --tolerance SECONDS")
    check_output(out)
    entries = read_manifest(densities).recordings
    kind = entries[0].kind if entries else "events"
    intervals = interval_types(interval)
    if grid is not None:
        tried_grid = _parse_grid(grid, kind)
    else:
        tried_grid = decoding.default_grid(
            kind, tolerances=tolerance, alternations=(False, True) if intervals else (False,)
        )
    read = partial(
        formats.read_events, events, format=events_format, period=period, **event_options
    )
    truth = read(defaults={"intervals": intervals or None})
    _check_events(truth, events, entries)
    if intervals and kind == "events" and not any(tried_grid.alternations) and truth == read():
        raise ConfigError(
            "--interval has no effect: the grid alternates no onsets and offsets (alternations: "
            f"[false, true]), and {events} has no intervals that it names; leave it out"
        )
    calibration = decoding.calibrate(
        console.track(read_densities(densities), "calibrating", len(entries)),
        truth,
        tried_grid,
        tolerances=tolerance,
        metric=metric,
        intervals=intervals,
        event_free=event_free,
    )
    with formats.atomic(out) as temporary:
        temporary.write_text(json.dumps(calibration.to_dict(), indent=1) + "\n")
    if as_json:
        console.print_json(calibration.to_dict())
    else:
        show(calibration)


def _event_types(entries: Sequence[DensityEntry]) -> list[str]:
    """Event types of densities, sorted; densities of states have names of intervals instead."""
    return sorted({name for entry in entries if entry.kind == "events" for name in entry.types})


def _check_events(truth: Events, path: Path, entries: Sequence[DensityEntry]) -> None:
    """Raise an error if no event is in a recording, and of a type, that was decoded."""
    ids = [entry.id for entry in entries]
    inside = truth.select(recordings=[id for id in ids if id in truth.recordings])
    if not len(inside):
        raise InputError(
            f"{path}: none of its {len(truth)} events is in one of the {len(ids)} recordings with "
            f"densities ({some(ids)}); its recordings are {some(truth.recordings)}: name the "
            "column that has them (--column recording=NAME)"
        )
    types = _event_types(entries)
    if types and not {*inside.types} & {*types}:
        raise InputError(
            f"{path}: its event types {some(truth.types)} are none of the densities' "
            f"{some(types)}; name the column of types (--column event=NAME), or map codes to names "
            "(--code CODE=NAME)"
        )


def _parse_decoder(text: str | None, kind: DensityKind, tolerances: Sequence[float]) -> Decoder:
    """A decoder from its command-line form, completed, or the default one."""
    from bdl.decoding import Decoder, default_decoder

    if text is None and not tolerances:
        raise ConfigError(
            "name a decoder (--decoder), or give the tolerances of the metric (--tolerance "
            "SECONDS) for the default one"
        )
    if text is None:
        return default_decoder(kind, tolerances=tolerances)
    parsed = parse_variant(Decoder, text, "--decoder", key="decoder")  # type: ignore[type-abstract]
    completed = parsed.complete(tolerances)
    if tolerances and completed == parsed:
        raise ConfigError(
            f"--tolerance has no effect: no parameter of the decoder {parsed.kind} is left open"
        )
    return completed


def _parse_grid(text: str, kind: DensityKind) -> Grid:
    """A grid from a name, a YAML mapping, a file, or the name of a data set."""
    from bdl.datasets import Dataset
    from bdl.decoding import Grid

    if text in Grid.names() or text.lstrip().startswith("{") or Path(text).suffix:
        return parse_variant(Grid, text, "--grid")
    datasets = Dataset.kinds_with("grids")
    if text not in datasets:
        return parse_variant(Grid, text, "--grid", also=datasets)
    grids = Dataset.kinds()[text].grids()
    if kind not in grids:
        raise ConfigError(f"--grid {text}: no grid is published for densities of kind {kind!r}")
    return grids[kind]


def show(calibration: Calibration) -> None:
    """Print every setting that was tried, and mark the chosen one."""
    from rich.table import Table

    settings = [trial.decoder.model_dump(mode="json") for trial in calibration.tried]
    varied = [key for key in settings[0] if any(s[key] != settings[0][key] for s in settings)]
    table = Table(*varied, calibration.metric, "")
    for trial, setting in zip(calibration.tried, settings, strict=True):
        values = (setting[key] for key in varied)
        texts = (f"{value:.4g}" if isinstance(value, float) else str(value) for value in values)
        mark = "chosen" if trial.decoder == calibration.decoder else ""
        table.add_row(*texts, f"{trial.score:.4f}", mark)
    console.out.print(table)
