"""Options generated from the fields of a value."""

from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from pydantic import Field, PositiveFloat, PositiveInt
from typer.testing import CliRunner

from bdl.cli.generated_options import Fields
from bdl.cli.options import takes
from bdl.config import Value


class Recipe(Value):
    """A recipe.

    Parameters
    ----------
    epochs
        Passes over the data.
    clip
        Largest norm, or none.
    seed, folder
        Where randomness starts.
    """

    epochs: PositiveInt = 20
    clip: PositiveFloat | None = 0.1
    seed: Annotated[int, Field(ge=0)] = 0
    tolerances: tuple[PositiveFloat, ...] = ()
    stop_after: PositiveInt | None = None
    devices: PositiveInt | str | tuple[int, ...] = 1
    precision: Literal["32-true", "bf16-mixed"] = "32-true"
    statistics: tuple[Literal["mean", "max"], ...] = ("mean",)
    causal: bool = False
    folder: Path | None = None


def run(group, *arguments):
    received = []
    app = typer.Typer(rich_markup_mode="markdown")  # as in bdl.cli

    @app.command()
    @takes(recipe=group)
    def fit(source: str, *, recipe: dict[str, object], quiet: bool = False) -> None:
        received.append(recipe)

    result = CliRunner().invoke(app, [*arguments], env={"COLUMNS": "200"})
    return result, received


def test_only_what_was_given_arrives():
    assert run(Recipe, "x")[1] == [{}]


@pytest.mark.parametrize(
    ("arguments", "recipe"),
    [
        (["--epochs", "5"], {"epochs": 5}),
        (["--clip", "none"], {"clip": None}),
        (["--clip", "0.5"], {"clip": 0.5}),
        (["--tolerance", "1", "--tolerance", "2"], {"tolerances": [1.0, 2.0]}),
        (["--stop-after", "3"], {"stop_after": 3}),
        (["--devices", "2"], {"devices": 2}),
        (["--devices", "[0, 1]"], {"devices": [0, 1]}),
        (["--devices", "auto"], {"devices": "auto"}),
        (["--precision", "bf16-mixed"], {"precision": "bf16-mixed"}),
        (["--statistic", "max"], {"statistics": ["max"]}),
        (["--causal"], {"causal": True}),
        (["--no-causal"], {"causal": False}),
        (["--folder", "a/b"], {"folder": Path("a/b")}),
        (["--seed", "0"], {"seed": 0}),
    ],
)
def test_each_kind_of_field_has_its_option(arguments, recipe):
    result, received = run(Recipe, "x", *arguments)
    assert result.exit_code == 0, result.output
    assert received == [recipe]
    Recipe(**received[0])


def test_values_outside_the_choices_are_refused():
    result, _ = run(Recipe, "x", "--precision", "8")
    assert result.exit_code == 2
    assert "bf16-mixed" in result.output


def test_help_comes_from_the_docstring_and_shows_the_default():
    result, _ = run(Recipe, "--help")
    assert "Passes over the data. [default: 20]" in result.output
    assert "Largest norm, or none. [default: 0.1]" in result.output


def test_fields_can_be_left_out():
    group = Fields(Recipe, without=("seed",))
    assert run(group, "x", "--epochs", "3")[1] == [{"epochs": 3}]
    assert run(group, "x", "--seed", "3")[0].exit_code == 2
