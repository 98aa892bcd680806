"""The plan: every step of a study, and what each depends on.

Nested regime: ``select`` (a fold, row and learning rate: train, score every checkpoint on the
calibration recordings) → the choice, frozen → ``final`` (a fold, row and seed: retrain on all that
is not test up to the chosen epoch, densities and detections of the test recordings) → ``score``.

Validation regime: ``validate`` (a fold, row, seed and learning rate: train on the other folds,
keep the best checkpoint's densities) → ``tune`` (a row and seed: decoders on the pooled folds, and
cross-fitted) → ``score``.

A step's inputs name recordings by id and hold the hashes of their values, and of labels only
where the step may see them: test labels enter no key before ``score``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bdl.study.decoders import wanted_stages
from bdl.study.protocol import Part, Protocol, Row
from bdl.study.run_directory import StudyStep
from bdl.study.study_data import Fingerprint

Plain = dict[str, Any]


@dataclass(frozen=True)
class SelectedModel:
    """What was chosen for a row in a fold.

    >>> SelectedModel("BDL", 0, 0.003, 10, 0.5, {}).epoch
    10
    """

    row: str
    fold: int
    rate: float
    epoch: int
    score: float
    decoders: dict[str, Plain]

    def to_dict(self) -> Plain:
        """As plain data."""
        return {
            "row": self.row,
            "fold": self.fold,
            "learning_rate": self.rate,
            "epoch": self.epoch,
            "score": self.score,
            "decoders": self.decoders,
        }


@dataclass(frozen=True)
class StudyPlan:
    """Steps of a protocol on given parts of given data.

    Parameters
    ----------
    protocol, parts, data : what is studied, on which split of what.
    models : plain description of each row's model, by row name.
    """

    protocol: Protocol
    parts: tuple[Part, ...]
    data: Fingerprint
    models: Mapping[str, Plain]

    def selects(self) -> list[StudyStep]:
        """One step a fold, row and learning rate (nested regime)."""
        return [
            self.select(fold, row, rate)
            for fold in range(len(self.parts))
            for row in self.protocol.rows
            for rate in self.protocol.learning_rates(row)
        ]

    def select(self, fold: int, row: Row, rate: float) -> StudyStep:
        """Train at one rate, and score checkpoints on the calibration recordings."""
        part = self.parts[fold]
        seed = self.protocol.selection_seed + fold
        name = f"select/{self.slug(row)}/fold-{fold}/rate-{rate:g}"
        inputs = self._fit(row, rate, seed, part.train)
        inputs |= self._chosen_on(row, part.train, part.calibration)
        return StudyStep(name, "select", inputs)

    def finals(self, choices: Sequence[SelectedModel]) -> list[StudyStep]:
        """One step a fold, row and seed, given what was chosen."""
        return [step for choice in choices for step in self.finals_of(choice).values()]

    def finals_of(self, choice: SelectedModel) -> dict[int, StudyStep]:
        """The final steps of one choice, by seed."""
        row = self.protocol.row(choice.row)
        part = self.parts[choice.fold]
        train = tuple(sorted((*part.train, *part.calibration)))
        steps = {}
        for seed in self.protocol.final_seeds(row):
            inputs = self._fit(row, choice.rate, seed, train) | {
                "epoch": choice.epoch,
                "test": list(part.test),
                "test_signals": self.data.signals(part.test),
                "decoders": choice.decoders,
            }
            name = f"final/{self.slug(row)}/fold-{choice.fold}/seed-{seed}"
            steps[seed] = StudyStep(name, "final", inputs)
        return steps

    def validates(self) -> list[StudyStep]:
        """One step a fold, row, seed and learning rate (validation regime)."""
        return [
            self.validate(fold, row, seed, rate)
            for fold in range(len(self.parts))
            for row, seed in self.runs()
            for rate in self.protocol.learning_rates(row)
        ]

    def validate(self, fold: int, row: Row, seed: int, rate: float) -> StudyStep:
        """Train on the other folds, keep the best checkpoint on this one."""
        part = self.parts[fold]
        name = f"validate/{self.slug(row)}/fold-{fold}/seed-{seed}-rate-{rate:g}"
        inputs = self._fit(row, rate, seed, part.train)
        return StudyStep(name, "validate", inputs | self._chosen_on(row, part.train, part.test))

    def tune(self, row: Row, seed: int, used: Sequence[StudyStep]) -> StudyStep:
        """Choose decoders on the pooled folds, and decode."""
        ids = sorted(id for part in self.parts for id in part.test)
        inputs = {
            "densities": [step.id.model_dump() for step in used],
            "folds": [list(part.test) for part in self.parts],
            "labels": self.data.labels(ids),
            "settings": self.data.settings,
            "stages": wanted_stages(self.protocol, row),
        }
        return StudyStep(f"tune/{self.slug(row)}/seed-{seed}", "tune", inputs)

    def score(self, results: Sequence[StudyStep]) -> StudyStep:
        """Open the labels of all test parts, and score."""
        ids = sorted(id for part in self.parts for id in part.test)
        inputs = {
            "scored": [step.id.model_dump() for step in results],
            "labels": self.data.labels(ids),
            "settings": self.data.settings,
            "statistics": {
                key: self.protocol.content()[key]
                for key in ("metrics", "differences", "bootstrap", "rescored", "analyses")
            },
        }
        return StudyStep("score", "score", inputs)

    def runs(self) -> Iterator[tuple[Row, int]]:
        """Every row with each of its final seeds."""
        for row in self.protocol.rows:
            for seed in self.protocol.final_seeds(row):
                yield row, seed

    def _fit(self, row: Row, rate: float, seed: int, train: Sequence[str]) -> Plain:
        return {
            "model": self.models[row.name],
            "rate": rate,
            "seed": seed,
            "train": list(train),
            "train_signals": self.data.signals(train),
            "train_labels": self.data.labels(train),
            "settings": self.data.settings,
        }

    def _chosen_on(self, row: Row, train: Sequence[str], chosen_on: Sequence[str]) -> Plain:
        return {
            "chosen_on": list(chosen_on),
            "chosen_on_signals": self.data.signals(chosen_on),
            "chosen_on_labels": self.data.labels(chosen_on),
            "checkpoints": list(self.protocol.training.checkpoints),
            "stages": wanted_stages(self.protocol, row),
        }

    def slug(self, row: Row) -> str:
        """A row's number and name, fit for a path."""
        number = self.protocol.rows.index(row)
        return f"{number:02d}-" + re.sub(r"[^a-z0-9.]+", "-", row.name.lower()).strip("-")


def pick(tried: Sequence[tuple[float, Plain]]) -> tuple[float, Plain] | None:
    """The rate and result with the best score: of equals the first rate, the earliest epoch.

    Failed trainings are passed over; None where all failed.

    >>> pick([(0.1, {"status": "failed"}), (0.01, {"status": "ok", "score": 0.2})])
    (0.01, {'status': 'ok', 'score': 0.2})
    """
    good = [(rate, result) for rate, result in tried if result["status"] == "ok"]
    return max(good, key=lambda one: one[1]["score"]) if good else None
