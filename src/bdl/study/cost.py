"""What a study needs and roughly costs.

The cost is that of its trainings: so many bins pass forwards and backwards at the speed that each
encoder states. It is an order of magnitude, to tell minutes from weeks.
"""

from __future__ import annotations

from typing import Any

from bdl.study.protocol import Folds, Parts, Protocol, Row

# Seconds a training takes besides: reading, densities, decoding.
_BESIDES = 5.0


def fits(protocol: Protocol) -> int:
    """How many models a study trains.

    >>> from bdl.study.catalogue import load
    >>> fits(load("sleep-nested"))
    210
    """
    return sum(_fits(protocol, row) for row in protocol.rows)


def hours(protocol: Protocol) -> float:
    """Rough core-hours of all trainings."""
    dataset = protocol.data.dataset
    bins = dataset.window_bins
    total = 0.0
    for row in protocol.rows:
        speed = row.encoder.seconds_per_bin(bins)
        windows = dataset.recordings * 0.7 * protocol.training.epochs
        total += _fits(protocol, row) * (_BESIDES + speed * bins * windows)
    return total / 3600


def needs(protocol: Protocol) -> str:
    """The data a study needs."""
    return protocol.data.dataset.requires or protocol.data.name


def summary(protocol: Protocol) -> dict[str, Any]:
    """A study in a few plain words and numbers."""
    return {
        "name": protocol.name,
        "title": protocol.title,
        "data": protocol.data.name,
        "needs": needs(protocol),
        "regime": protocol.regime,
        "rows": len(protocol.rows),
        "fits": fits(protocol),
        "core_hours": round(hours(protocol), 2),
        "tables": [table.label for table in protocol.paper.tables],
    }


def _fits(protocol: Protocol, row: Row) -> int:
    split = protocol.split
    folds = split.folds if isinstance(split, Folds) else 1
    folds = len(split.parts) if isinstance(split, Parts) else folds
    rates, seeds = len(protocol.learning_rates(row)), len(protocol.final_seeds(row))
    if protocol.regime == "nested":
        return folds * (rates + seeds)
    return folds * rates * seeds
