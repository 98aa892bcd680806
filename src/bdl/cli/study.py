"""Studies from the command line: list, run, status, table, verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Context, Option, Typer

from bdl.cli import console
from bdl.cli.dataset_options import DatasetOptions
from bdl.cli.options import Json, MovedData, TrustPickle, parse_options, refuse_options, takes
from bdl.errors import ConfigError
from bdl.workers import Workers

if TYPE_CHECKING:
    from bdl.datasets import Dataset

commands = Typer()
study = Typer(
    help="Run a study of the paper, or your own, as a frozen protocol.", no_args_is_help=True
)
commands.add_typer(study, name="study")
Run = Annotated[str, Argument(help="Run directory: a folder or any fsspec path.")]


@study.command("list")
def list_studies(
    context: Context,
    verbose: Annotated[
        bool, Option("--verbose", help="Also show what the paper leaves open, and our choice.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the presets with the data they need and their rough cost."""
    from rich.table import Table

    from bdl.study import catalogue
    from bdl.study.cost import summary

    if as_json:
        refuse_options(context, ("verbose",), "with --json, which has the notes")
    summaries = [summary(catalogue.load(name)) for name in catalogue.names()]
    if as_json:
        console.print_json(summaries)
        return
    table = Table("study", "title", "data", "trainings", "core-hours")
    for study_summary in summaries:
        hours = study_summary["core_hours"]
        rounded = f"{hours:,.0f}" if hours >= 10 else f"{hours:.1f}"
        table.add_row(
            study_summary["name"],
            study_summary["title"],
            study_summary["data"],
            str(study_summary["trainings"]),
            f"~{rounded}",
        )
    console.out.print(table)
    if verbose:
        for study_summary in summaries:
            console.out.rich.print(f"\n{study_summary['name']}: {study_summary['note']}")


@study.command()
@takes(workers=Workers)
def run(
    name: Annotated[str, Argument(help="Name of a preset, or YAML file of a protocol.")],
    *,
    out: Annotated[str, Option(help="Run directory: a folder or any fsspec path.")],
    data: Annotated[Path | None, Option(help="Folder of the data set.")] = None,
    option: DatasetOptions = None,
    scale: Annotated[
        Literal["full", "small", "tiny"],
        Option(help="small and tiny shrink the protocol, and simulate data if none is given."),
    ] = "full",
    workers: dict[str, Any],
    verify: Annotated[
        bool, Option("--verify", help="Read and hash all data again when a study is resumed.")
    ] = False,
    trust_pickle: TrustPickle = False,
    as_json: Json = False,
) -> None:
    """Run a study, or resume one that was stopped."""
    from bdl.formats.outputs import check_output
    from bdl.study import catalogue
    from bdl.study.runner import run_study
    from bdl.study.scale import scale_of, shrink
    from bdl.study.table_formats import written

    if "://" not in out:
        check_output(out, folder=True)
    protocol = catalogue.load(name)
    if option:
        protocol = protocol.replace(data=protocol.data.replace(**parse_options(option)))
    if trust_pickle:
        _check_trust(protocol.data)
    size = None
    if scale != "full":
        size = scale_of(protocol, scale)
        protocol = shrink(protocol, size)
    with console.progress() as report:
        results = run_study(
            protocol,
            out,
            data=data,
            scale=size,
            workers=Workers(**workers),
            trust=trust_pickle,
            verify=verify,
            report=report,
        )
    if as_json:
        console.print_json({"out": out, **results.to_dict()})
        return
    console.out.print(written(protocol, results)["md"])
    console.err.print(f"results, tables and figures: {out}")


def _check_trust(data: Dataset) -> None:
    """Raise an error if nothing in the data can run code."""
    from bdl.datasets import Dataset

    if type(data).trusted is Dataset.trusted:
        raise ConfigError(
            f"--trust-pickle has no effect: {data.kind} data have no pickles; leave it out"
        )


@study.command()
def status(run: Run, as_json: Json = False) -> None:
    """Show how much of a study is done, the time left, and the scores so far."""
    from rich.table import Table

    from bdl.study.status import status_of

    current = status_of(run)
    if as_json:
        console.print_json(current.to_dict())
        return
    console.out.print(f"{current.name}: " + ("finished" if current.results else "not finished"))
    for kind, total in current.total.items():
        console.out.print(f"  {kind:<9} {current.done[kind]:>4} of {total}")
    if current.seconds_left is not None and current.results is None:
        console.out.print(f"  about {current.seconds_left / 60:.1f} minutes left")
    if any(score is not None for scores in current.live.values() for score in scores):
        folds = range(len(next(iter(current.live.values()))))
        table = Table("row", *(f"fold {fold}" for fold in folds), title="Selection mAP so far")
        for row, scores in current.live.items():
            table.add_row(row, *("–" if score is None else f"{score:.3f}" for score in scores))
        console.out.print(table)


@study.command()
def table(
    context: Context,
    run: Run,
    to: Annotated[Literal["md", "csv", "tex"], Option(help="Markdown, CSV or LaTeX.")] = "md",
    as_json: Json = False,
) -> None:
    """Print the tables of a finished study, our values next to those of the paper."""
    from bdl.study.study_reader import StudyReader
    from bdl.study.table_formats import written

    if as_json:
        refuse_options(context, ("to",), "with --json")
    reader = StudyReader(run)
    if as_json:
        console.print_json(reader.results.to_dict())
    else:
        print(written(reader.protocol, reader.results)[to], end="")


@study.command()
def verify(
    run: Run,
    data: MovedData = None,
    trust_pickle: TrustPickle = False,
    as_json: Json = False,
) -> None:
    """Check a finished study, from its protocol to its tables; nothing is written.

    Every file is compared with its hash. Selection, scores and tables are computed again from the
    data and the outputs of the steps.
    """
    from dataclasses import asdict

    from bdl.study.study_reader import StudyReader
    from bdl.study.verification import verify_study

    if trust_pickle:
        _check_trust(StudyReader(run).protocol.data)
    verified = verify_study(run, data=data, trust=trust_pickle)
    if as_json:
        console.print_json(asdict(verified))
        return
    data_text = "not found, so that scores were not computed again (--data)"
    if verified.recordings is not None:
        data_text = f"{verified.recordings} recordings, scored again with equal scores"
    lines = [
        f"{run}: unchanged since it was written",
        f"  chain      {verified.chain}",
        f"  steps      {verified.steps}, with {verified.files} files",
        f"  data       {data_text}",
        "  tables     equal to those computed from the results",
    ]
    console.out.print("\n".join(lines))
