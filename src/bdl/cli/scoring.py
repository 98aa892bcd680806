"""Commands that score detections: ``score`` one system, ``compare`` several.

A table with Kaggle's columns (series_id, step, event, score) is in steps, every other one in
seconds. Tolerances are in ``--unit``, by default the unit of the tables; ``--period`` is needed
only where units are mixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Context, Option, Typer

from bdl.cli import console
from bdl.cli.numbers import DURATION, SCORE, TOLERANCE
from bdl.cli.option_types import parse_pairs
from bdl.cli.options import Bootstrap, Json, interval_types, refuse_options, takes
from bdl.cli.score_tables import Rules, Setup, read
from bdl.cli.scoring_options import DRAWS, HIT_TOLERANCES, Draws, OtherScoring, Truth
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from bdl.intervals import IntervalType

commands = Typer()


@commands.command()
@takes(rules=Rules, other=OtherScoring, draws=Draws)
def score(
    context: Context,
    truth: Truth,
    detections: Annotated[Path, Option("--detections", help="Table of scored detections.")],
    tolerance: Annotated[list[float] | None, HIT_TOLERANCES] = None,
    *,
    rules: Rules,
    other: OtherScoring,
    errors: Annotated[
        float | None,
        Option(
            "--errors",
            parser=TOLERANCE,
            help="Tolerance of the error table. [default: the widest]",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        Option(
            "--threshold",
            parser=SCORE,
            help="Also report the counts and errors of detections with at least this score.",
        ),
    ] = None,
    delay: Annotated[
        list[float] | None,
        Option(
            "--delay",
            parser=DURATION,
            help="Also score detections that are issued at most this many seconds after the event, "
            "by their column 'issued'; may be repeated.",
        ),
    ] = None,
    bootstrap: Bootstrap = 0,
    draws: Draws,
    as_json: Json = False,
) -> None:
    """Score a table of detections against annotated events."""
    from bdl.evaluation.rounding import find_tolerance

    kind = other.kind_with(delay)
    if kind != "events":
        refuse_options(context, ("errors", "bootstrap", "delay", *DRAWS), f"with --scoring {kind}")
        _score_otherwise(kind, truth, detections, tolerance, rules, other, threshold, as_json)
        return
    if not bootstrap:
        refuse_options(context, DRAWS, "without --bootstrap")
    if as_json:
        refuse_options(context, ("errors",), "with --json, which has no error table")
    intervals = interval_types(other.interval)
    setup = Setup.of(truth, rules, intervals=intervals)
    [table] = setup.detections([detections], scored=False)
    if threshold is not None and table.score is None:
        raise ConfigError(f"--threshold has no effect: {detections} has no column 'score'")
    result = setup.score(table, _tolerances(tolerance))
    columns = parse_pairs(rules.column or [], "--column")
    tables = [(truth, columns), (detections, setup.detection_columns)]
    _check_durations(intervals, setup, tables, other)
    if errors is not None and find_tolerance(result.matches.tolerances, errors) is None:
        raise ConfigError(f"--errors {errors:g}: one of the tolerances expected (--tolerance)")
    points = estimates = delays = None
    if threshold is not None or table.score is None:
        from bdl.evaluation import operating_points

        points = operating_points(result.matches, threshold)
    if bootstrap:
        from bdl import evaluation

        arguments = draws.arguments(setup, bootstrap)
        estimates = evaluation.bootstrap({"detections": result.matches}, **arguments)
    if delay:
        from bdl.evaluation.delay_table import RATES, delay_table

        delays = delay_table(
            result.matches,
            delay,
            false_alarms_per_day=other.false_alarms or RATES,
            replicates=bootstrap,
            seed=draws.seed,
            clusters=setup.groups() if draws.cluster == "group" else None,
            level=draws.level,
        )
    if as_json:
        plain = {"unit": setup.unit, **result.to_dict(threshold)}
        if delays is not None:
            plain["delay"] = delays.to_dict()
        if points is not None:
            plain["at_threshold"] = {"threshold": threshold, **points.to_dict()}
        plain["bootstrap"] = None if estimates is None else estimates.to_dict()
        console.print_json(plain)
        return
    width = console.width()
    texts = [f"times and tolerances in {setup.unit}\n{result.text(width)}"]
    if points is not None:
        texts.append(points.text(width))
    if estimates is not None:
        texts.append(estimates.text(draws.cluster, width))
    if delays is not None:
        texts.append(delays.text(width))
    console.out.print("\n\n".join([*texts, result.errors(errors, threshold).text(width)]))


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
    tolerance: Annotated[list[float], HIT_TOLERANCES],
    *,
    rules: Rules,
    baseline: Annotated[
        str | None, Option(help="System that the others are compared with [default: every pair].")
    ] = None,
    bootstrap: Bootstrap = 1000,
    draws: Draws,
    as_json: Json = False,
) -> None:
    """Compare systems on the same recordings, with paired confidence intervals."""
    from bdl import evaluation
    from bdl.evaluation.coverage import undetected_text
    from bdl.evaluation.event_score import EVENT_FREE
    from bdl.evaluation.metrics import Metric

    setup = Setup.of(truth, rules)
    paths = _by_system(detections)
    if len(paths) < 2:
        raise ConfigError(
            "compare: at least two systems expected, each with --detections NAME=PATH; for one "
            "system use `bdl score`"
        )
    every = [path for seeds in paths.values() for path in seeds]
    tables = iter(setup.detections(every, scored=Metric.parse(draws.metric).needs_scores))
    systems = {name: [next(tables) for _ in seeds] for name, seeds in paths.items()}
    arguments = draws.arguments(setup, bootstrap)
    result = evaluation.compare(
        setup.truth, systems, tolerance, baseline=baseline, **arguments, **setup.rules
    )
    if as_json:
        scores = {
            name: [evaluation.Score(matches).to_dict() for matches in seeds]
            for name, seeds in result.matches.items()
        }
        console.print_json({"unit": setup.unit, "systems": scores, "bootstrap": result.to_dict()})
        return
    console.out.print(
        f"times and tolerances in {setup.unit}; {EVENT_FREE[setup.rules['event_free']]}"
    )
    for name, seeds in result.matches.items():
        for matches in seeds:
            lines = [*filter(None, [undetected_text(matches)])]
            lines += [f"left out: {line}" for line in matches.left_out.lines()]
            for line in lines:
                console.out.print(f"{name}: {line}")
    console.out.print(result.text(draws.cluster, console.width()))


def _check_durations(
    intervals: tuple[IntervalType, ...],
    setup: Setup,
    tables: Sequence[tuple[Path, Mapping[str, str]]],
    other: OtherScoring,
) -> None:
    """Raise an error for options of false alarms per day where durations are not known.

    ``tables`` are paths with the columns that the user names.
    """
    if setup.rules["durations"]:
        return
    if other.false_alarms:
        raise ConfigError(
            "--false-alarms-per-day has no effect without the durations of the recordings: "
            "--recordings TABLE with a column 'duration'"
        )
    # In tables of intervals the option also names the two ends.
    if intervals and all(
        read(path, columns, intervals) == read(path, columns, ()) for path, columns in tables
    ):
        raise ConfigError(
            "--interval has no effect without the durations of the recordings (--recordings TABLE "
            "with a column 'duration'), as it is for false alarms per day, and no table has "
            "intervals whose ends it names"
        )


def _tolerances(tolerance: list[float] | None) -> list[float]:
    if not tolerance:
        raise ConfigError("--tolerance expected, at least once: how near a hit must be")
    return tolerance


def _score_otherwise(
    kind: str,
    truth: Path,
    detections: Path,
    tolerance: list[float] | None,
    rules: Rules,
    other: OtherScoring,
    threshold: float | None,
    as_json: bool,
) -> None:
    from bdl.cli import other_scores

    if kind != "screening" and tolerance:
        raise ConfigError(f"--tolerance has no effect with --scoring {kind}")
    if kind != "screening" and rules.event_free == "ignore":
        raise ConfigError(
            f"--event-free ignore has no effect with --scoring {kind}, which counts all detections"
        )
    setup = Setup.of(truth, rules, ends=interval_types(other.interval))
    if kind == "screening":
        if threshold is not None:
            raise ConfigError("--threshold has no effect with --scoring screening, which tries all")
        rates = other.false_alarms or [1.0, 2.0, 5.0, 10.0]
        result = other_scores.screening_scores(setup, detections, _tolerances(tolerance), rates)
    else:
        scores = {
            "collar": other_scores.collar_scores,
            "seizures": other_scores.seizure_scores,
            "aami": other_scores.beat_scores,
        }[kind]
        lowest = float("-inf") if threshold is None else threshold
        result = scores(setup, detections, other, lowest)
    if as_json:
        console.print_json({"unit": setup.unit, "scoring": kind, **result.plain})
    else:
        console.out.print(f"times in {setup.unit}\n{result.text}")


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
