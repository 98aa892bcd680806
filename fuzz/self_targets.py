"""Readers that fail on purpose, with which the harness itself is tested."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bdl.errors import InputError
from fuzz.target import Target, WrongError


def targets() -> Iterator[Target]:
    """One target per outcome; none fails on its whole file."""
    for name, fail in FAILURES.items():
        yield Target(f"self {name}", {"a": b"whole"}, ("a",), _reader(fail))


def _reader(fail: Callable[[], object]) -> Callable[[Path], object]:
    return lambda folder: (folder / "a").read_bytes() == b"whole" or fail()


def _refuse() -> None:
    raise InputError("refused")


def _wrong() -> None:
    raise WrongError("wrong")


def _compute() -> None:
    while True:
        pass


def _take_memory() -> int:
    return len(np.ones(40_000_000))


FAILURES: dict[str, Callable[[], object]] = {
    "refused": _refuse,
    "read": lambda: None,
    "traceback": lambda: 1 / 0,
    "crash": os.abort,
    "hang": _compute,
    "memory": _take_memory,
    "wrong": _wrong,
}
