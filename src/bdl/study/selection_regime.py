"""The regimes of a study: on which recordings it selects, and what follows from that.

A protocol has a `Regime` as its value and its name as text. The steps of each regime, and their
order, are in `bdl.study.nested` and `bdl.study.validation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator

from bdl.study.splits import Fold


@dataclass(frozen=True)
class Regime:
    """On which recordings learning rate, checkpoint and decoder are selected.

    Parameters
    ----------
    name
        Name in protocols.
    selection_part
        Name of the recordings on which checkpoints are selected.
    held_out
        Whether these are other recordings than those that are reported. Models are then trained
        again after the selection, on all recordings outside the test part.

    Examples
    --------
    >>> NESTED.trainings(rates=3, seeds=2), VALIDATION.trainings(rates=3, seeds=2)
    (5, 6)
    """

    name: str
    selection_part: str
    held_out: bool

    def selection_ids(self, fold: Fold) -> tuple[str, ...]:
        """Recordings of a fold on which checkpoints are selected."""
        return fold.calibration if self.held_out else fold.test

    def trainings(self, *, rates: int, seeds: int) -> int:
        """Number of trainings of a row per fold, with some learning rates and seeds."""
        return rates + seeds if self.held_out else rates * seeds


NESTED = Regime("nested", selection_part="calibration", held_out=True)
VALIDATION = Regime("validation", selection_part="validation", held_out=False)
_BY_NAME = {regime.name: regime for regime in (NESTED, VALIDATION)}


def _parse(given: object) -> Regime:
    """A regime from a value or its name."""
    if isinstance(given, Regime):
        return given
    if not isinstance(given, str) or given not in _BY_NAME:
        raise ValueError(f"{' or '.join(map(repr, _BY_NAME))} expected, got {given!r}")
    return _BY_NAME[given]


# Type of a field: a regime or its name, written as its name.
RegimeField = Annotated[
    Regime, PlainValidator(_parse), PlainSerializer(lambda regime: regime.name, return_type=str)
]
