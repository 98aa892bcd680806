"""Commands from saved densities to events: ``decode`` and ``calibrate``."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bdl.cli import console
from bdl.cli.options import Intervals, Json, interval_types
from bdl.errors import ConfigError, InputError

if TYPE_CHECKING:
    from bdl.decoding.calibration import Calibration
    from bdl.events import Events
    from bdl.intervals import IntervalType

commands = typer.Typer()

Densities = Annotated[
    Path, typer.Argument(help="Folder of densities, as `bdl detect --densities` writes it.")
]
Tolerances = Annotated[
    list[float] | None, typer.Option("--tolerance", help="Tolerance in seconds; may be repeated.")
]


@commands.command()
def decode(
    densities: Densities,
    out: Annotated[Path, typer.Argument(help="Event table to write (.csv or .parquet).")],
    decoder: Annotated[
        Path | None,
        typer.Option(
            help="Decoder as JSON or YAML, such as `bdl calibrate` writes. Without it the default "
            "decoder is used, which needs --tolerance."
        ),
    ] = None,
    tolerance: Tolerances = None,
    interval: Intervals = None,
    format: Annotated[str, typer.Option(help="Format of the event table.")] = "bdl",
    period: Annotated[float | None, typer.Option(help="Seconds a step, for Kaggle tables.")] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Also pair events to intervals and write them here (.csv).")
    ] = None,
    min_duration: Annotated[float, typer.Option(help="Shortest interval in seconds.")] = 0.0,
    max_duration: Annotated[float, typer.Option(help="Longest interval in seconds.")] = math.inf,
    min_gap: Annotated[float, typer.Option(help="Least gap between intervals in seconds.")] = 0.0,
    as_json: Json = False,
) -> None:
    """Turn saved densities into ranked events."""
    from bdl import decoding, formats
    from bdl.formats.densities import read_densities, read_manifest

    kinds = interval_types(interval)
    entries = read_manifest(densities).recordings
    if decoder is not None:
        data = load(decoder)
        if isinstance(data, dict) and isinstance(data.get("decoder"), dict):
            data = data["decoder"]
        chosen = decoding.from_dict(data, str(decoder))
    else:
        kind = entries[0].kind if entries else "events"
        chosen = decoding.default(kind, tolerances=tolerance or ())
    found = decoding.decode(
        console.track(read_densities(densities), "decoding", len(entries)), chosen, kinds
    )
    formats.write_events(
        found,
        out,
        format=format,  # type: ignore[arg-type]
        period=period,
        intervals=kinds or None,
    )
    if pairs is not None:
        limits = {"min_duration": min_duration, "max_duration": max_duration, "min_gap": min_gap}
        write_pairs(found, kinds, pairs, limits)
    if as_json:
        counts = {name: int((found.event == name).sum()) for name in found.types}
        console.print_json({"recordings": len(entries), "events": counts, "out": str(out)})
    else:
        console.out.print(found)


@commands.command()
def calibrate(
    densities: Densities,
    events: Annotated[Path, typer.Argument(help="Annotated events of these recordings.")],
    out: Annotated[Path, typer.Argument(help="File to write: the decoder and all that was tried.")],
    grid: Annotated[
        str,
        typer.Option(
            help="A preset (expected-ap, sleep, chbmit, bowshock, fraud) or a JSON or YAML file."
        ),
    ] = "expected-ap",
    tolerance: Tolerances = None,
    metric: Annotated[str, typer.Option(help="mAP, mF1 or AP@<tolerance>.")] = "mAP",
    interval: Intervals = None,
    event_free: Annotated[
        str, typer.Option(help="Detections in event-free recordings: ignore or count.")
    ] = "ignore",
    format: Annotated[str | None, typer.Option(help="Format of the annotated events.")] = None,
    period: Annotated[float | None, typer.Option(help="Seconds a step, for Kaggle tables.")] = None,
    as_json: Json = False,
) -> None:
    """Choose the best decoder of a grid on calibration recordings."""
    from bdl import decoding, formats
    from bdl.decoding.grids import PRESETS
    from bdl.formats.densities import read_densities, read_manifest

    if not tolerance:
        raise ConfigError("calibration needs the metric's tolerances: --tolerance SECONDS")
    entries = read_manifest(densities).recordings
    kind = entries[0].kind if entries else "events"
    chosen = (
        decoding.preset(grid, kind)
        if grid in PRESETS or not Path(grid).suffix
        else decoding.grid_from_dict(load(Path(grid)), grid)
    )
    kinds = interval_types(interval)
    truth = formats.read_events(
        events,
        format=format,  # type: ignore[arg-type]
        period=period,
        intervals=kinds or None,
    )
    found = decoding.calibrate(
        console.track(read_densities(densities), "calibrating", len(entries)),
        truth,
        chosen,
        tolerances=tolerance,
        metric=metric,
        intervals=kinds,
        event_free=event_free,  # type: ignore[arg-type]
    )
    with formats.atomic(out) as temporary:
        temporary.write_text(json.dumps(found.to_dict(), indent=1) + "\n")
    if as_json:
        console.print_json(found.to_dict())
    else:
        show(found)


def show(found: Calibration) -> None:
    """Print every setting tried, the chosen one marked."""
    from rich.table import Table

    dumps = [trial.decoder.model_dump(mode="json") for trial in found.tried]
    varied = [key for key in dumps[0] if any(one[key] != dumps[0][key] for one in dumps)]
    table = Table(*varied, found.metric, "")
    for trial, one in zip(found.tried, dumps, strict=True):
        mark = "chosen" if trial.decoder == found.decoder else ""
        table.add_row(*(text(one[key]) for key in varied), f"{trial.score:.4f}", mark)
    console.out.print(table)


def text(value: object) -> str:
    """A value of a setting as short text.

    >>> text(0.25), text(True)
    ('0.25', 'True')
    """
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def load(path: Path) -> Any:
    """Plain data of a JSON or YAML file."""
    import yaml

    try:
        return yaml.safe_load(path.read_text())
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        told = " ".join(str(error).split())
        raise InputError(f"{path}: cannot be read as JSON or YAML: {told}") from error


def write_pairs(
    found: Events, kinds: tuple[IntervalType, ...], path: Path, limits: dict[str, float]
) -> None:
    """Pair events and write the intervals as a CSV table."""
    import polars as pl

    from bdl.formats import atomic
    from bdl.pairing import pair

    columns = ["recording", "name", "start", "end", "score"]
    intervals = list(pair(found, kinds, rule="best", **limits))
    table = pl.DataFrame(
        {column: [getattr(one, column) for one in intervals] for column in columns},
        schema={c: pl.String if c in ("recording", "name") else pl.Float64 for c in columns},
    )
    with atomic(path) as temporary:
        table.write_csv(temporary)
