"""Protocols: a study as one validated, hashed value.

A protocol says what is compared (rows: objective and encoder), on which data and splits, what
may be chosen (learning rate, checkpoint epoch, decoder) and on which recordings, and how the
outcome is summed up. Two regimes:

- ``nested``: inside each outer fold the choice is made on calibration recordings, frozen, the
  model is retrained on all recordings that are not in the test part, and the test part is
  opened once.
- ``validation``: as in the paper's development studies, each fold's model is trained on the
  other folds, and the checkpoint and decoder are chosen on the very folds that are reported.
  The tables say so, and a cross-fitted score (each fold's decoder chosen on the other folds)
  stands beside.

Times are in seconds, strides in samples. Unknown keys are errors. The hash leaves out what
changes no figure: name, title, notes and table layouts.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from bdl.config import Value, mapping, validate
from bdl.datasets import Dataset
from bdl.encoders import Encoder
from bdl.objectives import Objective
from bdl.study.digest import digest
from bdl.study.paper_tables import Paper

By = Literal["recording", "group"]
Fraction = Annotated[float, Field(gt=0, lt=1)]
Names = tuple[str, ...]


class Folds(Value):
    """Shuffled outer folds; with ``calibration``, an inner split of each fold's other units.

    Fold j draws its inner split with seed ``calibration_seed + j``.

    >>> Folds(folds=5, seed=20260718, calibration=0.2, calibration_seed=20260719).by
    'recording'
    """

    kind: Literal["folds"] = "folds"
    by: By = "recording"
    folds: int = Field(ge=2)
    seed: int = Field(ge=0)
    calibration: Fraction | None = None
    calibration_seed: int = Field(0, ge=0)


class Holdout(Value):
    """One partition: a test share of all units, then a calibration share of the rest.

    Shares are rounded up: 277 recordings at 0.2 and 0.25 give 165 / 56 / 56.

    >>> Holdout(seed=20260716, calibration_seed=20260717).test
    0.2
    """

    kind: Literal["holdout"] = "holdout"
    by: By = "recording"
    test: Fraction = 0.2
    seed: int = Field(ge=0)
    calibration: Fraction = 0.25
    calibration_seed: int = Field(ge=0)


class Part(Value):
    """The recordings of one fold, by id.

    >>> Part(train=("a",), test=("b",)).calibration
    ()
    """

    train: Names
    calibration: Names = ()
    test: Names


class Parts(Value):
    """Parts given recording by recording, as someone else has split them.

    >>> Parts(parts=(Part(train=("a",), test=("b",)),)).kind
    'parts'
    """

    kind: Literal["parts"] = "parts"
    by: By = "recording"
    parts: tuple[Part, ...] = Field(min_length=1)


Split = Annotated[Folds | Holdout | Parts, Field(discriminator="kind")]


class Data(Value):
    """The data set: a name known to ``bdl.datasets``, its options, and changed settings.

    >>> Data(name="sleep").options
    {}
    """

    name: str
    options: dict[str, Any] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)

    @property
    def dataset(self) -> Dataset:
        """The data set with its options."""
        return Dataset.named(self.name, **self.options)

    @model_validator(mode="after")
    def _known(self) -> Self:
        _ = self.dataset
        return self


class Training(Value):
    """How every model is trained, unless its row says otherwise.

    >>> Training().checkpoints
    (5, 10, 15, 20)
    """

    epochs: int = Field(20, ge=1)
    checkpoints: tuple[int, ...] = Field((5, 10, 15, 20), min_length=1)
    batch: int = Field(32, ge=1)
    learning_rates: tuple[Annotated[float, Field(gt=0)], ...] = Field((3e-3,), min_length=1)
    clip: float | None = Field(0.1, gt=0)
    window: float | None = Field(None, gt=0)
    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if list(self.checkpoints) != sorted(set(self.checkpoints)):
            raise ValueError("checkpoints must rise")
        if self.checkpoints[0] < 1 or self.checkpoints[-1] > self.epochs:
            raise ValueError(f"checkpoints must lie in 1..{self.epochs} (epochs)")
        return self


class Row(Value):
    """One line of the comparison: an objective on an encoder, with what differs from the rest.

    >>> Row(name="BDL-Hard", objective="bdl-hard", encoder="chbmit-gru").encoder.width
    128
    """

    name: str = Field(min_length=1)
    objective: Objective
    encoder: Encoder = Field(default_factory=lambda: Encoder.parse("gru"))
    stride: int | None = Field(None, ge=1)
    batch: int | None = Field(None, ge=1)
    learning_rates: tuple[Annotated[float, Field(gt=0)], ...] | None = Field(None, min_length=1)
    seeds: tuple[int, ...] | None = Field(None, min_length=1)
    decoder: dict[str, Any] | None = None


class Bootstrap(Value):
    """The paired cluster bootstrap of every difference.

    >>> Bootstrap().replicates
    1000
    """

    replicates: int = Field(1000, ge=10)
    seed: int = Field(0, ge=0)
    by: By = "recording"


class Protocol(Value):
    """A whole study; see the module's text.

    >>> Protocol(
    ...     name="mine", data=Data(name="hapt"), split=Folds(folds=3, seed=0, calibration=0.2),
    ...     rows=(Row(name="BDL", objective="bdl-hard"),),
    ... ).regime
    'nested'
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str = ""
    data: Data
    regime: Literal["nested", "validation"] = "nested"
    split: Split
    rows: tuple[Row, ...] = Field(min_length=1)
    training: Training = Training()
    selection_seed: int = Field(0, ge=0)
    seeds: tuple[int, ...] = Field((0, 1, 2), min_length=1)
    grid: Literal["paper", "expected-ap"] | dict[str, Any] = "paper"
    alternatives: tuple[Literal["expected-ap"], ...] = ()
    decoders: dict[str, dict[str, Any]] = Field(default_factory=dict)
    metrics: Names = Field(("mAP", "mF1"), min_length=1)
    differences: tuple[tuple[str, str], ...] = ()
    rescored: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    bootstrap: Bootstrap = Bootstrap()
    analyses: tuple[Literal["states", "counts"], ...] = ()
    notes: str = ""
    paper: Paper = Paper()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [row.name for row in self.rows]
        if len(set(names)) != len(names):
            raise ValueError(f"two rows have one name: {names}")
        for pair in self.differences:
            for name in pair:
                if name not in names:
                    raise ValueError(f"a difference names the row {name!r}; rows are {names}")
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds repeat: {self.seeds}")
        if self.regime == "nested" and isinstance(self.split, Folds) and not self.split.calibration:
            raise ValueError("a nested study needs split.calibration, the share to choose on")
        if self.regime == "validation" and isinstance(self.split, Holdout):
            raise ValueError("a study in the validation regime needs folds")
        return self

    def row(self, name: str) -> Row:
        """The row of that name."""
        return next(row for row in self.rows if row.name == name)

    def learning_rates(self, row: Row) -> tuple[float, ...]:
        """Learning rates tried for a row."""
        return row.learning_rates or self.training.learning_rates

    def final_seeds(self, row: Row) -> tuple[int, ...]:
        """Seeds with which a row's final models are trained."""
        return row.seeds or self.seeds

    def content(self) -> dict[str, Any]:
        """All that can change a figure, as plain data."""
        return self.model_dump(mode="json", exclude={"name", "title", "notes", "paper"})

    def digest(self) -> str:
        """SHA-256 of the content."""
        return digest(self.content())


def parse_protocol(data: object, source: str) -> Protocol:
    """A protocol from plain data; every problem is named with its key.

    >>> parse_protocol({"name": "x", "folds": 3}, "x.yaml")
    Traceback (most recent call last):
    bdl.errors.ConfigError: x.yaml: ...
    """
    protocol: Protocol = validate(Protocol, mapping(data, source), source)
    return protocol
