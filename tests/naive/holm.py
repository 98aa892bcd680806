"""Holm's method by its steps: judge the smallest p-value, then the next, until one fails."""

from __future__ import annotations


def claims(p: list[float], alpha: float) -> tuple[list[bool], list[float]]:
    """Which hypotheses are rejected, and the error rate at which each is judged."""
    claimed, levels = [False] * len(p), [0.0] * len(p)
    left = sorted(range(len(p)), key=lambda i: p[i])
    while left:
        rate = alpha / len(left)
        if p[left[0]] > rate:
            for i in left:
                levels[i] = rate
            break
        first = left.pop(0)
        claimed[first], levels[first] = True, rate
    return claimed, levels
