"""Commands that score detections: ``score`` for one table, ``compare`` for several.

A table with Kaggle's columns (series_id, step, event, score) holds steps, every other one seconds.
Tolerances are in ``--unit``, by default the unit of the tables; only where the two differ, or the
tables among themselves, is ``--period`` needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bdl.cli import console
from bdl.cli.score_tables import Setup
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from bdl.evaluation import Bootstrap, Score

commands = typer.Typer()


class Unit(StrEnum):
    """Unit of times and tolerances."""

    SECONDS = "seconds"
    STEPS = "steps"


class EventFree(StrEnum):
    """What happens to detections in recordings without truths."""

    IGNORE = "ignore"
    COUNT = "count"


class Unknown(StrEnum):
    """What happens to detections that the truth does not know."""

    ERROR = "error"
    IGNORE = "ignore"


class Cluster(StrEnum):
    """What a bootstrap draws."""

    RECORDING = "recording"
    GROUP = "group"


Truth = Annotated[Path, typer.Option("--truth", help="Table of annotated events.")]
Tolerance = Annotated[
    list[float],
    typer.Option("--tolerance", help="A hit is strictly nearer than this; may be repeated."),
]
UnitOption = Annotated[
    Unit | None, typer.Option("--unit", help="Unit of the tolerances [default: the tables' unit].")
]
Period = Annotated[
    float | None, typer.Option("--period", help="Seconds a step, needed where units are mixed.")
]
EventFreeOption = Annotated[
    EventFree | None,
    typer.Option(
        "--event-free",
        help="Detections in recordings without truths: ignore them (the benchmark's rule) or count "
        "them as false alarms (screening). Given, recordings that only the detections name are "
        "taken as event-free [default: ignore, and an unnamed recording is an error].",
    ),
]
UnknownOption = Annotated[
    Unknown, typer.Option("--unknown", help="Detections in recordings or of types nobody named.")
]
Types = Annotated[
    list[str] | None, typer.Option("--type", help="Event type to score; may be repeated.")
]
RecordingsOption = Annotated[
    Path | None,
    typer.Option(
        "--recordings",
        help="Table of the scored recordings: recording and, where known, duration (s), group, "
        "fold. Durations give false alarms per 24 hours.",
    ),
]
RegionsOption = Annotated[
    Path | None,
    typer.Option("--regions", help="Table of scored regions: recording, start, end (in --unit)."),
]
ClusterOption = Annotated[
    Cluster, typer.Option("--cluster", help="What a replicate draws; groups stand in --recordings.")
]
Metric = Annotated[
    str,
    typer.Option(
        "--metric",
        help="Of the bootstrap: mAP, mF1, AP@60, F1@60, sensitivity@60>=0.5 (also precision, F1, "
        "false_alarms_per_day), median@60 (also bias, p95); with :type at the end for one type.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the bootstrap.")]
Level = Annotated[float, typer.Option("--level", help="Share of replicates in the interval.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@commands.command()
def score(
    truth: Truth,
    detections: Annotated[Path, typer.Option("--detections", help="Table of scored detections.")],
    tolerance: Tolerance,
    unit: UnitOption = None,
    period: Period = None,
    event_free: EventFreeOption = None,
    unknown: UnknownOption = Unknown.ERROR,
    type: Types = None,
    recordings: RecordingsOption = None,
    regions: RegionsOption = None,
    errors: Annotated[
        float | None, typer.Option("--errors", help="Tolerance of the error table [the widest].")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Also count what detections of at least this score give."),
    ] = None,
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Replicates; 0 for none.")] = 0,
    cluster: ClusterOption = Cluster.RECORDING,
    metric: Metric = "mAP",
    seed: Seed = 0,
    level: Level = 0.95,
    as_json: Json = False,
) -> None:
    """Score a table of detections against annotated events."""
    setup = Setup.of(truth, unit, period, event_free, unknown, type, recordings, regions)
    result = setup.score(detections, tolerance)
    at = None
    if threshold is not None:
        from bdl.evaluation import operating

        at = operating.operating(result.matches, threshold, result.durations)
    interval = None
    if bootstrap:
        interval = _bootstrap(
            {"detections": [result]}, setup, bootstrap, cluster, metric, seed, level
        )
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
        _say(f"\n{_heading(interval, cluster)}\n{interval.systems['detections']}")
    _say(f"\n{result.errors(errors)}")


@commands.command()
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
    unit: UnitOption = None,
    period: Period = None,
    event_free: EventFreeOption = None,
    unknown: UnknownOption = Unknown.ERROR,
    type: Types = None,
    recordings: RecordingsOption = None,
    regions: RegionsOption = None,
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Number of replicates.")] = 1000,
    cluster: ClusterOption = Cluster.RECORDING,
    metric: Metric = "mAP",
    seed: Seed = 0,
    level: Level = 0.95,
    as_json: Json = False,
) -> None:
    """Compare two or more systems on the same recordings, with paired intervals."""
    setup = Setup.of(truth, unit, period, event_free, unknown, type, recordings, regions)
    paths = _named(detections)
    if len(paths) < 2:
        raise ConfigError("compare: at least two systems expected; for one there is `bdl score`")
    setup = setup.knowing([path for listed in paths.values() for path in listed])
    scores = {n: [setup.score(path, tolerance) for path in p] for n, p in paths.items()}
    result = _bootstrap(scores, setup, bootstrap, cluster, metric, seed, level)
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
    _say(_heading(result, cluster))
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
    scores: Mapping[str, list[Score]],
    setup: Setup,
    replicates: int,
    cluster: Cluster,
    metric: str,
    seed: int,
    level: float,
) -> Bootstrap:
    from bdl.evaluation import bootstrap

    return bootstrap(
        {name: [one.matches for one in listed] for name, listed in scores.items()},
        clusters=setup.groups() if cluster == Cluster.GROUP else None,
        replicates=replicates,
        seed=seed,
        metric=metric,
        level=level,
        folds=setup.folds(),
        durations=setup.durations(),
    )


def _heading(result: Bootstrap, cluster: Cluster) -> str:
    return (
        f"{result.metric} with its {result.level:.0%} interval: {len(result.replicates):,} "
        f"bootstrap replicates over {result.clusters:,} {cluster}s, models held fixed"
    )


def _say(text: str) -> None:
    console.out.print(text, markup=False, soft_wrap=True)
