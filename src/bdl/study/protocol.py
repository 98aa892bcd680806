"""Protocols: a study as one validated, hashed value.

A protocol says what is compared (rows: objective and encoder), on which data and splits, what
may be selected (learning rate, checkpoint, decoder) and on which recordings, and how the results
are summarised. There are two regimes:

- ``nested``: inside each outer fold the selection is made on calibration recordings and frozen, the
  model is retrained on all recordings that are not in the test part, and the test part is opened
  once. A row with a preset of the detector makes its choices within the recordings that are not in
  the test part, and they are frozen in the same way.
- ``validation``: as in the paper's development studies, the model of each fold is trained on the
  other folds, and checkpoint and decoder are selected on the folds that are reported. The tables
  say so and add a cross-fitted score, for which the decoder of each fold is selected on the others.

Times are in seconds, strides in samples. Unknown keys are errors. The hash leaves out what
changes no result: name, title, notes, table layouts and the methods of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, PositiveFloat, field_validator, model_validator

from bdl.config import Value, mapping, validate
from bdl.datasets import Dataset, Settings
from bdl.decoding import Decoder, Grid
from bdl.evaluation.metrics import Metric
from bdl.runs.digest import digest
from bdl.study.cell_checks import check_cells
from bdl.study.paper_tables import Paper
from bdl.study.row import NO_BUDGET, LearningRates, Seeds
from bdl.study.row import Row as Row  # a protocol is written with its rows
from bdl.study.selection_regime import NESTED, RegimeField
from bdl.study.splits import Fold, Folds, Holdout, Split, Unit, make_split
from bdl.study.stages import RESERVED
from bdl.study.unused_keys import PUBLISHED, check_keys
from bdl.training import Training

# Fields of `Training` that the study sets for each training, and the key that determines them.
_SET_BY_STUDY = {
    "learning_rate": "learning_rates",
    "seed": "seeds",
    "jitter": "settings.jitter",
    "stop_after": "training.checkpoint_epochs",
    "checkpoints": "training.checkpoint_epochs",
    "updates": "training.epochs",
}


class BootstrapSettings(Value):
    """The paired cluster bootstrap of every difference.

    Parameters
    ----------
    replicates
        Number of draws.
    seed
        Seed of the draws.
    by
        What is drawn: recordings or groups.
    """

    replicates: int = Field(1000, ge=10, le=1_000_000)
    seed: int = Field(0, ge=0, lt=1 << 63)
    by: Unit = "recording"


class Protocol(Value):
    """A study.

    Parameters
    ----------
    name
        Short name: lower-case letters, digits and hyphens.
    title
        Title of tables and pages.
    data
        Data set with its options; a value, a mapping or a name.
    settings
        Settings of the data set that are changed, such as ``stride``.
    regime
        ``nested`` or ``validation``; see the docstring of the module.
    split
        Which recordings train, calibrate and test.
    rows
        What is compared.
    training
        Epochs, checkpoint epochs, batch size, gradient clip and device of every training.
    learning_rates
        Learning rates that are tried.
    window
        Length of a training window in seconds; None for that of the data set.
    selection_seed
        Seed of the selection; fold ``j`` uses ``selection_seed + j``.
    seeds
        Seeds of the final models.
    grid
        Decoder grid that is searched; None for the published grid of the data set.
    alternatives
        Further grids, each a stage of its own.
    decoders
        Fixed decoders, each a stage of its own, by name.
    rescored
        Further tolerances in seconds, each a stage of its own, by name.
    metrics
        Scores in the tables.
    differences
        Pairs of rows whose difference is estimated, the first minus the second.
    bootstrap
        How confidence intervals of differences are drawn.
    analyses
        Further analyses: ``states`` and ``counts``.
    notes
        Free text, printed below every table.
    paper
        The tables of the paper with its figures, and what it leaves open.

    Examples
    --------
    >>> Protocol(
    ...     name="mine", data="hapt", split=Folds(folds=3, seed=0, calibration=0.2),
    ...     rows=(Row(name="BDL", objective="bdl-hard"),),
    ... ).regime.name
    'nested'
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str = ""
    data: Dataset
    settings: dict[str, Any] = Field(default_factory=dict)
    regime: RegimeField = NESTED
    split: Split
    rows: tuple[Row, ...] = Field(min_length=1)
    training: Training = Field({"checkpoint_epochs": (5, 10, 15, 20)}, validate_default=True)
    learning_rates: LearningRates = (3e-3,)
    window: PositiveFloat | None = None
    selection_seed: int = Field(0, ge=0)
    seeds: Seeds = (0, 1, 2)
    grid: Grid | None = None
    alternatives: tuple[Grid, ...] = ()
    decoders: dict[str, Decoder] = Field(default_factory=dict)
    rescored: dict[str, tuple[PositiveFloat, ...]] = Field(default_factory=dict)
    metrics: tuple[Metric, ...] = Field(("mAP", "mF1"), min_length=1, validate_default=True)
    differences: tuple[tuple[str, str], ...] = ()
    bootstrap: BootstrapSettings = BootstrapSettings()
    analyses: tuple[Literal["states", "counts"], ...] = ()
    notes: str = ""
    paper: Paper = Paper()

    @field_validator("training", mode="before")
    @classmethod
    def _as_published(cls, training: Any) -> Any:
        """Train on the CPU and without augmentation unless the protocol sets them."""
        return {**PUBLISHED, **training} if isinstance(training, dict) else training

    @model_validator(mode="after")
    def _effective(self) -> Self:
        """Refuse keys that have no effect, if they were given; a stored protocol has all keys."""
        if "budget" in self.training.given and self.training.budget is not None:
            raise ValueError(f"training.budget {NO_BUDGET}; give training.epochs")
        check_keys(self)
        if "paper" in self.given:
            check_cells(self)
        return self

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [row.name for row in self.rows]
        if len(set(names)) != len(names):
            raise ValueError(f"rows need distinct names, got {names}")
        for name in (name for pair in self.differences for name in pair):
            if name not in names:
                raise ValueError(f"a difference names the row {name!r}; rows are {names}")
        for first, second in self.differences:
            if first == second:
                raise ValueError(f"a difference of the row {first!r} with itself; name two rows")
            if self.differences.count((first, second)) > 1:
                raise ValueError(f"the difference {first!r} minus {second!r} is given twice")
        if any(row.method for row in self.rows) and all(row.lag is None for row in self.rows):
            raise ValueError("the method of a row has no effect in a study without a lag")
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds must be distinct, got {self.seeds}")
        if self.calibrates and isinstance(self.split, Folds) and not self.split.calibration:
            raise ValueError("a nested study needs split.calibration, the share for selection")
        presets = [row.name for row in self.rows if row.preset]
        if presets and not self.regime.held_out:
            raise ValueError(f"row {presets[0]!r}: a preset needs the regime nested")
        if isinstance(self.split, Holdout) and not self.regime.held_out:
            raise ValueError("a study in the validation regime needs folds")
        for key in self.settings:
            if key not in Settings.model_fields:
                known = ", ".join(Settings.model_fields)
                raise ValueError(f"settings has no key {key!r}; its keys are {known}")
        for field, key in _SET_BY_STUDY.items():
            if getattr(self.training, field) != Training.model_fields[field].default:
                raise ValueError(f"training.{field} has no effect in a study; give {key}")
        return self

    @model_validator(mode="after")
    def _distinct_stages(self) -> Self:
        """Refuse a stage that would overwrite another one."""
        taken = dict.fromkeys(RESERVED, "those of every study")
        grids = [grid.kind for grid in self.alternatives]
        named = {"alternatives": grids, "decoders": self.decoders, "rescored": self.rescored}
        for key, names in named.items():
            for name in names:
                if name in taken:
                    raise ValueError(
                        f"{key}: stages need distinct names, and {name!r} is one of {taken[name]}"
                    )
                taken[name] = key
        return self

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """Epochs that may be selected, rising."""
        chosen = tuple(sorted(set(self.training.checkpoint_epochs)))
        return chosen or self.training.length(1).kept

    @property
    def calibrates(self) -> bool:
        """Whether calibration recordings are needed: for rows that make no choices of their own."""
        return self.regime.held_out and any(row.preset is None for row in self.rows)

    def make_folds(self, groups: Mapping[str, str]) -> tuple[Fold, ...]:
        """The folds of recordings, given the group of each."""
        return make_split(self.split, groups, calibrate=self.calibrates)

    def row(self, name: str) -> Row:
        """The row of that name."""
        return next(row for row in self.rows if row.name == name)

    def rates_of(self, row: Row) -> tuple[float, ...]:
        """Learning rates that are tried for a row; one if its encoder is trained without them."""
        rates = row.learning_rates or self.learning_rates
        return rates if row.encoder.uses("learning_rate") else rates[:1]

    def seeds_of(self, row: Row) -> tuple[int, ...]:
        """Seeds with which the final models of a row are trained."""
        return row.seeds or self.seeds

    def content(self) -> dict[str, Any]:
        """Everything that can change a result, as plain data."""
        names = dict.fromkeys(("name", "title", "notes", "paper"), True)
        return self.model_dump(mode="json", exclude={**names, "rows": {"__all__": {"method"}}})

    def digest(self) -> str:
        """SHA-256 of the content."""
        return digest(self.content())


def parse_protocol(data: object, source: str) -> Protocol:
    """A protocol from plain data; errors name the key.

    Examples
    --------
    >>> parse_protocol({"name": "x", "folds": 3}, "x.yaml")
    Traceback (most recent call last):
    bdl.errors.ConfigError: x.yaml: ...
    """
    protocol: Protocol = validate(Protocol, mapping(data, source), source)
    return protocol
