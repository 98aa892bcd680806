"""Augmentation: random changes of training windows that do not change their events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
from pydantic import Field, NonNegativeFloat, model_validator

from bdl.arrays import Flags, Singles
from bdl.config import Value
from bdl.errors import ConfigError
from bdl.features import Features
from bdl.labels import Labels


class Augmentation(Value):
    """Random changes of each training window; without arguments there are none.

    They are drawn for each window after its place, from the same seed, and act on scaled features
    of bins. Boosted trees are fitted on bins, not on windows, and have no augmentation.

    Parameters
    ----------
    gain
        All features of a channel are multiplied by ``exp(gain * z)``, with one standard normal
        ``z`` per window and channel.
    blanks
        Expected share of each channel that is set to zero, as missing samples are: half of it in
        stretches of single channels, half in stretches of all channels together.
    blank_bins
        Mean length of a blank in bins; lengths are geometric.
    reversal
        Probability that time runs backwards in a window. Onset and offset of an interval change
        places; hour and weekday stay with their bins.
    symmetric
        Whether event types that are no endpoint of an interval look the same in both directions of
        time. Without it, reversal is an error if there are such types.

    Examples
    --------
    >>> Augmentation(gain=0.2, blanks=0.1).blank_bins
    20.0
    >>> Augmentation(symmetric=True)
    Traceback (most recent call last):
    bdl.errors.ConfigError: Augmentation: symmetric has no effect without reversal...
    """

    gain: NonNegativeFloat = 0.0
    blanks: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    blank_bins: Annotated[float, Field(ge=1)] = 20.0
    reversal: Annotated[float, Field(ge=0, le=1)] = 0.0
    symmetric: bool = False

    @model_validator(mode="after")
    def _used(self) -> Self:
        if self.symmetric and not self.reversal:
            raise ValueError("symmetric has no effect without reversal")
        if not self.blanks and self.blank_bins != type(self).model_fields["blank_bins"].default:
            raise ValueError("blank_bins has no effect without blanks")
        return self

    def check(self, labels: Sequence[Labels]) -> None:
        """Raise an error if reversal has no meaning for these labels."""
        paired = all(part.partners and None not in part.partners for part in labels)
        if self.reversal and not self.symmetric and not paired:
            raise ConfigError(
                "augmentation: reversal needs the partner of every event type, but some types are "
                "no endpoint of an interval; name the intervals, or set symmetric if these events "
                "look alike in both directions of time"
            )

    def reverses(self, rng: np.random.Generator) -> bool:
        """Return whether the next window is reversed."""
        return bool(self.reversal) and bool(rng.random() < self.reversal)

    def change(self, values: Singles, features: Features, rng: np.random.Generator) -> None:
        """Change the features of a window, (bins, columns), in place.

        A share of missing samples rises where channels are blanked.

        Examples
        --------
        >>> window = np.ones((4, 4), np.float32)
        >>> features = Features(statistics=("mean", "std"))
        >>> Augmentation(gain=1.0).change(window, features, np.random.default_rng(0))
        >>> window[0]
        array([1.133..., 1.133..., 0.876..., 0.876...], dtype=float32)
        """
        width = len(features.statistics)
        channels = (values.shape[1] - features.missing) // width
        by_channel = [values[:, c * width : (c + 1) * width] for c in range(channels)]
        if self.gain:
            for columns in by_channel:
                columns *= np.float32(np.exp(self.gain * rng.standard_normal()))
        if self.blanks:
            # Two independent layers of this share cover the wanted share together.
            share = 1 - math.sqrt(1 - self.blanks)
            everywhere = stretches(len(values), share, self.blank_bins, rng)
            present = np.zeros(len(values), dtype=np.float32)
            for columns in by_channel:
                blank = everywhere | stretches(len(values), share, self.blank_bins, rng)
                columns[blank] = 0
                present += ~blank
            if features.missing:
                values[:, -1] = 1 - (1 - values[:, -1]) * present / channels


def stretches(bins: int, share: float, mean: float, rng: np.random.Generator) -> Flags:
    """Mark random stretches of bins; every bin is marked with probability ``share``.

    Stretches and the gaps between them have geometric lengths: a Markov chain of two states that
    starts in equilibrium, so that the ends of a window are like its middle. ``share`` is at most a
    half; ``mean`` is the mean length of a stretch in bins, at least 1.

    Examples
    --------
    >>> stretches(12, 0.4, 3.0, np.random.default_rng(1)).astype(int).tolist()
    [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
    """
    marked = np.zeros(bins, dtype=np.bool_)
    inside = bool(rng.random() < share)
    ends = {True: 1 / mean, False: share / (mean * (1 - share))}
    first = 0
    while first < bins:
        stop = first + int(rng.geometric(ends[inside]))
        marked[first:stop] = inside
        first, inside = stop, not inside
    return marked
