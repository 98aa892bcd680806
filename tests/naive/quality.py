"""Stretches of bad data by their definitions, sample by sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float32]
Marks = NDArray[np.bool_]


def equal_runs(column: Column) -> list[tuple[int, int]]:
    runs, start = [], 0
    for i in range(1, len(column) + 1):
        if i == len(column) or column[i] != column[start]:
            runs.append((start, i))
            start = i
    return runs


def flat(column: Column, least: int) -> Marks:
    marks = np.zeros(len(column), bool)
    for start, stop in equal_runs(column):
        if stop - start >= least:
            marks[start:stop] = True
    return marks


def clipped(column: Column, least: int) -> Marks:
    marks = np.zeros(len(column), bool)
    present = column[~np.isnan(column)]
    if len(np.unique(present)) < 2:
        return marks
    for start, stop in equal_runs(column):
        if stop - start >= least and column[start] in (present.min(), present.max()):
            marks[start:stop] = True
    return marks


def repeated(column: Column, length: int, back: int) -> Marks:
    marks = np.zeros(len(column), bool)
    for start in range(len(column) - length + 1):
        window = column[start : start + length]
        if np.isnan(window).any() or 2 * (window[1:] != window[:-1]).sum() < length:
            continue
        for other in range(max(0, start - back), start):
            if (column[other : other + length] == window).all():
                marks[start : start + length] = True
    return marks


def non_wear(values: NDArray[np.float32], quarter: int, deviation: float, extent: float) -> Marks:
    marks = np.zeros(len(values), bool)
    blocks = -(-len(values) // quarter)
    for first in range(blocks - 3):
        rows = slice(first * quarter, (first + 4) * quarter)
        axes = [column[~np.isnan(column)].astype(float) for column in values[rows].T]
        if all(
            2 * len(axis) >= 4 * quarter
            and axis.std() < deviation
            and axis.max() - axis.min() < extent
            for axis in axes
        ):
            marks[rows] = True
    return marks
