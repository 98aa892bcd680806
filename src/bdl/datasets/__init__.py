"""Benchmarks by name: adapters to published raw files, and simulators that write such files."""

from bdl.datasets.dataset import NAMES, Dataset, Settings, load

__all__ = ["NAMES", "Dataset", "Settings", "load"]
