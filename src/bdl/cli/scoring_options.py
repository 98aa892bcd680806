"""Options of the commands that score detections."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Option

from bdl.cli.numbers import ALARMS, DURATION, SHARE, TOLERANCE
from bdl.cli.options import BootstrapSeed, Intervals
from bdl.cli.score_tables import Setup
from bdl.errors import ConfigError

Truth = Annotated[Path, Option("--truth", help="Table of annotated events.")]
HIT_TOLERANCES = Option(
    "--tolerance",
    parser=TOLERANCE,
    help="A hit is strictly nearer than this; may be repeated.",
)


@dataclass(frozen=True)
class Draws:
    """Options of a bootstrap."""

    cluster: Annotated[
        Literal["recording", "group"],
        Option(help="What the bootstrap resamples; groups come from the table of --recordings."),
    ] = "recording"
    metric: Annotated[
        str,
        Option(
            help="Metric of the bootstrap, such as mAP, F1@60, sensitivity@60>=0.5 or "
            "median@60:onset; an unknown one lists all."
        ),
    ] = "mAP"
    seed: BootstrapSeed = 0
    level: Annotated[float, Option(parser=SHARE, help="Level of the confidence interval.")] = 0.95

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


DRAWS = tuple(field.name for field in fields(Draws))


@dataclass(frozen=True)
class OtherScoring:
    """Options of the scorings that do not match events by tolerance."""

    scoring: Annotated[
        Literal["events", "collar", "seizures", "screening", "aami"] | None,
        Option(
            help="events: AP and F1 by tolerance (the default). collar: F-measure of sound event "
            "detection, with --collar. seizures: overlap of intervals (SzCORE) and samples. "
            "screening: sensitivity at given false alarms per day. aami: heart beats one by one "
            "(AAMI EC57, as bxb)."
        ),
    ] = None
    collar: Annotated[
        float | None,
        Option(
            parser=TOLERANCE, help="F-measure with this collar: a hit is at most this far away."
        ),
    ] = None
    interval: Intervals = None
    offset_share: Annotated[
        float | None,
        Option(
            parser=DURATION,
            help="Collar of interval ends: also this share of the annotated length.",
        ),
    ] = None
    any_overlap: Annotated[
        bool, Option("--any-overlap", help="Seizures: no extension, merging or splitting.")
    ] = False
    false_alarms: Annotated[
        list[float] | None,
        Option(
            "--false-alarms-per-day",
            parser=ALARMS,
            help="Screening: sensitivity at this rate; may be repeated.",
        ),
    ] = None

    beat: Annotated[
        list[str] | None,
        Option(
            help="AAMI: symbol of WFDB that an event type stands for, TYPE=SYMBOL, such as beat=N; "
            "may be repeated."
        ),
    ] = None
    match_window: Annotated[
        float | None,
        Option(
            parser=DURATION,
            help="AAMI: seconds between a beat and its detection. [default: 0.15]",
        ),
    ] = None
    learning_period: Annotated[
        float | None,
        Option(
            parser=DURATION, help="AAMI: seconds at the start that do not count. [default: 300]"
        ),
    ] = None

    def kind_with(self, delay: list[float] | None) -> str:
        """The scoring that the options select; an option of another one is an error.

        With a ``delay``, the rates of ``--false-alarms-per-day`` have an effect on event scores.
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
