"""The command that draws the figures of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Context, Option, Typer

from bdl.cli import console
from bdl.cli.numbers import SEED
from bdl.cli.options import Json, MovedData, TrustPickle, refuse_options

commands = Typer()


@commands.command(epilog="Example: `bdl figures RUN --out figures/`")
def figures(
    runs: Annotated[list[str] | None, Argument(help="Run directories of finished studies.")] = None,
    *,
    context: Context,
    out: Annotated[Path, Option(help="Folder to write to.")],
    data: MovedData = None,
    trust_pickle: TrustPickle = False,
    theme: Annotated[
        Literal["light", "dark", "both"], Option(help="Files of the dark theme end in -dark.")
    ] = "both",
    seed: Annotated[int, Option(parser=SEED, help="Seed of the simulated night.")] = 0,
    json: Json = False,
) -> None:
    """Draw the figures of the paper as SVG, PDF and PNG files."""
    from bdl.figures import draw_figures
    from bdl.formats.outputs import check_output

    if not runs:
        refuse_options(context, ("data", "trust_pickle"), "without run directories")
    check_output(out, folder=True)
    drawn = draw_figures(out, runs or [], data=data, trust=trust_pickle, theme=theme, seed=seed)
    if json:
        console.print_json({"files": [str(file) for file in drawn.files], "notes": [*drawn.notes]})
        return
    for file in drawn.files:
        print(file)
    for note in drawn.notes:
        console.err.print(note)
