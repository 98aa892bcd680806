"""A benchmark as read from its files: recordings, events, and the settings of its studies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt

from bdl.config import Value
from bdl.evaluation import Matches, match
from bdl.evaluation.matching import EventFree
from bdl.evaluation.scored_parts import scored_parts
from bdl.events import Events
from bdl.intervals import IntervalType
from bdl.recording import Recordings
from bdl.scaling import Scaling


class Scale(Value):
    """A smaller size of the studies on a data set: what is simulated, and what is cut down."""

    recordings: int = Field(ge=2)  # number of simulated recordings
    # Number of simulated recordings if groups are split, so that there are enough groups; None is
    # ``recordings``.
    grouped: int | None = None
    days: float | None = None  # length of each in days; None is the default of the simulator
    seed: int = 0  # seed of the simulation
    options: dict[str, Any] = Field(default_factory=dict)  # of the data set that is simulated
    # Training epochs. Checkpoints are spread evenly over them, at most one per epoch.
    epochs: int = Field(ge=1)
    window: float | None = None  # training window in seconds; None is that of the data set
    batch: int = 8  # largest batch size
    rates: int = 1  # most learning rates; the last ones are used
    seeds: int = 1  # most seeds
    folds: int = 5  # most folds
    tiny: bool = False  # whether encoders are replaced by their tiny versions
    replicates: int = 1000  # bootstrap replicates


class Settings(Value):
    """How a benchmark is trained on and scored.

    Parameters
    ----------
    types
        Scored event types.
    tolerances
        Matching tolerances in seconds.
    stride
        Samples per output bin.
    window
        Length of a training window in seconds.
    reference_spacing
        Seconds between events of one type, for the sparse output prior; None is estimated from
        training labels.
    sigma
        Width of the Gaussian kernel in seconds.
    separation
        Least time between two detections of one type in seconds.
    calendar
        Whether local hour and weekday are inputs.
    scaling
        How channels are scaled in rows of studies without a preset: a value or a name of
        `bdl.scaling`; None for no scaling.
    event_free
        Whether detections in recordings without events are false alarms (``count``) or are left
        out (``ignore``).
    jitter
        Largest random shift of an event in the training of such rows, in samples.

    Examples
    --------
    >>> Settings(types=("x",), tolerances=(2.0,), stride=0, window=60.0, reference_spacing=30.0,
    ...          sigma=1.0, separation=1.0)
    Traceback (most recent call last):
    bdl.errors.ConfigError: Settings: stride: more than 0 expected, got 0
    """

    types: tuple[str, ...] = Field(min_length=1)
    tolerances: tuple[PositiveFloat, ...] = Field(min_length=1)
    stride: PositiveInt
    window: PositiveFloat
    reference_spacing: PositiveFloat | None = None
    sigma: PositiveFloat
    separation: PositiveFloat
    calendar: bool = False
    scaling: Scaling | None = None
    event_free: EventFree = "ignore"
    jitter: NonNegativeInt = 0


@dataclass(frozen=True)
class Benchmark:
    """Recordings, events and settings of a data set.

    Parameters
    ----------
    name
        ``kind`` of the `bdl.datasets.Dataset` that was read.
    recordings
        Lazy: values are read one recording at a time.
    events
        Annotations, each within a recording of ``recordings``.
    intervals
        Interval types, each a pair of event types; empty for point events.
    settings
        How the benchmark is trained on and scored.
    notes
        Licence and citation, and what was left out and why.
    simulated
        Whether the files were written by a simulator.
    """

    name: str
    recordings: Recordings
    events: Events
    intervals: tuple[IntervalType, ...]
    settings: Settings
    notes: tuple[str, ...] = ()
    simulated: bool = False

    def match(
        self,
        truth: Events,
        detections: Events,
        recordings: Iterable[str],
        tolerances: Sequence[float] | None = None,
    ) -> Matches:
        """Match detections by the settings of the benchmark.

        Parameters
        ----------
        truth
            Annotated events, of which a step of a study sees only a part.
        detections
            Events with scores.
        recordings
            Ids of the recordings to score, each in its annotated spans.
        tolerances
            Matching tolerances in seconds; None for those of the settings.
        """
        return match(
            truth,
            detections,
            self.settings.tolerances if tolerances is None else tolerances,
            types=self.settings.types,
            event_free=self.settings.event_free,
            **scored_parts(self.recordings.select(recordings).infos),
        )

    def __repr__(self) -> str:
        hours = sum(info.duration for info in self.recordings.infos) / 3600
        groups = len(set(self.recordings.groups.values()))
        head = f"{self.name}: {len(self.recordings)} recordings of {groups} groups, {hours:,.1f} h"
        return "\n".join([head, repr(self.events), *(f"  note: {note}" for note in self.notes)])
