"""Steps: units of work, each a value with everything that its result depends on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from bdl.config import Value
from bdl.runs.digest import digest
from bdl.runs.run_reader import StepId


class StepOutput(NamedTuple):
    """The output of a step: its result as plain data, and its files by name."""

    result: Mapping[str, Any]
    files: Mapping[str, bytes] = {}


class Step(Value):
    """One unit of work.

    Examples
    --------
    >>> class Addition(Step):
    ...     kind = "addition"
    ...     number: int
    >>> first, second = (Addition(name=name, number=1) for name in ("a/one", "b/one"))
    >>> first.id.key == second.id.key
    True
    """

    kind: ClassVar[str]
    name: str  # path of the step below ``steps/`` in the run directory

    @cached_property
    def id(self) -> StepId:
        """Name and key; the key is the hash of the kind and of all fields except the name."""
        content = self.model_dump(mode="json", exclude={"name"})
        return StepId(name=self.name, key=digest([self.kind, content]))
