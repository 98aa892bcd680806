"""The model of a row: a value with everything a training depends on except data, rate and seed.

Names are replaced by values, so that its hash changes when a meaning does.
"""

from __future__ import annotations

from bdl.config import Value
from bdl.datasets import Benchmark
from bdl.encoders import Encoder
from bdl.errors import ConfigError
from bdl.objectives import Objective
from bdl.study.protocol import Protocol, Row
from bdl.training.settings import Training
from bdl.windows import window_bins


class RowModel(Value):
    """The model of a row.

    Parameters
    ----------
    objective
        Objective, completed with the settings of the data set.
    encoder
        Encoder, for windows of the right length.
    stride
        Samples per output bin.
    window
        Length of a training window in seconds.
    calendar
        Whether local hour and weekday are inputs.
    divisor
        Number that values are divided by; None learns the scaling.
    training
        Optimiser and budget; each training sets its own learning rate and seed.
    types
        Event types.
    tolerances
        Tolerances in seconds.
    """

    objective: Objective
    encoder: Encoder
    stride: int
    window: float
    calendar: bool
    divisor: float | None
    training: Training
    types: tuple[str, ...]
    tolerances: tuple[float, ...]

    @classmethod
    def of(cls, protocol: Protocol, row: Row, benchmark: Benchmark) -> RowModel:
        """The model of a row of a protocol, completed with the settings of the data."""
        settings, infos = benchmark.settings, benchmark.recordings.infos
        if row.objective.needs_intervals and not benchmark.intervals:
            raise ConfigError(
                f"row {row.name!r}: objective {row.objective.kind!r} needs intervals; the data "
                f"set {benchmark.name!r} has none"
            )
        stride = row.stride or settings.stride
        longest = max(info.duration for info in infos)
        window = min(protocol.window or settings.window, longest)
        bins = window_bins(window, period=infos[0].period, stride=stride)
        return cls(
            objective=row.objective.complete(
                sigma=settings.sigma,
                tolerances=settings.tolerances,
                reference_spacing=settings.reference_spacing,
            ),
            encoder=row.encoder.with_bins(bins),
            stride=stride,
            window=window,
            calendar=settings.calendar,
            divisor=settings.divisor,
            training=protocol.training.replace(
                batch=row.batch or protocol.training.batch, jitter=settings.jitter
            ),
            types=settings.types,
            tolerances=settings.tolerances,
        )
