"""Commands on data sets: list, download and simulate them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from typer import Option, Typer

from bdl.cli import console
from bdl.cli.dataset_options import DatasetArgument, DatasetOptions, named_dataset
from bdl.cli.numbers import COUNT, DAYS, SEED
from bdl.cli.options import Json

commands = Typer()
data = Typer(help="Published data sets.", no_args_is_help=True)
commands.add_typer(data, name="data")


@commands.command()
def simulate(
    name: DatasetArgument,
    out: Annotated[Path, Option(help="Folder for the raw files.")],
    recordings: Annotated[int, Option(parser=COUNT, help="Number of recordings.")] = 64,
    days: Annotated[
        float | None, Option(parser=DAYS, help="Days per recording; as published if not given.")
    ] = None,
    seed: Annotated[int, Option(parser=SEED, help="Seed of all random numbers.")] = 0,
    option: DatasetOptions = None,
    json: Json = False,
) -> None:
    """Write the raw files of a simulated data set."""
    dataset = named_dataset(name, option)
    with console.progress() as report:
        dataset.simulate(
            out,
            recordings=recordings,
            days=days,
            seed=seed,
            progress=partial(report, f"simulating {name}"),
        )
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    if json:
        console.print_json({"out": str(out), "recordings": recordings, "bytes": size})
        return
    console.err.print(f"{recordings} recordings in {out}, {size / 1e6:,.1f} MB")


@data.command("list")
def list_datasets(json: Json = False) -> None:
    """List the data sets: what each needs and how it is used, with its options."""
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
        console.print_json({"datasets": rows})
        return
    from rich.table import Table
    from rich.text import Text

    for row in rows:
        table = Table.grid("", "", padding=(0, 2, 0, 0))
        table.add_row(Text(row["name"], "bold"), row["summary"])
        table.add_row("", f"needs {row['requires'] or 'data of its own'}")
        for command, key in (("simulate", "simulated"), ("data fetch", "downloaded")):
            if row[key]:
                table.add_row("", f"bdl {command} {row['name']}")
        for name, text in row["options"].items():
            table.add_row("", f"--option {name}=...: {text}")
        console.out.print(table)


@data.command()
def fetch(
    name: DatasetArgument,
    out: Annotated[Path, Option(help="Folder for the files.")],
    option: DatasetOptions = None,
    only: Annotated[list[str] | None, Option(help="Patterns of files, such as 'chb01/*'.")] = None,
    url: Annotated[str | None, Option(help="Mirror of a PhysioNet project.")] = None,
    json: Json = False,
) -> None:
    """Download a published data set; run again to resume after an interruption."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from bdl.formats.outputs import check_output

    dataset = named_dataset(name, option)
    check_output(out, folder=True)
    console.err.print(f"licence: {dataset.licence}\ncite: {dataset.citation}")
    with Progress(
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(),
        console=console.err.rich,
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
    if json:
        console.print_json({"out": str(out), "files": [str(file) for file in files]})
        return
    console.err.print(f"{len(files)} files in {out}")
