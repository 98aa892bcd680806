"""Commands that score detections: ``score`` for one table, ``compare`` for several.

A table with Kaggle's columns (series_id, step, event, score) is in steps, every other one in
seconds. Tolerances are in ``--unit``, by default the unit of the tables; ``--period`` is needed
only where units are mixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from bdl.cli import console
from bdl.cli.numbers import ALARMS, DURATION, REPLICATES, SCORE, SEED, SHARE, TOLERANCE
from bdl.cli.option_types import parse_pairs
from bdl.cli.options import Intervals, Json, interval_types, takes
from bdl.cli.score_tables import Rules, Setup
from bdl.errors import ConfigError

commands = typer.Typer()


Truth = Annotated[Path, typer.Option("--truth", help="Table of annotated events.")]
Tolerance = Annotated[
    list[float] | None,
    typer.Option(
        "--tolerance",
        parser=TOLERANCE,
        help="A hit is strictly nearer than this; may be repeated.",
    ),
]


@dataclass(frozen=True)
class Draws:
    """Options of a bootstrap."""

    cluster: Annotated[
        Literal["recording", "group"],
        typer.Option(help="What a replicate draws; groups are in the table of --recordings."),
    ] = "recording"
    metric: Annotated[
        str,
        typer.Option(
            help="Metric of the bootstrap, such as mAP, F1@60, sensitivity@60>=0.5 or "
            "median@60:onset; an unknown one lists all."
        ),
    ] = "mAP"
    seed: Annotated[int, typer.Option(parser=SEED, help="Seed of the bootstrap.")] = 0
    level: Annotated[
        float, typer.Option(parser=SHARE, help="Share of replicates in the interval.")
    ] = 0.95

    def arguments(self, setup: Setup, replicates: int) -> dict[str, Any]:
        """Arguments of `bdl.evaluation.bootstrap`."""
        return {
            "clusters": setup.groups() if self.cluster == "group" else None,
            "replicates": replicates,
            "seed": self.seed,
            "metric": self.metric,
            "level": self.level,
            "folds": setup.folds(),
        }


@dataclass(frozen=True)
class OtherScoring:
    """Options of the scorings that do not match events by tolerance."""

    scoring: Annotated[
        Literal["events", "collar", "seizures", "screening", "aami"] | None,
        typer.Option(
            help="events: AP and F1 by tolerance (the default). collar: F-measure of sound event "
            "detection, with --collar. seizures: overlap of intervals (SzCORE) and samples. "
            "screening: sensitivity at given false alarms per day. aami: heart beats one by one "
            "(AAMI EC57, as bxb)."
        ),
    ] = None
    collar: Annotated[
        float | None,
        typer.Option(
            parser=TOLERANCE, help="F-measure with this collar: a hit is at most this far away."
        ),
    ] = None
    interval: Intervals = None
    offset_share: Annotated[
        float | None,
        typer.Option(
            parser=DURATION, help="Collar of interval ends: also this share of the true length."
        ),
    ] = None
    any_overlap: Annotated[
        bool, typer.Option("--any-overlap", help="Seizures: no extension, merging or splitting.")
    ] = False
    false_alarms: Annotated[
        list[float] | None,
        typer.Option(
            "--false-alarms-per-day",
            parser=ALARMS,
            help="Screening: sensitivity at this rate; may be repeated.",
        ),
    ] = None

    beat: Annotated[
        list[str] | None,
        typer.Option(
            help="AAMI: symbol of WFDB that an event type stands for, TYPE=SYMBOL, such as beat=N; "
            "may be repeated."
        ),
    ] = None
    match_window: Annotated[
        float | None,
        typer.Option(
            parser=DURATION, help="AAMI: seconds between a beat and its detection [0.15]."
        ),
    ] = None
    learning_period: Annotated[
        float | None,
        typer.Option(parser=DURATION, help="AAMI: seconds at the start that do not count [300]."),
    ] = None

    def kind_with(self, delay: list[float] | None) -> str:
        """The scoring that is meant; options of another one are an error.

        Scores with an allowed ``delay`` read sensitivity at false alarms per day, too.
        """
        kind = self.scoring or ("collar" if self.collar is not None else "events")
        owners = {
            "--collar": ("collar", self.collar is not None),
            "--offset-share": ("collar", self.offset_share is not None),
            "--any-overlap": ("seizures", self.any_overlap),
            "--false-alarms-per-day": ("screening", bool(self.false_alarms) and not delay),
            "--beat": ("aami", bool(self.beat)),
            "--match-window": ("aami", self.match_window is not None),
            "--learning-period": ("aami", self.learning_period is not None),
        }
        for flag, (owner, given) in owners.items():
            if given and owner != kind:
                raise ConfigError(f"{flag} belongs to --scoring {owner}, not to --scoring {kind}")
        if self.interval and kind in ("screening", "aami"):
            raise ConfigError(f"--interval has no effect with --scoring {kind}")
        if kind == "collar" and self.collar is None:
            raise ConfigError("--scoring collar needs --collar SECONDS")
        return kind


@commands.command()
@takes(rules=Rules, other=OtherScoring, draws=Draws)
def score(
    truth: Truth,
    detections: Annotated[Path, typer.Option("--detections", help="Table of scored detections.")],
    tolerance: Tolerance = None,
    *,
    rules: Rules,
    other: OtherScoring,
    errors: Annotated[
        float | None,
        typer.Option(
            "--errors", parser=TOLERANCE, help="Tolerance of the error table [the widest]."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            parser=SCORE,
            help="Also count the detections of at least this score, in the error table too.",
        ),
    ] = None,
    delay: Annotated[
        list[float] | None,
        typer.Option(
            "--delay",
            parser=DURATION,
            help="Also score detections that are issued at most this many seconds after the event, "
            "by their column 'issued'; may be repeated.",
        ),
    ] = None,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", parser=REPLICATES, help="Replicates; 0 for none.")
    ] = 0,
    draws: Draws,
    as_json: Json = False,
) -> None:
    """Score a table of detections against annotated events."""
    from bdl.evaluation.matches import find_tolerance

    kind = other.kind_with(delay)
    if kind != "events":
        given = (("--errors", errors), ("--bootstrap", bootstrap or None), ("--delay", delay))
        for flag, value in given:
            if value is not None:
                raise ConfigError(f"{flag} has no effect with --scoring {kind}")
        _score_otherwise(kind, truth, detections, tolerance, rules, other, threshold, as_json)
        return
    setup = Setup.of(truth, rules, intervals=interval_types(other.interval))
    table = setup.detections(detections, scored=False)
    if threshold is not None and table.score is None:
        raise ConfigError(f"--threshold has no effect: {detections} has no column 'score'")
    result = setup.score(table, _tolerances(tolerance))
    if errors is not None and find_tolerance(result.matches.tolerances, errors) is None:
        raise ConfigError(f"--errors {errors:g}: one of the tolerances expected (--tolerance)")
    points = None
    if threshold is not None or table.score is None:
        from bdl.evaluation import operating_points

        points = operating_points(result.matches, threshold)
    estimates = None
    if bootstrap:
        from bdl import evaluation

        drawn = draws.arguments(setup, bootstrap)
        estimates = evaluation.bootstrap({"detections": result.matches}, **drawn)
    delays = None
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
        shown = {"unit": setup.unit, **result.to_dict(threshold)}
        if delays is not None:
            shown["delay"] = delays.to_dict()
        if points is not None:
            shown["at_threshold"] = {"threshold": threshold, **points.to_dict()}
        shown["bootstrap"] = None if estimates is None else estimates.to_dict()
        console.print_json(shown)
        return
    width = console.width()
    _say(f"times and tolerances in {setup.unit}")
    _say(result.text(width))
    if points is not None:
        _say(f"\n{points.text(width)}")
    if estimates is not None:
        _say(f"\n{estimates.text(draws.cluster, width)}")
    if delays is not None:
        _say(f"\n{delays.text(width)}")
    _say(f"\n{result.errors(errors, threshold).text(width)}")


def _tolerances(tolerance: list[float] | None) -> list[float]:
    if not tolerance:
        raise ConfigError("--tolerance expected, once or more: how near a hit must be")
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
    setup = Setup.of(truth, rules)
    least = float("-inf") if threshold is None else threshold
    if kind == "screening":
        if threshold is not None:
            raise ConfigError("--threshold has no effect with --scoring screening, which tries all")
        rates = other.false_alarms or [1.0, 2.0, 5.0, 10.0]
        result = other_scores.screening_scores(setup, detections, _tolerances(tolerance), rates)
    elif kind == "seizures":
        types = interval_types(other.interval)
        result = other_scores.seizure_scores(setup, detections, types, least, other.any_overlap)
    elif kind == "aami":
        from bdl.evaluation.beat_by_beat import LEARNING, WINDOW

        result = other_scores.beat_scores(
            setup,
            detections,
            parse_pairs(other.beat or [], "--beat"),
            WINDOW if other.match_window is None else other.match_window,
            LEARNING if other.learning_period is None else other.learning_period,
            least,
        )
    else:
        result = other_scores.collar_scores(
            setup,
            detections,
            other.collar or 0.0,
            interval_types(other.interval),
            other.offset_share,
            least,
        )
    if as_json:
        console.print_json({"unit": setup.unit, "scoring": kind, **result.plain})
    else:
        _say(f"times in {setup.unit}\n{result.text}")


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
    tolerance: Annotated[
        list[float],
        typer.Option(
            "--tolerance",
            parser=TOLERANCE,
            help="A hit is strictly nearer than this; may be repeated.",
        ),
    ],
    *,
    rules: Rules,
    baseline: Annotated[
        str | None,
        typer.Option(help="System that the others are compared with [default: every pair]."),
    ] = None,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", parser=REPLICATES, help="Number of replicates.")
    ] = 1000,
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
    _say(f"times and tolerances in {setup.unit}; {EVENT_FREE[setup.rules['event_free']]}")
    for name, seeds in result.matches.items():
        for matches in seeds:
            note = undetected_text(matches)
            lines = [note] if note else []
            lines += [f"left out: {line}" for line in matches.left_out.lines()]
            for line in lines:
                _say(f"{name}: {line}")
    _say(result.text(draws.cluster, console.width()))


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


def _say(text: str) -> None:
    console.out.print(text, markup=False, soft_wrap=True)
