"""Stretches of recordings whose samples are unreliable.

``flat``
    A run of equal samples of a channel, at least this many seconds long.
``clipped``
    A run of equal samples at the smallest or at the largest value of the channel in the recording,
    at least this many seconds and 3 samples long. A channel that is never below 0 by its definition
    and often 0, such as ENMO, is clipped in this sense.
``repeated``
    A stretch of a channel, at least this many seconds and 16 samples long, that equals sample by
    sample one that began at most ten times as many seconds earlier; see `bdl.quality.repeats`.
``non_wear``
    Windows, an hour long by default, in which all axes of an accelerometer are still; see
    `bdl.quality.NonWear`. They concern all channels of the recording.

A missing sample ends a stretch of the first three. Recordings are read once, in chunks; except for
the stretches themselves, memory does not grow with their length.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from bdl.config import Value
from bdl.quality.equal_runs import EqualRuns
from bdl.quality.non_wear import NonWear, StillWindows
from bdl.quality.repeats import Repeats
from bdl.quality.stretches import Spans, Stretches, StretchKind
from bdl.recording import Recording, Recordings
from bdl.recording_info import RecordingInfo
from bdl.value_readers import ValueReader, Values

KINDS: tuple[StretchKind, ...] = ("flat", "clipped", "repeated", "non_wear")
_FEWEST = {"flat": 2, "clipped": 3, "repeated": 16}  # samples
_Length = Annotated[float, Field(gt=0, le=1e10)]


class Quality(Value):
    """Stretches to look for, each kind only if it is given; see `bdl.quality.quality`.

    Parameters
    ----------
    flat
        Seconds of the shortest run of equal samples that is flat.
    clipped
        Seconds of the shortest run at an extreme value that is clipped.
    repeated
        Seconds of the shortest stretch that is repeated.
    non_wear
        Rule for an accelerometer that is not worn; an empty mapping is the default rule.

    Examples
    --------
    >>> values = np.sin(np.arange(100.0))
    >>> values[40:70] = 0.5
    >>> recordings = Recordings.of([Recording.of(values, id="a", period=1.0)])
    >>> masked = Quality(flat=20.0).mask(recordings)
    >>> int(np.isnan(masked["a"].values).sum())
    30
    """

    flat: _Length | None = None
    clipped: _Length | None = None
    repeated: _Length | None = None
    non_wear: NonWear | None = None

    @model_validator(mode="after")
    def _has_an_effect(self) -> Self:
        if not self.kinds:
            raise ValueError(f"at least one of {', '.join(KINDS)} expected, got none")
        return self

    @property
    def kinds(self) -> tuple[StretchKind, ...]:
        """Kinds of stretches that are looked for."""
        return tuple(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def looks_ahead(self) -> str:
        """Why the quality of a sample depends on later samples."""
        reasons = []
        for kind in ("flat", "repeated"):
            if (seconds := getattr(self, kind)) is not None:
                reasons.append(f"{kind} stretches are known {seconds:g} s after they begin")
        if self.clipped is not None:
            reasons.append("clipped values are known when the whole recording is")
        if self.non_wear is not None:
            reasons.append(f"windows of non_wear are known after {self.non_wear.window:g} s")
        return ", ".join(reasons)

    def find(self, info: RecordingInfo, chunks: Iterable[Values]) -> Stretches:
        """Find the stretches of one recording.

        Parameters
        ----------
        info
            The recording.
        chunks
            Its values in order, some rows at a time.

        Examples
        --------
        >>> recording = Recording.of(np.array([0.0, 9, 9, 9, 2]), id="a", period=1.0)
        >>> Quality(clipped=1.0).find(recording.info, [recording.values]).stretches["clipped"]
        (array([[1, 4]]),)
        """
        channels = len(info.channels)
        least = {
            kind: None if seconds is None else max(fewest, math.ceil(seconds / info.period - 1e-6))
            for kind, fewest in _FEWEST.items()
            for seconds in [getattr(self, kind)]
        }
        flat, clipped, repeated = least.values()
        runs = [EqualRuns(flat, clipped) for _ in range(channels)] if flat or clipped else []
        repeats = [Repeats(repeated) for _ in range(channels)] if repeated else []
        axes = () if self.non_wear is None else self.non_wear.axes(info.channels)
        still = self.non_wear and StillWindows(self.non_wear, len(axes), info.period)
        for chunk in chunks:
            for channel, column in enumerate(chunk.T if runs or repeats else ()):
                samples = np.ascontiguousarray(column, np.float32)
                if runs:
                    runs[channel].add(samples)
                if repeats:
                    repeats[channel].add(samples)
            if still:
                still.add(np.ascontiguousarray(chunk[:, axes], np.float32))
        for channel_runs in runs:
            channel_runs.finish()
        by_kind: dict[StretchKind, tuple[Spans, ...]] = {}
        if self.flat is not None:
            by_kind["flat"] = tuple(channel_runs.flat_stretches() for channel_runs in runs)
        if self.clipped is not None:
            by_kind["clipped"] = tuple(channel_runs.clipped_stretches() for channel_runs in runs)
        if repeats:
            by_kind["repeated"] = tuple(channel_repeats.stretches() for channel_repeats in repeats)
        if still:
            by_kind["non_wear"] = (still.stretches(),) * channels
        return Stretches(info, by_kind)

    def of(self, recording: Recording) -> Stretches:
        """Find the stretches of a recording in memory, or mapped into it."""
        return self.find(recording.info, Recordings.of([recording]).chunks(recording.id))

    def mask(self, recordings: Recordings) -> Recordings:
        """Return the same recordings, in which the samples of all stretches are missing."""
        return replace(recordings, reader=MaskedReader(recordings, self))


# The default of `bdl inspect`.
USUAL = Quality(flat=60.0, clipped=0.05, repeated=1.0, non_wear=NonWear())


@dataclass(frozen=True)
class MaskedReader(ValueReader):
    """Values of recordings with some stretches masked; each recording is read twice, in chunks."""

    source: Recordings
    quality: Quality

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        stretches = self.quality.find(info, self.source.chunks(info.id))
        row = 0
        for chunk in self.source.chunks(info.id):
            yield stretches.mask(chunk, row)
            row += len(chunk)

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        return self.source.files(info.id)

    def only(self, ids: Collection[str]) -> MaskedReader:
        return MaskedReader(self.source.select(ids), self.quality)
