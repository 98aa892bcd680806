"""Commands on data sets: simulate, fetch, audit targets, advise on a stride."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from bdl.cli.options import Json

commands = typer.Typer()
data = typer.Typer(help="Published data sets.", no_args_is_help=True)
commands.add_typer(data, name="data")

Kernel = Literal["hard", "gaussian", "tolerance", "right"]


@commands.command()
def simulate(
    name: Annotated[str, typer.Argument(help="sleep, chbmit, bowshock or fraud.")],
    out: Annotated[Path, typer.Option(help="Folder for the raw files.")],
    recordings: Annotated[int, typer.Option(help="Number of series.")] = 64,
    days: Annotated[float | None, typer.Option(help="Days a series (sleep, chbmit).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all that is random.")] = 0,
    layout: Annotated[
        str | None, typer.Option(help="Of chbmit: physionet (default) or kaggle.")
    ] = None,
) -> None:
    """Write the raw files of a simulated data set, in the layout it is published in."""
    from bdl.cli.console import err, progress
    from bdl.datasets.simulate import simulate as run

    with progress() as bar:
        task = bar.add_task(f"simulating {name}", total=recordings)
        run(
            name,
            out,
            recordings=recordings,
            days=days,
            seed=seed,
            layout=layout,  # type: ignore[arg-type]  # checked, with a message, by the function
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    err.print(f"{recordings} series in {out}, {size / 1e6:,.1f} MB")


@commands.command()
def audit(
    folder: Annotated[Path, typer.Argument(help="Folder of the data set.")],
    dataset: Annotated[str, typer.Option(help="Which data set it is, such as sleep.")],
    kernel: Annotated[Kernel, typer.Option(help="Kernel of the targets.")] = "gaussian",
    sigma: Annotated[float | None, typer.Option(help="Width of a Gaussian in seconds.")] = None,
    stride: Annotated[int | None, typer.Option(help="Samples a bin.")] = None,
    crop: Annotated[float | None, typer.Option(help="Crops of so many seconds.")] = None,
    task: Annotated[str | None, typer.Option(help="Task of hapt and mitdb.")] = None,
    trust_pickle: Annotated[bool, typer.Option(help="Open the bow shock pickle.")] = False,
    json: Json = False,
) -> None:
    """Check the targets made from a data set's events: mass, edges, largest values, collisions.

    Sigma and stride are those of the benchmark unless given.
    """
    from bdl.cli.console import out, print_json
    from bdl.datasets import load
    from bdl.datasets.audit import audit as run

    options: dict[str, Any] = {} if task is None else {"task": task}
    if trust_pickle:
        options["trust"] = True
    found = load(dataset, folder, **options)
    settings = found.settings
    chosen = _kernel(kernel, settings.sigma if sigma is None else sigma, settings.tolerances)
    bins = settings.stride if stride is None else stride
    rows = run(
        found.events,
        found.recordings.infos,
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
                "notes": [*found.notes],
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
    for note in found.notes:
        out.print(f"note: {note}")


def _kernel(name: Kernel, sigma: float, tolerances: tuple[float, ...]) -> Any:
    from bdl import kernels

    if name == "hard":
        return kernels.Hard()
    if name == "tolerance":
        return kernels.Tolerance(tolerances=tolerances)
    kind = kernels.Gaussian if name == "gaussian" else kernels.RightGaussian
    return kind(sigma=sigma)


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


@data.command()
def fetch(
    name: Annotated[str, typer.Argument(help="mitdb, chbmit, chbmit-kaggle, sleep or fraud.")],
    out: Annotated[Path, typer.Option(help="Folder for the files.")],
    only: Annotated[
        list[str] | None, typer.Option(help="Patterns of files, such as 'chb01/*'.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Mirror of a PhysioNet project.")] = None,
) -> None:
    """Fetch a published data set; run again to go on after a break."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from bdl.cli.console import err
    from bdl.datasets.fetch import SOURCES
    from bdl.datasets.fetch import fetch as run

    if name in SOURCES:
        err.print(f"licence: {SOURCES[name].licence}\ncite: {SOURCES[name].citation}")
    with Progress(
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(),
        console=err,
    ) as bar:  # fmt: skip
        task = bar.add_task(name, total=None)
        found = run(
            name,
            out,
            only=only or (),
            url=url,
            progress=lambda file, done, total: bar.update(
                task, description=file, completed=done, total=total or None
            ),
        )
    err.print(f"{len(found)} files in {out}")


def _short(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
