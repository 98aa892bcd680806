"""The model of a row: a value with everything a training depends on except data, rate and seed.

Names are replaced by values, so that its hash changes when a meaning does.
"""

from __future__ import annotations

from typing import Self

from bdl.config import Value
from bdl.datasets import Benchmark
from bdl.detector import DetectorSettings
from bdl.detector.selection import Selection
from bdl.errors import ConfigError
from bdl.study.protocol import Protocol, Row
from bdl.windows import window_bins


class RowModel(Value):
    """The model of a row: settings of its detector, with those of the data set, and event types.

    Without a preset the settings are complete and name no decoder: a study decodes in steps of its
    own. Each training sets its own seed and, without a preset, learning rate.
    """

    settings: DetectorSettings
    types: tuple[str, ...]

    @classmethod
    def of(cls, protocol: Protocol, row: Row, benchmark: Benchmark) -> Self:
        """The model of a row of a protocol, completed with the settings of the data."""
        data, infos = benchmark.settings, benchmark.recordings.infos
        if row.objective.needs_intervals and not benchmark.intervals:
            raise ConfigError(
                f"row {row.name!r}: objective {row.objective.kind!r} needs intervals; the data "
                f"set {benchmark.name!r} has none"
            )
        if row.preset is not None:
            settings = row.detector_settings(data, protocol.training)
            return cls(settings=settings, types=data.types)
        stride = row.stride or data.stride
        longest = max(info.duration for info in infos)
        window = min(protocol.window or data.window, longest)
        bins = window_bins(window, period=infos[0].period, stride=stride)
        training = protocol.training
        scaling = {} if data.scaling is None else {"scaling": data.scaling}
        settings = DetectorSettings.of(
            data,
            objective=row.objective,
            encoder=row.encoder.with_bins(bins),
            features={"stride": stride, **scaling},
            window=window,
            lag=row.lag,
            selection=Selection(folds=0),  # a study selects in steps of its own
            training=training.replace(batch=row.batch or training.batch, jitter=data.jitter),
        )
        return cls(settings=settings.replace(decoder=None), types=data.types)

    @classmethod
    def of_rows(cls, protocol: Protocol, benchmark: Benchmark) -> dict[str, Self]:
        """The models of all rows of a protocol, by name."""
        return {row.name: cls.of(protocol, row, benchmark) for row in protocol.rows}
