"""The command line: each command calls one function of the library.

A module here holds a family of commands as ``commands``, a typer application. `COMMANDS` names
the module and the summary of each command, so that ``bdl --help`` imports none of them and a
command only its own.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bdl.errors import BdlError, missing_extra

INTERRUPTED = 130
INCOMPLETE = 3  # done, but something was left out, which the messages name

# Summary and module of each command, in the order of the help text; a test compares the summaries
# with the commands' own.
COMMANDS = {
    "convert": ("Translate events between formats.", "event_conversion"),
    "inspect": ("Show what recordings and events contain, and what looks wrong.", "inspection"),
    "prepare": ("Stream recordings into a store of memory-mapped arrays.", "prepare"),
    "new": ("Propose every setting from the data, and write a configuration.", "project"),
    "evaluate": (
        "Score a detector on your own data by nested cross-validation.",
        "nested_cross_validation",
    ),
    "fit": ("Train a detector and write it to one file.", "fitting"),
    "detect": ("Detect events in recordings with a trained model.", "detection"),
    "show": ("Show what a model detects, how well, and what its scores mean.", "model_card"),
    "export": ("Write a trained model as an ONNX file, which needs no torch.", "export"),
    "live": ("Detect events in samples as they arrive.", "live"),
    "serve": ("Serve streams over WebSocket, all stepped together.", "live"),
    "decode": ("Turn saved densities into detections.", "decoding"),
    "calibrate": ("Choose the best decoder of a grid on calibration recordings.", "decoding"),
    "score": ("Score a table of detections against annotated events.", "scoring"),
    "compare": (
        "Compare systems on the same recordings, with paired confidence intervals.",
        "scoring",
    ),
    "report": ("Write a report: one HTML page that works offline.", "report"),
    "curve": ("Score by number of labelled recordings: would more labels help?", "curve"),
    "explore": ("Look at recordings, correct labels, work through a review queue.", "label_review"),
    "review": ("List doubtful labels, the most likely errors first.", "label_review"),
    "figures": ("Draw the figures of the paper as SVG, PDF and PNG files.", "figures"),
    "study": ("Run a study of the paper, or your own, as a frozen protocol.", "study"),
    "data": ("Published data sets.", "data"),
    "simulate": ("Write the raw files of a simulated data set.", "data"),
    "audit": ("Check the targets of a data set's events.", "target_checks"),
    "stride": ("Check output strides against tolerances and event frequency.", "target_checks"),
    "doctor": (
        "Examine the installation: versions, extras, processor, memory, caches.",
        "doctor",
    ),
    "demo": ("Simulate, train two detectors, score held-out recordings.", "demo"),
}


@cache
def _commands_of(module: str) -> Mapping[str, Any]:
    family = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)
    family.add_typer(import_module(f"bdl.cli.{module}").commands)
    return typer.main.get_group(family).commands


class Commands(Mapping[str, Any]):
    """The commands by name, each imported when it is used."""

    def __getitem__(self, name: str) -> Any:
        _, module = COMMANDS[name]
        return _commands_of(module)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class CommandGroup(TyperGroup):
    """The command ``bdl``: its help text is written without importing any command."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": {}})
        self.commands = Commands()  # type: ignore[assignment]

    def invoke(self, ctx: Any) -> Any:
        """Run a command; messages about wrong options are rewritten without validator terms."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if text := getattr(error, "message", ""):
                vars(error)["message"] = _plain_message(text)
            elif help := getattr(getattr(error, "param", None), "help", None):
                vars(error)["message"] = help  # describes the missing option
            raise

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands, in the order of the help text."""
        return [*COMMANDS]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands with their summaries."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (summary, _) in COMMANDS.items()])


def _plain_message(text: str) -> str:
    """The message of a validator in the form of our own messages.

    Examples
    --------
    >>> _plain_message("Input should be greater than or equal to 2")
    '2 or more expected'
    >>> _plain_message("Value error, 'x' is not one of 'a', 'b'.")
    "one of 'a', 'b' expected, got 'x'"
    """
    text = text.removeprefix("Value error, ")
    if match := re.fullmatch(r"(.+) is not one of (.+?)\.?", text):
        return f"one of {match[2]} expected, got {match[1]}"
    if match := re.match(r"Input should be (?:an? )?(?:valid )?([^,]+)", text):
        expected = re.sub(r"^greater than or equal to (\S+)", r"\1 or more", match[1])
        expected = re.sub(r"^less than or equal to (\S+)", r"\1 or less", expected)
        words = {"number": "a number", "integer": "a whole number"}
        return f"{words.get(expected, expected)} expected"
    return text


# Plain text here, since rich takes longer to load than all the rest of `bdl --help`.
app = typer.Typer(
    name="bdl",
    cls=CommandGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(requested: bool) -> None:
    if requested:
        from bdl.installation import version

        print(f"bdl {version()}")
        raise typer.Exit


@app.callback()
def bdl(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Detect events in long recordings: read, fit, detect, decode, score, report."""


def main() -> None:
    """Run the command line; errors of this package and of files become one message and code 2."""
    from bdl.compiled import announce_compilation

    warnings.showwarning = _warn
    announce_compilation(_announce)
    try:
        app()
    except BdlError as error:
        _exit(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        name = str(error.filename)
        name = name if len(name) <= 200 else f"{name[:60]}..."
        _exit(f"{name}: cannot be used: {error.strerror}")
    except ModuleNotFoundError as error:
        advice = missing_extra(error)
        if advice is error:
            raise
        _exit(str(advice))
    except SystemExit as ended:
        if ended.code == INTERRUPTED:  # the code into which typer turns a KeyboardInterrupt
            print("interrupted; run the same command again to resume", file=sys.stderr)
        raise


def _exit(message: str) -> None:
    _print("error:", "red", message)
    sys.exit(2)


def _announce() -> None:
    print("compiling functions (first use only; takes a few seconds)", file=sys.stderr)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning without the line of code that gave it, which is of no use to users."""
    _print("warning:", "yellow", str(message))


def _print(kind: str, colour: str, text: str) -> None:
    from rich.console import Console
    from rich.markup import escape

    message = f"[{colour}]{kind}[/{colour}] {escape(text)}"
    Console(stderr=True, soft_wrap=True).print(message, highlight=False)
