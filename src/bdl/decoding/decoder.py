"""The family of decoders, and the function that applies one to many recordings.

To add a decoder, write one file in this package (or in your own, with an entry point of the group
``bdl.decoding``): a subclass of `Decoder` that finds candidates, and beside it a subclass of
`bdl.decoding.grid.Grid` with the settings that a calibration tries.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import NonNegativeFloat

from bdl.decoding.alternation import alternate
from bdl.decoding.candidates import ByType, above, check_intervals, to_events, unique
from bdl.decoding.incremental import BinClock, IncrementalDecoder
from bdl.decoding.incremental_rows import DecoderRows, SeparateRows, SingleRow
from bdl.density import Density, DensityKind
from bdl.errors import ConfigError
from bdl.events import Events
from bdl.intervals import IntervalType
from bdl.registry import Variant


class Decoder(Variant):
    """Turns the density of a recording into ranked, timed detections.

    A decoder implements `candidates`. The threshold and the alternation of onsets and offsets are
    applied here, in this order.

    Parameters
    ----------
    threshold
        Least score of a detection.
    alternate
        Keep the best sequence in which onset and offset of an interval type alternate; see
        `bdl.decoding.alternation`.
    """

    package: ClassVar[str] = "bdl.decoding"
    reads: ClassVar[DensityKind]
    """Kind of density that is decoded: ``events`` or ``state``."""

    threshold: NonNegativeFloat = 0.0
    alternate: bool = False

    @classmethod
    def default(cls, tolerances: Sequence[float], separation: float = 0.0) -> Self | None:
        """The setting that is used where none was calibrated, or None: not a default decoder.

        Arguments are those of `default_decoder`.
        """
        return None

    def complete(self, tolerances: Sequence[float]) -> Self:
        """Set parameters that were left open (None) from the tolerances of the metric."""
        return self

    @property
    def looks_ahead(self) -> str | None:
        """Why a detection may have to wait for the end of the recording; None if it never does.

        Where it is None, the decoder has an incremental form: it defines `incremental` or
        `incremental_rows`, from which the other one follows.
        """
        return "it has no incremental form"

    def forward(self) -> Decoder:
        """The setting most like this one whose look-ahead is bounded; itself if there is none."""
        return self

    def incremental(
        self, clock: BinClock, types: tuple[str, ...], intervals: tuple[IntervalType, ...] = ()
    ) -> IncrementalDecoder:
        """The decoder for one recording whose density comes in parts; see `looks_ahead`.

        Parameters
        ----------
        clock
            Samples and bins of the recording.
        types
            Name of each output of the density.
        intervals
            Interval types, for densities of kind ``state``.
        """
        if type(self).incremental_rows is not Decoder.incremental_rows:
            return SingleRow(self.incremental_rows(clock, types, intervals))
        raise ConfigError(f"the decoder {self.kind!r} cannot be used on a stream")

    def incremental_rows(
        self, clock: BinClock, types: tuple[str, ...], intervals: tuple[IntervalType, ...] = ()
    ) -> DecoderRows:
        """The decoder for many recordings that run at the same time; arguments of `incremental`."""
        return SeparateRows(lambda: self.incremental(clock, types, intervals))

    @abstractmethod
    def candidates(self, density: Density, intervals: tuple[IntervalType, ...]) -> ByType:
        """Candidate detections by event type, each in order of time.

        Parameters
        ----------
        density
            Density of one recording, of the kind that the decoder reads.
        intervals
            The interval types that concern this density, as `concerned_intervals` gives them.
        """

    def detect(self, density: Density, intervals: tuple[IntervalType, ...] = ()) -> ByType:
        """Times and scores by event type, after threshold and alternation."""
        self.check_reads(density)
        concerned = concerned_intervals(density, intervals)
        detected = above(self.candidates(density, concerned), self.threshold)
        return alternate(detected, concerned) if self.alternate else detected

    def decode(self, density: Density, intervals: tuple[IntervalType, ...] = ()) -> Events:
        """Detections of one recording, by type, then by time."""
        return to_events([(density.recording, self.detect(density, intervals))])

    @classmethod
    def check_reads(cls, density: Density) -> None:
        """Raise an error for a density of the other kind, naming the decoders that read it."""
        if density.kind != cls.reads:
            fitting = [name for name, kind in Decoder.kinds().items() if kind.reads == density.kind]
            raise ConfigError(
                f"{cls.__name__} decodes densities of kind {cls.reads!r}, but that of recording "
                f"{density.recording!r} is of kind {density.kind!r}; use {' or '.join(fitting)} "
                "(--decoder, --grid)"
            )


def concerned_intervals(
    density: Density, intervals: tuple[IntervalType, ...]
) -> tuple[IntervalType, ...]:
    """The interval types that concern a density.

    For event densities these are all, with ends among their event types. The columns of a state
    density are named after interval types: here it is the type of each column, in order.

    Examples
    --------
    >>> import numpy as np
    >>> sleep, run = IntervalType("sleep", "onset", "wakeup"), IntervalType("run", "go", "stop")
    >>> density = Density("a", np.zeros((1, 1), np.float32), ("run",), 1.0, 1, 1, kind="state")
    >>> [interval.name for interval in concerned_intervals(density, (sleep, run))]
    ['run']
    """
    if density.kind == "events":
        check_intervals(intervals, density.types)
        return intervals
    return of_outputs(density.types, intervals, f"recording {density.recording!r}")


def of_outputs(
    names: tuple[str, ...], intervals: tuple[IntervalType, ...], what: str
) -> tuple[IntervalType, ...]:
    """The interval type of each output of state densities; ``what`` they belong to, for errors."""
    named = {interval.name: interval for interval in intervals}
    for name in names:
        if name not in named:
            raise ConfigError(
                f"the occupancy {name!r} of {what} needs an interval type "
                f"of that name, which names its onsets and offsets (--interval {name}=ONSET,OFFSET "
                f"on the command line); known are {', '.join(named) or 'none'}"
            )
    return tuple(named[name] for name in names)


def decode(
    densities: Iterable[Density],
    decoder: Decoder | str | Mapping[str, Any],
    intervals: Sequence[IntervalType] = (),
) -> Events:
    """Detections of many recordings, in their order, by type, then by time.

    Parameters
    ----------
    densities
        One density per recording; read once, in order.
    decoder
        A decoder, its name, or a mapping with the key ``kind``.
    intervals
        Interval types: needed for alternation and for densities of kind ``state``.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[0.0], [0.4], [0.1]], np.float32)
    >>> decode([Density(id, values, ("beat",), 1.0, 1, 3) for id in "ab"], "peaks")
    Events: 2 in 2 recordings, scored
      beat  2
    """
    chosen, kinds = Decoder.parse(decoder), tuple(intervals)
    return to_events(
        (density.recording, chosen.detect(density, kinds)) for density in unique(densities)
    )


def default_decoder(
    kind: DensityKind, *, tolerances: Sequence[float] = (), separation: float = 0.0
) -> Decoder:
    """The recommended decoder where none has been calibrated.

    Parameters
    ----------
    kind
        Kind of density: ``events`` or ``state``.
    tolerances
        Tolerances of the metric in seconds.
    separation
        Least time between two detections of one type in seconds, for decoders that need it.

    Examples
    --------
    >>> default_decoder("events", tolerances=(60.0, 180.0)).kind
    'expected-ap'
    >>> default_decoder("state", tolerances=(60.0, 180.0)).window
    180.0
    """
    for variant in Decoder.kinds().values():
        if variant.reads == kind:
            decoder = variant.default(tuple(tolerances), separation)
            if decoder is not None:
                return decoder
    raise ConfigError(f"no decoder is the default for densities of kind {kind!r}; name one")
