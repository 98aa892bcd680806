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
from bdl.cli.options import Intervals, Json, interval_types, takes
from bdl.cli.score_tables import Rules, Setup
from bdl.errors import ConfigError

commands = typer.Typer()


Truth = Annotated[Path, typer.Option("--truth", help="Table of annotated events.")]
Tolerance = Annotated[
    list[float] | None,
    typer.Option("--tolerance", help="A hit is strictly nearer than this; may be repeated."),
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
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0
    level: Annotated[float, typer.Option(help="Share of replicates in the interval.")] = 0.95

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
        Literal["events", "collar", "seizures", "screening"] | None,
        typer.Option(
            help="events: AP and F1 by tolerance (the default). collar: F-measure of sound event "
            "detection, with --collar. seizures: overlap of intervals (SzCORE) and samples. "
            "screening: sensitivity at given false alarms per day."
        ),
    ] = None
    collar: Annotated[
        float | None,
        typer.Option(help="F-measure with this collar: a hit is at most this far away."),
    ] = None
    interval: Intervals = None
    offset_share: Annotated[
        float | None,
        typer.Option(help="Collar of interval ends: also this share of the true length."),
    ] = None
    any_overlap: Annotated[
        bool, typer.Option("--any-overlap", help="Seizures: no extension, merging or splitting.")
    ] = False
    false_alarms: Annotated[
        list[float] | None,
        typer.Option(
            "--false-alarms-per-day", help="Screening: sensitivity at this rate; may be repeated."
        ),
    ] = None

    @property
    def kind(self) -> str:
        """The scoring that is meant; options of another one are an error."""
        kind = self.scoring or ("collar" if self.collar is not None else "events")
        owners = {
            "--collar": ("collar", self.collar is not None),
            "--offset-share": ("collar", self.offset_share is not None),
            "--any-overlap": ("seizures", self.any_overlap),
            "--false-alarms-per-day": ("screening", bool(self.false_alarms)),
        }
        for flag, (owner, given) in owners.items():
            if given and owner != kind:
                raise ConfigError(f"{flag} belongs to --scoring {owner}, not to --scoring {kind}")
        if self.interval and kind not in ("collar", "seizures"):
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
        float | None, typer.Option("--errors", help="Tolerance of the error table [the widest].")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Also count the detections of at least this score."),
    ] = None,
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Replicates; 0 for none.")] = 0,
    draws: Draws,
    as_json: Json = False,
) -> None:
    """Score a table of detections against annotated events."""
    kind = other.kind
    if kind != "events":
        for flag, value in (("--errors", errors), ("--bootstrap", bootstrap or None)):
            if value is not None:
                raise ConfigError(f"{flag} has no effect with --scoring {kind}")
        _score_otherwise(kind, truth, detections, tolerance, rules, other, threshold, as_json)
        return
    setup = Setup.of(truth, rules)
    table = setup.detections(detections, scored=False)
    result = setup.score(table, _tolerances(tolerance))
    ranked = table.score is not None
    if not ranked:
        if bootstrap and draws.metric.removeprefix("m").startswith("AP"):
            raise ConfigError(
                f"{detections}: {draws.metric} ranks detections by their scores, which this table "
                "does not have; name another metric, such as --metric mF1"
            )
        threshold = 1.0
    points = None
    if threshold is not None:
        from bdl.evaluation import operating_point

        points = operating_point.operating_points(result.matches, threshold)
    estimates = None
    if bootstrap:
        from bdl import evaluation

        drawn = draws.arguments(setup, bootstrap)
        estimates = evaluation.bootstrap({"detections": result.matches}, **drawn)
    if as_json:
        shown = {"unit": setup.unit, **result.to_dict(threshold)}
        if points is not None:
            by_type = operating_point.to_dict(points)
            shown["at_threshold"] = {"threshold": threshold, **by_type}
        shown["bootstrap"] = None if estimates is None else estimates.to_dict()
        console.print_json(shown)
        return
    _say(f"times and tolerances in {setup.unit}")
    if ranked:
        _say(str(result))
    else:
        _say("detections without scores: all are counted, and there is no average precision")
    if points is not None and threshold is not None:
        _say(f"\n{operating_point.to_text(points, threshold)}")
    if estimates is not None:
        _say(f"\n{estimates.text(draws.cluster)}")
    _say(f"\n{result.errors(errors, threshold)}")


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
        typer.Option("--tolerance", help="A hit is strictly nearer than this; may be repeated."),
    ],
    *,
    rules: Rules,
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Number of replicates.")] = 1000,
    draws: Draws,
    as_json: Json = False,
) -> None:
    """Compare systems on the same recordings, with paired intervals."""
    from bdl import evaluation
    from bdl.evaluation.event_score import EVENT_FREE

    setup = Setup.of(truth, rules)
    paths = _by_system(detections)
    if len(paths) < 2:
        raise ConfigError("compare: at least two systems expected; for one there is `bdl score`")
    tables = {name: [setup.detections(path) for path in seeds] for name, seeds in paths.items()}
    drawn = draws.arguments(setup, bootstrap)
    result = evaluation.compare(setup.truth, tables, tolerance, **drawn, **setup.rules)
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
            for line in matches.left_out.lines():
                _say(f"left out of {name}: {line}")
    _say(result.text(draws.cluster))


def _by_system(detections: list[str]) -> dict[str, list[Path]]:
    """Tables by the name of their system; without a name, the file's own."""
    systems: dict[str, list[Path]] = {}
    for text in detections:
        name, equals, path = text.partition("=")
        table = Path(path if equals else text)
        label = name if equals else table.stem
        if not equals and label in systems:
            raise ConfigError(f"two tables are called {label!r}; name them, as in new={table}")
        systems.setdefault(label, []).append(table)
    return systems


def _say(text: str) -> None:
    console.out.print(text, markup=False, soft_wrap=True)
