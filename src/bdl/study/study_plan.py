"""The plan of a study, from which both regimes make their steps."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from bdl.runs.run_directory import RunDirectory
from bdl.runs.run_reader import StepId
from bdl.study.decoder_stages import DecoderStages
from bdl.study.fingerprint import DataFingerprint
from bdl.study.model_fits import ModelFit
from bdl.study.protocol import Protocol, Row
from bdl.study.results import ScoreRecord
from bdl.study.row_models import RowModel
from bdl.study.splits import Fold
from bdl.study.steps import RowRun, StudyStep
from bdl.study.study_reader import StudyReader

RunSteps = Callable[[str, Sequence[StudyStep]], None]


@dataclass(frozen=True)
class StudyPlan:
    """A protocol on the folds of some data, with the model of each row by name."""

    protocol: Protocol
    folds: tuple[Fold, ...]
    data: DataFingerprint
    models: Mapping[str, RowModel]

    @classmethod
    def stored(cls, study: StudyReader) -> Self | None:
        """The plan of a study as its run directory holds it; None if it is not written yet."""
        parts = [study.get_json(f"{name}.json") for name in ("split", "data", "models")]
        if None in parts:
            return None
        split, data, models = parts
        return cls(
            study.protocol,
            tuple(Fold(**fold) for fold in split["parts"]),
            DataFingerprint(**data),
            {row: RowModel(**model) for row, model in models.items()},
        )

    @property
    def test_ids(self) -> tuple[str, ...]:
        """Ids of all tested recordings, sorted."""
        return tuple(sorted(id for fold in self.folds for id in fold.test))

    def runs(self) -> Iterator[tuple[Row, int]]:
        """Every row with each of its final seeds."""
        for row in self.protocol.rows:
            for seed in self.protocol.seeds_of(row):
                yield row, seed

    def fit(self, row: Row, rate: float, seed: int, ids: Sequence[str]) -> ModelFit:
        """A training of a row on some recordings."""
        return ModelFit(
            model=self.models[row.name],
            learning_rate=rate,
            seed=seed,
            data=self.data.part(ids, labels=True),
        )

    def stages(self, row: Row) -> DecoderStages:
        """The decoders that a row is decoded with.

        Examples
        --------
        >>> from bdl.study.catalogue import load
        >>> protocol, data = load("chbmit-high-capacity"), DataFingerprint(
        ...     recordings={}, events={}, settings="")
        >>> StudyPlan(protocol, (), data, {}).stages(protocol.rows[0]).rescored
        {'strict': (1.0, 2.0, 3.0)}
        """
        protocol = self.protocol
        return DecoderStages(
            grid=protocol.grid,
            fixed=row.decoder,
            alternatives=protocol.alternatives,
            rescored=protocol.rescored,
            decoders=protocol.decoders,
            forward=row.lag is not None,
        )

    def slug(self, row: Row) -> str:
        """Number and name of a row, as part of a path."""
        number = self.protocol.rows.index(row)
        return f"{number:02d}-" + re.sub(r"[^a-z0-9.]+", "-", row.name.lower()).strip("-")


@dataclass(frozen=True)
class TrainedRows:
    """Result of training and selection, before any test label is read."""

    runs: tuple[RowRun, ...]  # every row and seed that was trained in all folds
    steps: tuple[StepId, ...]  # every step that was performed
    # Steps that scored the checkpoints of a row at the selected learning rate, by row; rows with
    # a preset have none.
    checkpoints: Mapping[str, Sequence[StepId]]
    records: tuple[ScoreRecord, ...]  # scores of the selection
    failed: tuple[str, ...]


class Procedure(ABC):
    """The steps of a study under a regime, and their order."""

    @abstractmethod
    def first_steps(self, plan: StudyPlan) -> Mapping[tuple[str, int], Sequence[StudyStep]]:
        """The steps that depend on no other, by row and fold."""

    @abstractmethod
    def step_counts(self, plan: StudyPlan) -> dict[str, int]:
        """Number of steps of each kind, in order, without the final scoring."""

    @abstractmethod
    def train(self, run: RunDirectory, plan: StudyPlan, run_steps: RunSteps) -> TrainedRows:
        """Train, select and freeze; results are read from the run directory.

        So a resumed study selects the same.
        """
