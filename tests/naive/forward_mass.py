"""The forward-mass decoder as its text says, in exact fractions of samples."""

from __future__ import annotations

import math

import numpy as np

UNIT = 1 << 40


def forward_mass(
    values: np.ndarray,
    *,
    period: float,
    stride: int,
    samples: int,
    tolerances: tuple[float, ...],
    look_ahead: float,
    threshold: float,
    separation: float = 0.0,
    unit: float = 1.0,
) -> list[tuple[int, float, int]]:
    """Bin, score and the bin that made it final, in the order in which bins are taken."""
    bins = len(values)
    begin = [b * stride for b in range(bins)]
    end = [min((b + 1) * stride, samples) for b in range(bins)]
    mass = values / unit
    start = [int(float(mass[b]) * UNIT / (end[b] - begin[b])) for b in range(bins)]
    residual = [start.copy() for _ in tolerances]
    windows = [math.ceil(2 * t / period - 1e-9) for t in tolerances]
    widths = [(w // 2 + stride) // stride + 1 for w in windows]
    ahead = math.ceil(look_ahead / (period * stride) - 1e-9)
    distance = math.ceil(separation / period - 1e-9)
    reach = max(2 * (max(widths) + 1), distance // stride + 1)
    least = max(1, math.ceil(threshold / unit * UNIT * len(tolerances)))
    blocked = [False] * bins

    def inside(k: int, b: int) -> list[tuple[int, int]]:
        """(bin, samples inside) of the window around a bin's centre."""
        doubled = begin[b] + end[b] - 1
        counts = []
        for i in range(bins):
            count = sum(abs(2 * s - doubled) < windows[k] for s in range(begin[i], end[i]))
            if count:
                counts.append((i, count))
        return counts

    cover = [[inside(k, b) for b in range(bins)] for k in range(len(tolerances))]

    def score(b: int) -> int:
        return sum(
            min(UNIT, sum(residual[k][i] * n for i, n in cover[k][b]))
            for k in range(len(tolerances))
        )

    taken = []
    for visit in range(bins):
        low, high = max(visit - ahead, 0), min(visit + ahead, bins - 1)
        while True:
            scores = {b: score(b) for b in range(low, high + 1) if not blocked[b]}
            best = None
            for c in range(low, visit + 1):
                if c not in scores or scores[c] < least:
                    continue
                rivals = [b for b in scores if b != c and abs(b - c) <= reach]
                if all((scores[c], start[c], -c) > (scores[b], start[b], -b) for b in rivals):
                    best = c
                    break
            if best is None:
                break
            known = min(visit + ahead + max(widths), bins - 1)
            taken.append((best, scores[best] / (UNIT * len(tolerances)) * unit, known))
            for k in range(len(tolerances)):
                total = sum(residual[k][i] * n for i, n in cover[k][best])
                share = UNIT / total if total > UNIT else 1.0
                for i, n in cover[k][best]:
                    removed = residual[k][i] * n
                    if total > UNIT:
                        removed = int(removed * share)
                    size = end[i] - begin[i]
                    residual[k][i] = (residual[k][i] * size - removed) // size
            centre = begin[best] + end[best]
            for b in range(bins):
                if distance and abs(begin[b] + end[b] - centre) < 2 * distance:
                    blocked[b] = True
    return taken
