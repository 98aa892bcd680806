"""The data of a study: its folder, and how it is read or simulated."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from bdl.config import Value
from bdl.datasets import Benchmark, Dataset, Scale
from bdl.runs.digest import digest
from bdl.runs.file_stamps import file_stamps
from bdl.study.protocol import Protocol


class DataSource(Value):
    """A data set in a folder; small enough to be sent to every worker."""

    dataset: Dataset
    path: str
    # Settings of the benchmark that differ from those of the data set.
    settings: dict[str, Any] = Field(default_factory=dict)
    # Hash of the stamps of its files, so that no process continues with data that has changed.
    stamp: str = ""

    @classmethod
    def of(cls, protocol: Protocol, path: Path, *, trust: bool = False) -> DataSource:
        """The data of a protocol in a folder; `trust` opens data that can run code (a pickle)."""
        dataset = protocol.data.trusted() if trust else protocol.data
        folder = path.resolve()
        stamp = digest(file_stamps(dataset.files(folder), folder))
        return cls(dataset=dataset, path=str(folder), settings=protocol.settings, stamp=stamp)

    def load(self) -> Benchmark:
        """Read the data set, once per process unless it changes."""
        return _load(self.model_dump_json())


@lru_cache(maxsize=2)
def _load(source: str) -> Benchmark:
    data = DataSource.model_validate_json(source)
    benchmark = data.dataset.load(data.path)
    return replace(benchmark, settings=benchmark.settings.replace(**data.settings))


def simulate_data(
    folder: Path, dataset: Dataset, scale: Scale, progress: Callable[[int, int], None]
) -> None:
    """Simulate a data set into a folder, completely or not at all, unless the folder exists."""
    if not folder.exists():
        part = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.part")
        dataset.replace(**scale.options).simulate(
            part,
            recordings=scale.recordings,
            days=scale.days,
            seed=scale.seed,
            progress=progress,
        )
        os.replace(part, folder)
    for unfinished in folder.parent.glob(f".{folder.name}.*.part"):
        shutil.rmtree(unfinished, ignore_errors=True)
