"""Commands on data sets: simulate, fetch, audit targets, advise on a stride."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from bdl.cli.dataset_options import (
    DATASET_HELP,
    DatasetArgument,
    DatasetOptions,
    dataset_names,
    named_dataset,
)
from bdl.cli.options import Json, advance

commands = typer.Typer()
data = typer.Typer(help="Published data sets.", no_args_is_help=True)
commands.add_typer(data, name="data")


@commands.command()
def simulate(
    name: DatasetArgument,
    out: Annotated[Path, typer.Option(help="Folder for the raw files.")],
    recordings: Annotated[int, typer.Option(help="Number of recordings.")] = 64,
    days: Annotated[
        float | None, typer.Option(help="Days per recording; as published if not given.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    option: DatasetOptions = None,
) -> None:
    """Write the raw files of a simulated data set, in the form it is published in."""
    from bdl.cli.console import err, progress

    dataset = named_dataset(name, option)
    with progress() as bar:
        dataset.simulate(
            out,
            recordings=recordings,
            days=days,
            seed=seed,
            progress=advance(bar, f"simulating {name}"),
        )
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    err.print(f"{recordings} recordings in {out}, {size / 1e6:,.1f} MB")


@commands.command()
def audit(
    folder: Annotated[Path, typer.Argument(help="Folder of the data set.")],
    dataset: Annotated[str, typer.Option(help=DATASET_HELP, autocompletion=dataset_names)],
    option: DatasetOptions = None,
    kernel: Annotated[
        str, typer.Option(help="Kernel of the targets, such as hard or gaussian.")
    ] = "gaussian",
    sigma: Annotated[
        float | None, typer.Option(help="Width of the kernel in seconds, if it has one.")
    ] = None,
    stride: Annotated[int | None, typer.Option(help="Samples per bin.")] = None,
    crop: Annotated[float | None, typer.Option(help="Length of the crops in seconds.")] = None,
    json: Json = False,
) -> None:
    """Check the targets built from a data set's events: mass, edges, largest values, collisions.

    Sigma and stride are those of the data set unless given.
    """
    from bdl.cli.console import out, print_json
    from bdl.datasets.audit import audit as run
    from bdl.kernels import Kernel

    benchmark = named_dataset(dataset, option).load(folder)
    settings = benchmark.settings
    chosen = Kernel.parse(kernel, "--kernel").complete(
        sigma=settings.sigma if sigma is None else sigma, tolerances=settings.tolerances
    )
    bins = settings.stride if stride is None else stride
    rows = run(
        benchmark.events,
        benchmark.recordings.infos,
        types=settings.types,
        kernel=chosen,
        stride=bins,
        crop=crop,
    )
    if json:
        print_json(
            {
                "dataset": dataset,
                "kernel": chosen.model_dump(mode="json"),
                "stride": bins,
                "crop": crop,
                "types": [row.to_dict() for row in rows],
                "notes": [*benchmark.notes],
            }
        )
        return
    from rich.table import Table

    shown = [row.to_dict() for row in rows]
    table = Table("", *(row["type"] for row in shown), title=f"{dataset}: {kernel}, stride {bins}")
    for key in shown[0]:
        if key != "type":
            table.add_row(key.replace("_", " "), *(_short(row[key]) for row in shown))
    out.print(table)
    for note in benchmark.notes:
        out.print(f"note: {note}")


@commands.command()
def stride(
    period: Annotated[list[float], typer.Option(help="Seconds a sample; may be repeated.")],
    stride: Annotated[list[int], typer.Option(help="Samples a bin; may be repeated.")],
    tolerance: Annotated[list[float], typer.Option(help="Seconds; may be repeated.")],
    spacing: Annotated[
        list[float], typer.Option(help="Seconds between events of a type; may be repeated.")
    ],
    duration: Annotated[float, typer.Option(help="Seconds of signal a sequence.")] = 86400.0,
    probability: Annotated[float, typer.Option(help="Acceptable chance of a collision.")] = 1e-3,
    json: Json = False,
) -> None:
    """Check output strides against tolerances and event frequency.

    Every combination of the repeated options is a row.
    """
    from bdl.cli.console import out, print_json
    from bdl.stride import advise

    rows = [
        advise(
            period=p, stride=s, tolerance=t, spacing=g, duration=duration, probability=probability
        )
        for p, s, t, g in product(period, stride, tolerance, spacing)
    ]
    if json:
        print_json({"probability": probability, "duration": duration,
                    "rows": [row.to_dict() for row in rows]})  # fmt: skip
        return
    from rich.table import Column, Table

    heads = ("stride", "bin s", "tol s", "whole", "half", "m", "P(>=2)", "m^2/2", "max", "bins")
    table = Table(*(Column(head, no_wrap=True) for head in heads), box=None, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(
            str(row.stride),
            f"{row.width:g}",
            f"{row.tolerance:g}",
            "yes" if row.conservative else "no",
            "yes" if row.weak else "no",
            f"{row.expected:.2e}",
            f"{row.collision:.2e}",
            f"{row.collision_approximation:.2e}",
            str(row.largest_stride),
            f"{row.bins:,}",
        )
    out.print(table)
    out.print(
        "whole, half: a whole bin, half a bin lies within the tolerance\n"
        "m: expected events of a type a bin; P(>=2): probability that two share one\n"
        f"max: largest stride with P(>=2) within {probability:g}; bins: of {duration:g} s"
    )


@data.command("list")
def list_datasets(json: Json = False) -> None:
    """List the data sets: what each needs and how it is used, with its options."""
    from bdl.cli.console import out, print_json
    from bdl.datasets import Dataset
    from bdl.registry import field_help

    simulated, downloaded = (Dataset.kinds_with(name) for name in ("simulator", "download"))
    rows: list[dict[str, Any]] = [
        {
            "name": kind,
            "summary": dataset.summary(),
            "requires": dataset.requires,
            "licence": dataset.licence,
            "citation": dataset.citation,
            "simulated": kind in simulated,
            "downloaded": kind in downloaded,
            "options": {name: field_help(dataset).get(name, "") for name in dataset.options()},
        }
        for kind, dataset in Dataset.kinds().items()
    ]
    if json:
        print_json({"datasets": rows})
        return
    from rich.table import Table

    for row in rows:
        table = Table.grid("", "", padding=(0, 2, 0, 0))
        table.add_row("[bold]" + row["name"], row["summary"])
        table.add_row("", f"needs {row['requires'] or 'data of its own'}")
        for command, possible in (("simulate", "simulated"), ("data fetch", "downloaded")):
            if row[possible]:
                table.add_row("", f"bdl {command} {row['name']}")
        for name, text in row["options"].items():
            table.add_row("", f"--option {name}=...: {text}")
        out.print(table)


@data.command()
def fetch(
    name: DatasetArgument,
    out: Annotated[Path, typer.Option(help="Folder for the files.")],
    option: DatasetOptions = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Patterns of files, such as 'chb01/*'.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Mirror of a PhysioNet project.")] = None,
) -> None:
    """Download a published data set; run again to resume after an interruption."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from bdl.cli.console import err

    dataset = named_dataset(name, option)
    err.print(f"licence: {dataset.licence}\ncite: {dataset.citation}")
    with Progress(
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(),
        console=err.rich,
    ) as bar:  # fmt: skip
        task = bar.add_task(name, total=None)
        files = dataset.fetch(
            out,
            only=only or (),
            url=url,
            progress=lambda file, done, total: bar.update(
                task, description=file, completed=done, total=total or None
            ),
        )
    err.print(f"{len(files)} files in {out}")


def _short(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
