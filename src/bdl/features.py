"""Settings of the features of a model: statistics of each bin, calendar categories, and scaling.

`bdl.binning` computes and defines them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from numpy.typing import NDArray
from pydantic import Field, PositiveInt, model_validator

from bdl.arrays import Flags, Singles
from bdl.config import Value
from bdl.errors import ConfigError
from bdl.quality import Quality
from bdl.recording import Recordings
from bdl.scaling import Scaling
from bdl.scaling.automatic_scaling import AutomaticScaling

Statistic = Literal["mean", "max", "min", "std"]
STATISTICS: tuple[Statistic, ...] = ("mean", "max", "min", "std")


class Features(Value):
    """Input features of a model for each bin.

    Parameters
    ----------
    stride
        Samples per bin; by default chosen from the data when a detector is fitted.
    statistics
        Which of mean, max, min and std, in the order of the columns.
    calendar
        Whether local hour and weekday are inputs, as categories; by default chosen from the data.
    scaling
        How channels are scaled: a value or a name of `bdl.scaling` (automatic, none, ...).
    missing
        Whether a last column gives the share of missing samples, so that a model can distinguish a
        gap from a signal at its usual level. If it is not given, a detector that is fitted adds the
        column if more than 1 % of the training bins have no sample.
    quality
        Stretches whose samples are treated as missing, such as {flat: 60, non_wear: {}}; see
        `bdl.quality.Quality`. None takes all samples as they are.

    Examples
    --------
    >>> Features(stride=10, statistics=("mean", "std"), scaling="none").width(channels=3)
    6
    >>> Features(stride=10, statistics=("mean", "std"), missing=True).width(channels=3)
    7
    """

    stride: PositiveInt | None = None
    statistics: Annotated[tuple[Statistic, ...], Field(min_length=1)] = STATISTICS
    calendar: bool | None = None
    scaling: Scaling = AutomaticScaling()
    missing: bool = False
    quality: Quality | None = None

    @model_validator(mode="after")
    def _unique(self) -> Self:
        if len(set(self.statistics)) < len(self.statistics):
            raise ValueError(f"statistics repeat: {', '.join(self.statistics)}")
        return self

    @property
    def bin_samples(self) -> int:
        """Samples per bin, once they are known."""
        if self.stride is None:
            raise ConfigError("features: stride: the samples per bin are not known yet")
        return self.stride

    def width(self, channels: int) -> int:
        """Return the number of columns."""
        return channels * len(self.statistics) + self.missing

    def per_channel(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the statistics of each channel, (..., columns) → (..., channels, statistics).

        Examples
        --------
        >>> import numpy as np
        >>> Features(statistics=("mean", "std"), missing=True).per_channel(np.arange(5)).tolist()
        [[0, 1], [2, 3]]
        """
        used = columns[..., : columns.shape[-1] - self.missing]
        return used.reshape(*columns.shape[:-1], -1, len(self.statistics))

    def clear(self, values: Singles, blank: Flags) -> None:
        """Replace some bins (bins, columns) in place by bins without any sample.

        Examples
        --------
        >>> import numpy as np
        >>> values = np.full((2, 3), 0.5, np.float32)
        >>> features = Features(statistics=("mean", "std"), missing=True)
        >>> features.clear(values, np.array([True, False]))
        >>> values.tolist()
        [[0.0, 0.0, 1.0], [0.5, 0.5, 0.5]]
        """
        values[blank] = 0
        if self.missing:
            values[blank, -1] = 1

    def fit(self, recordings: Recordings) -> Self:
        """Return a copy whose scaling is learned from the given training recordings.

        Examples
        --------
        >>> import numpy as np
        >>> from bdl.recording import Recording
        >>> parts = [Recording.of(np.arange(5.0) + i, id=str(i), period=1.0) for i in (0, 4)]
        >>> Features(stride=2, scaling="robust").fit(Recordings.of(parts)).scaling
        Robust(kind='robust', median=(4.0,), spread=(3.5,), unit=None)
        """
        masked = recordings if self.quality is None else self.quality.mask(recordings)
        return self.replace(scaling=self.scaling.fit(masked))
