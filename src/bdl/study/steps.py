"""Steps: the pieces of work of a study, each a value with everything its result depends on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from bdl.config import Value
from bdl.datasets import Benchmark
from bdl.study.digest import digest
from bdl.study.run_reader import RunReader, StepId


class StepData(Value):
    """Recordings that a step reads, with the hash of their values."""

    ids: tuple[str, ...]
    signals: str
    labels: str | None = None  # hash of their labels; None if the step may not see them


class StepOutput(NamedTuple):
    """What a step leaves: its result as plain data, and its files by name."""

    result: Mapping[str, Any]
    files: Mapping[str, bytes] = {}


class StudyStep(Value):
    """One piece of work.

    Parameters
    ----------
    name
        Path of the step below ``steps/`` in the run directory.
    settings
        Hash of the settings of the data.

    Examples
    --------
    >>> class Addition(StudyStep):
    ...     kind = "addition"
    ...     number: int
    ...     def perform(self, run, benchmark):
    ...         return StepOutput({"sum": self.number + 1})
    >>> first, second = (Addition(name=name, settings="", number=1) for name in ("a/one", "b/one"))
    >>> first.id.key == second.id.key
    True
    """

    kind: ClassVar[str]
    name: str
    settings: str

    @cached_property
    def id(self) -> StepId:
        """Name and key; the key is the hash of the kind and of all fields except the name."""
        content = self.model_dump(mode="json", exclude={"name"})
        return StepId(name=self.name, key=digest([self.kind, content]))

    @abstractmethod
    def perform(self, run: RunReader, benchmark: Benchmark) -> StepOutput:
        """Do the work; earlier results are read from the run directory."""


class RowRun(Value):
    """A row of a study trained with one seed, in all folds."""

    row: str
    seed: int
    detections: tuple[StepId, ...]  # steps that hold them: one per fold, or one for all
    densities: tuple[StepId, ...]
