"""The command line starts fast: commands are imported when they are called."""

import json
import pkgutil
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version

import typer

from bdl import cli
from calling import call


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "bdl", *words], capture_output=True, text=True)


def test_the_table_of_commands_is_in_step_with_the_commands():
    own = {}
    for module in pkgutil.iter_modules(cli.__path__):
        family = getattr(import_module(f"bdl.cli.{module.name}"), "commands", None)
        if isinstance(family, typer.Typer):
            joined = typer.Typer()
            joined.add_typer(family)
            for name, command in typer.main.get_group(joined).commands.items():
                summary = " ".join(command.help.split("\n\n")[0].split())
                own[name] = (summary, module.name)
    assert own == cli.COMMANDS


def test_the_version_is_printed():
    assert call("--version") == f"bdl {version('bdl')}\n"
    assert run("--version").stdout == f"bdl {version('bdl')}\n"


def test_a_mistyped_command_is_named_with_the_likely_one():
    done = run("scor")
    assert done.returncode == 2
    assert "No such command 'scor'. Did you mean 'score'?" in done.stderr


def test_help_imports_no_command():
    script = (
        "import json, sys; sys.argv = ['bdl', '--help']\n"
        "from bdl.cli import main\n"
        "try: main()\n"
        "except SystemExit: print(json.dumps([*sys.modules]))"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout
    names = json.loads(printed.splitlines()[-1])
    assert "Score a table of detections" in printed
    assert not {"numpy", "pydantic", "rich", "bdl.cli.scoring"}.intersection(names)
