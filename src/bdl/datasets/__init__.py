"""Data sets by name: readers of published raw files, and simulators that write such files."""

from bdl.datasets.benchmark import Benchmark, Scale, Settings
from bdl.datasets.dataset import Dataset, load
from bdl.registry import exports

__all__ = ["Benchmark", "Dataset", "Scale", "Settings", "load"]

__getattr__, _variants = exports(Dataset)


def __dir__() -> list[str]:
    return sorted({*__all__, *_variants()})
