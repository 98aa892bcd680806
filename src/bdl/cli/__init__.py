"""The command line: each command calls one function of the library.

A module here holds a family of commands as ``commands``, a typer application; all are joined
into ``bdl``. Heavy imports stand inside the commands, so that ``bdl --help`` starts at once.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module

import typer
from rich.console import Console
from rich.markup import escape

from bdl.errors import BdlError

INTERRUPTED = 130
MODULES = (
    "tables",
    "prepare",
    "data",
    "decoding",
    "models",
    "scoring",
    "study",
    "report",
    "project",
)

app = typer.Typer(
    name="bdl",
    help="Event times from long recordings: fit, detect, score.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for _name in MODULES:
    app.add_typer(import_module(f"bdl.cli.{_name}").commands)


def main() -> None:
    """Run the command line; our own errors become one message and exit code 2."""
    warnings.showwarning = _warn
    try:
        app()
    except BdlError as error:
        told = f"[red]error:[/red] {escape(str(error))}"
        Console(stderr=True, soft_wrap=True).print(told, highlight=False)
        sys.exit(2)
    except SystemExit as ended:
        if ended.code == INTERRUPTED:  # typer has taken the KeyboardInterrupt
            Console(stderr=True).print("interrupted; run the same command again to go on")
        raise


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """A warning is for the user, who has no use for the line of code that gave it."""
    told = f"[yellow]warning:[/yellow] {escape(str(message))}"
    Console(stderr=True, soft_wrap=True).print(told, highlight=False)
