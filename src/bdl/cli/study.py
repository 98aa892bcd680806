"""Studies from the command line: list, run, status, table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from bdl.cli.options import Json

commands = typer.Typer()
study = typer.Typer(
    help="Run a study of the paper, or your own, as a frozen and resumable protocol.",
    no_args_is_help=True,
)
commands.add_typer(study, name="study")
Run = Annotated[str, typer.Argument(help="Run directory: a folder or any fsspec path.")]


@study.command("list")
def list_studies(as_json: Json = False) -> None:
    """Show every preset with the data it needs and what it roughly costs."""
    from rich.table import Table

    from bdl.cli.console import out, print_json
    from bdl.study import catalogue, cost

    found = [cost.summary(catalogue.load(name)) for name in catalogue.names()]
    if as_json:
        print_json(found)
        return
    table = Table("study", "what", "data", "trainings", "core-hours")
    for one in found:
        hours = one["core_hours"]
        shown = f"{hours:,.0f}" if hours >= 10 else f"{hours:.1f}"
        table.add_row(one["name"], one["title"], one["data"], str(one["fits"]), f"~{shown}")
    out.print(table)


@study.command()
def run(
    name: Annotated[str, typer.Argument(help="A preset's name, or a protocol's YAML file.")],
    out: Annotated[str, typer.Option(help="Run directory: a folder or any fsspec path.")],
    data: Annotated[Path | None, typer.Option(help="Folder of the data set.")] = None,
    scale: Annotated[
        Literal["full", "small", "tiny"],
        typer.Option(
            help="small and tiny shrink the protocol, and simulate data if none is given."
        ),
    ] = "full",
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads a worker; by default cores / jobs.")
    ] = None,
    backend: Annotated[
        Literal["loky", "ray", "dask"], typer.Option(help="Where workers run.")
    ] = "loky",
    address: Annotated[
        str | None, typer.Option(help="Address of a Ray or Dask cluster; a local one if not given.")
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option(help="Open data that is a pickle, which can run code.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a study, or go on with one that was stopped."""
    from bdl.cli.console import err, print_json, progress
    from bdl.cli.console import out as console
    from bdl.study import catalogue, table_formats
    from bdl.study.runner import run_study
    from bdl.study.scale import scale_of, shrink
    from bdl.study.workers import Workers

    protocol = catalogue.load(name)
    size = None
    if scale != "full":
        size = scale_of(protocol, scale)
        protocol = shrink(protocol, size)
    with progress() as bar:
        shown: dict[str, Any] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in shown:
                shown[what] = bar.add_task(what, total=total)
            bar.update(shown[what], completed=done, total=total)

        results = run_study(
            protocol,
            out,
            data=data,
            scale=size,
            workers=Workers(backend=backend, jobs=jobs, address=address),
            threads=threads,
            trust=trust_pickle,
            report=report,
        )
    if as_json:
        print_json({"out": out, **results.to_dict()})
        return
    console.print(table_formats.written(protocol, results)["md"], markup=False, soft_wrap=True)
    err.print(f"results, tables and figures: {out}")


@study.command()
def status(run: Run, as_json: Json = False) -> None:
    """Show how far a study is, the time left, and what it has so far."""
    from rich.table import Table

    from bdl.cli.console import out, print_json
    from bdl.study.status import status_of

    found = status_of(run)
    if as_json:
        print_json(found.to_dict())
        return
    out.print(f"{found.name}: " + ("finished" if found.results else "not finished"))
    for kind, total in found.total.items():
        out.print(f"  {kind:<9} {found.done[kind]:>4} of {total}")
    if found.seconds_left is not None and found.results is None:
        out.print(f"  about {found.seconds_left / 60:.1f} minutes left")
    if found.live and any(score is not None for row in found.live.values() for score in row):
        folds = range(len(next(iter(found.live.values()))))
        table = Table("row", *(f"fold {j}" for j in folds), title="mAP to choose by, so far")
        for row, scores in found.live.items():
            table.add_row(row, *("–" if s is None else f"{s:.3f}" for s in scores))
        out.print(table)


@study.command()
def table(
    run: Run,
    form: Annotated[
        Literal["md", "csv", "tex"], typer.Option("--format", help="Markdown, CSV or LaTeX.")
    ] = "md",
    as_json: Json = False,
) -> None:
    """Print the tables of a finished study, ours and the paper's side by side."""
    from bdl.cli.console import print_json
    from bdl.study import table_formats
    from bdl.study.study_reader import StudyReader

    study = StudyReader(run)
    if as_json:
        print_json(study.results.to_dict())
    else:
        print(table_formats.written(study.protocol, study.results)[form], end="")
