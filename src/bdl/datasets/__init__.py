"""Data sets by name: readers of published raw files, and simulators that write such files."""

from typing import Any

from bdl.datasets.benchmark import Benchmark, Scale, Settings
from bdl.datasets.dataset import Dataset, load
from bdl.registry import exports

__all__ = ["Benchmark", "Dataset", "Scale", "Settings", "load"]

_variant, _variants = exports(Dataset)


def __getattr__(name: str) -> Any:
    return _variant(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_variants()})
