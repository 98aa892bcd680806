"""The command that compares systems by their detections."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option, Typer

from bdl.cli import console
from bdl.cli.options import Bootstrap, Json, takes
from bdl.cli.score_tables import Rules, Setup
from bdl.cli.scoring_options import TOLERANCES, Draws, Truth
from bdl.errors import ConfigError

commands = Typer()


@commands.command()
@takes(rules=Rules, draws=Draws)
def compare(
    truth: Truth,
    detections: Annotated[
        list[str],
        Option(
            "--detections",
            help="Table of a system, PATH or NAME=PATH; repeat for each system. Tables of one NAME "
            "are training seeds of one system and are averaged.",
        ),
    ],
    tolerance: Annotated[list[float], TOLERANCES],
    *,
    rules: Rules,
    baseline: Annotated[
        str | None,
        Option(help="System that the others are compared with [default: every pair]."),
    ] = None,
    bootstrap: Bootstrap = 1000,
    draws: Draws,
    as_json: Json = False,
) -> None:
    """Compare systems on the same recordings, with paired intervals."""
    from bdl import evaluation
    from bdl.evaluation.coverage import undetected_text
    from bdl.evaluation.event_score import EVENT_FREE

    setup = Setup.of(truth, rules)
    paths = _by_system(detections)
    if len(paths) < 2:
        raise ConfigError(
            "compare: at least two systems expected, each with --detections NAME=PATH; for one "
            "there is `bdl score`"
        )
    ranks = draws.metric.removeprefix("m").startswith("AP")
    tables = {
        name: [setup.detections(path, scored=ranks) for path in seeds]
        for name, seeds in paths.items()
    }
    drawn = draws.arguments(setup, bootstrap)
    result = evaluation.compare(
        setup.truth, tables, tolerance, baseline=baseline, **drawn, **setup.rules
    )
    if as_json:
        systems = {
            name: [evaluation.Score(matches).to_dict() for matches in seeds]
            for name, seeds in result.matches.items()
        }
        console.print_json({"unit": setup.unit, "systems": systems, "bootstrap": result.to_dict()})
        return
    console.out.print(
        f"times and tolerances in {setup.unit}; {EVENT_FREE[setup.rules['event_free']]}"
    )
    for name, seeds in result.matches.items():
        for matches in seeds:
            note = undetected_text(matches)
            lines = [note] if note else []
            lines += [f"left out: {line}" for line in matches.left_out.lines()]
            for line in lines:
                console.out.print(f"{name}: {line}")
    console.out.print(result.text(draws.cluster, console.width()))


def _by_system(detections: list[str]) -> dict[str, list[Path]]:
    """Tables by the name of their system; without a name, the file's own."""
    systems: dict[str, list[Path]] = {}
    for text in detections:
        name, equals, path = text.partition("=")
        table = Path(path if equals else text)
        label = name if equals else table.stem
        if not label or not table.name:
            raise ConfigError(f"--detections {text}: PATH or NAME=PATH expected")
        if not equals and label in systems:
            raise ConfigError(f"two tables are called {label!r}; name them, as in new={table}")
        systems.setdefault(label, []).append(table)
    return systems
