"""Keys of a protocol that have no effect on its data."""

from __future__ import annotations

from bdl.datasets import Benchmark
from bdl.errors import ConfigError
from bdl.evaluation.metrics.metric import number
from bdl.study.protocol import Protocol


def check_data_keys(protocol: Protocol, benchmark: Benchmark) -> None:
    """Raise an error for metrics and analyses that the data do not have.

    Examples
    --------
    >>> from bdl.datasets import Settings
    >>> from bdl.study.catalogue import load
    >>> settings = Settings(types=("x",), tolerances=(2.0,), stride=1, window=60.0, sigma=1.0,
    ...                     separation=1.0)
    >>> check_data_keys(load("sleep-holdout"), Benchmark("mine", None, None, (), settings))
    Traceback (most recent call last):
    bdl.errors.ConfigError: metrics: AP@60: ... tolerance of 60 s; it has 2 ...
    """
    settings = benchmark.settings
    matched = (settings.tolerances, *protocol.rescored.values())
    for metric in protocol.metrics:
        if not any(metric.measurable(tolerances) for tolerances in matched):
            known = ", ".join(dict.fromkeys(number(t) for each in matched for t in each))
            raise ConfigError(
                f"metrics: {metric}: the study has no tolerance of {metric.tolerance:g} s; it has "
                f"{known} (settings.tolerances)"
            )
        if metric.type not in (None, *settings.types):
            raise ConfigError(
                f"metrics: {metric}: data set {benchmark.name!r} has no event type "
                f"{metric.type!r}; its types are {', '.join(settings.types)}"
            )
    if "states" in protocol.analyses and not benchmark.intervals:
        raise ConfigError(
            f"analyses: states: data set {benchmark.name!r} has no intervals; leave it out"
        )
