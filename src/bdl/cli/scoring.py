"""Commands that score detections: ``score`` for one table, ``compare`` for several.

A table with Kaggle's columns (series_id, step, event, score) holds steps, every other one seconds.
Tolerances are in ``--unit``, by default the unit of the tables; only where the two differ, or the
tables among themselves, is ``--period`` needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bdl.cli import console
from bdl.cli.options import Json, takes
from bdl.cli.score_tables import Rules, Setup
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from bdl.evaluation import Bootstrap, Score

commands = typer.Typer()


Truth = Annotated[Path, typer.Option("--truth", help="Table of annotated events.")]
Tolerance = Annotated[
    list[float],
    typer.Option("--tolerance", help="A hit is strictly nearer than this; may be repeated."),
]


@dataclass(frozen=True)
class Draws:
    """Options of a bootstrap."""

    cluster: Annotated[
        Literal["recording", "group"],
        typer.Option(help="What a replicate draws; groups stand in --recordings."),
    ] = "recording"
    metric: Annotated[
        str,
        typer.Option(
            help="Of the bootstrap: mAP, mF1, AP@60, F1@60, sensitivity@60>=0.5 (also precision, "
            "F1, false_alarms_per_day), median@60 (also bias, p95); with :type at the end for one "
            "type.",
        ),
    ] = "mAP"
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0
    level: Annotated[float, typer.Option(help="Share of replicates in the interval.")] = 0.95


@commands.command()
@takes(rules=Rules, draws=Draws)
def score(
    truth: Truth,
    detections: Annotated[Path, typer.Option("--detections", help="Table of scored detections.")],
    tolerance: Tolerance,
    *,
    rules: Rules,
    errors: Annotated[
        float | None, typer.Option("--errors", help="Tolerance of the error table [the widest].")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Also count what detections of at least this score give."),
    ] = None,
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Replicates; 0 for none.")] = 0,
    draws: Draws,
    as_json: Json = False,
) -> None:
    """Score a table of detections against annotated events."""
    setup = Setup.of(truth, rules)
    result = setup.score(detections, tolerance)
    at = None
    if threshold is not None:
        from bdl.evaluation import operating

        at = operating.operating(result.matches, threshold, result.durations)
    interval = None
    if bootstrap:
        interval = _bootstrap({"detections": [result]}, setup, bootstrap, draws)
    if as_json:
        shown = {"unit": setup.unit, **result.to_dict()}
        if at is not None:
            shown["at_threshold"] = {"threshold": threshold, **operating.to_dict(at)}
        console.print_json({**shown, "bootstrap": None if interval is None else interval.to_dict()})
        return
    _say(f"times and tolerances in {setup.unit}")
    _say(str(result))
    if at is not None and threshold is not None:
        _say(f"\n{operating.told(at, threshold)}")
    if interval is not None:
        _say(f"\n{_heading(interval, draws)}\n{interval.systems['detections']}")
    _say(f"\n{result.errors(errors)}")


@commands.command()
@takes(rules=Rules, draws=Draws)
def compare(
    truth: Truth,
    detections: Annotated[
        list[str],
        typer.Option(
            "--detections",
            help="Table of a system, PATH or NAME=PATH; repeat for each system. Tables of one NAME "
            "are training seeds of one system and are averaged.",
        ),
    ],
    tolerance: Tolerance,
    *,
    rules: Rules,
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Number of replicates.")] = 1000,
    draws: Draws,
    as_json: Json = False,
) -> None:
    """Compare two or more systems on the same recordings, with paired intervals."""
    setup = Setup.of(truth, rules)
    paths = _named(detections)
    if len(paths) < 2:
        raise ConfigError("compare: at least two systems expected; for one there is `bdl score`")
    setup = setup.knowing([path for listed in paths.values() for path in listed])
    scores = {n: [setup.score(path, tolerance) for path in p] for n, p in paths.items()}
    result = _bootstrap(scores, setup, bootstrap, draws)
    if as_json:
        systems = {name: [one.to_dict() for one in listed] for name, listed in scores.items()}
        console.print_json({"unit": setup.unit, "systems": systems, "bootstrap": result.to_dict()})
        return
    from bdl.evaluation.scoring import EVENT_FREE

    _say(f"times and tolerances in {setup.unit}; {EVENT_FREE[setup.event_free]}")
    for name, listed in scores.items():
        for one in listed:
            for line in one.matches.left_out.told():
                _say(f"left out of {name}: {line}")
    _say(_heading(result, draws))
    width = max(len(name) for name in (*result.systems, *result.differences))
    for name, estimate in (*result.systems.items(), *result.differences.items()):
        _say(f"{name:<{width}}  {estimate}")
    for fold, changes in result.fold_differences.items():
        for name, change in changes.items():
            _say(f"fold {fold}: {name:<{width}}  {change:+.4f}")


def _named(detections: list[str]) -> dict[str, list[Path]]:
    """Tables by the name of their system; without a name, the file's own."""
    found: dict[str, list[Path]] = {}
    for text in detections:
        name, equals, path = text.partition("=")
        place = Path(path if equals else text)
        label = name if equals else place.stem
        if not equals and label in found:
            raise ConfigError(f"two tables are called {label!r}; name them, as in new={place}")
        found.setdefault(label, []).append(place)
    return found


def _bootstrap(
    scores: Mapping[str, list[Score]], setup: Setup, replicates: int, draws: Draws
) -> Bootstrap:
    from bdl.evaluation import bootstrap

    return bootstrap(
        {name: [one.matches for one in listed] for name, listed in scores.items()},
        clusters=setup.groups() if draws.cluster == "group" else None,
        replicates=replicates,
        seed=draws.seed,
        metric=draws.metric,
        level=draws.level,
        folds=setup.folds(),
        durations=setup.durations(),
    )


def _heading(result: Bootstrap, draws: Draws) -> str:
    return (
        f"{result.metric} with its {result.level:.0%} interval: {len(result.replicates):,} "
        f"bootstrap replicates over {result.clusters:,} {draws.cluster}s, models held fixed"
    )


def _say(text: str) -> None:
    console.out.print(text, markup=False, soft_wrap=True)
