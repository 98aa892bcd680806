"""Features of bins as ONNX operators, by the arithmetic of `bdl.binning`.

Sums over the samples of a bin are running sums, in the order of `bdl.binning`, so that features are
equal to the last bit (except after a logarithm).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.features import Features
from bdl.onnx_graph import Graph
from bdl.recording import Recording


def bin_samples(graph: Graph, features: Features, channels: int, samples: str) -> str:
    """Features (batch, bins, columns) of samples (batch, bins, samples per bin, channels).

    A missing sample is NaN. If the scaling needs the whole recording, its shift and scale per
    channel are inputs.
    """
    shift, scale = _affine(graph, features, channels)
    unit = features.scaling.units(channels)
    x = _logarithms(graph, samples, unit) if unit.any() else samples
    last = graph.integers(2)
    present = graph.add("Not", graph.add("IsNaN", x))
    number = graph.cast(present, np.float32)
    place = graph.add("ArgMax", number, axis=2, keepdims=1)
    origin = graph.add("GatherElements", x, place, axis=2)  # the first sample that is present
    filled = graph.add("Where", present, x, origin)
    start = graph.cast(origin, np.float64)
    deviation = graph.add("Sub", graph.cast(filled, np.float64), start)
    count = graph.add("ReduceSum", graph.cast(present, np.float64), last, keepdims=0)

    def total(values: str) -> str:
        running = graph.add("CumSum", values, graph.constant(2, np.int64))
        return graph.add("Gather", running, graph.constant(-1, np.int64), axis=2)

    mean = graph.add("Div", total(deviation), count)
    start = graph.add("Squeeze", start, last)
    square = graph.add("Div", total(graph.add("Mul", deviation, deviation)), count)
    variance = graph.add("Sub", square, graph.add("Mul", mean, mean))
    zero = graph.constant(0.0, np.float64)
    spread = graph.add("Sqrt", graph.add("Max", variance, zero))

    def extreme(operator: str) -> str:
        return graph.cast(graph.add(operator, filled, axes=[2], keepdims=0), np.float64)

    levels = {
        "mean": lambda: graph.add("Add", start, mean),
        "max": lambda: extreme("ReduceMax"),
        "min": lambda: extreme("ReduceMin"),
    }
    columns = []
    empty = graph.add("Equal", count, zero)
    for name in features.statistics:
        value = spread if name == "std" else graph.add("Sub", levels[name](), shift)
        scaled = graph.add("Where", empty, zero, graph.add("Div", value, scale))
        columns.append(graph.add("Unsqueeze", graph.cast(scaled, np.float32), graph.integers(3)))
    joined = graph.add("Concat", *columns, axis=3)
    width = graph.integers(channels * len(features.statistics))
    shape = graph.add("Concat", graph.slice(graph.add("Shape", joined), 0, 0, 2), width, axis=0)
    out = graph.add("Reshape", joined, shape, allowzero=1)
    if not features.missing:
        return out
    return graph.add("Concat", out, _absent(graph, x, count, channels), axis=2)


def _affine(graph: Graph, features: Features, channels: int) -> tuple[str, str]:
    if features.scaling.needs_whole:
        return (
            graph.input("shift", np.float64, (channels,)),
            graph.input("scale", np.float64, (channels,)),
        )
    # Such a scaling is the same for every recording.
    empty = Recording.of(np.zeros((1, channels), np.float32), id="none", period=1.0)
    shift, scale = features.scaling.affine(empty)
    return graph.constant(shift, np.float64), graph.constant(scale, np.float64)


def _logarithms(graph: Graph, samples: str, unit: NDArray[np.float64]) -> str:
    """``log(1 + x / unit)`` of the channels that have a unit; NaN stays."""
    x = graph.cast(samples, np.float64)
    one, zero = graph.constant(1.0, np.float64), graph.constant(0.0, np.float64)
    size = graph.constant(np.where(unit > 0, unit, 1.0), np.float64)
    ratio = graph.add("Div", graph.add("Max", x, zero), size)
    log = graph.cast(graph.add("Log", graph.add("Add", ratio, one)), np.float32)
    present = graph.add("Not", graph.add("IsNaN", samples))
    replaced = graph.add("And", graph.constant(unit > 0, np.bool_), present)
    return graph.add("Where", replaced, log, samples)


def _absent(graph: Graph, samples: str, count: str, channels: int) -> str:
    """Share of the samples of a bin that are missing, (batch, bins, 1)."""
    size = graph.cast(graph.slice(graph.add("Shape", samples), 0, 2, 3), np.float64)
    total = graph.add("Mul", size, graph.constant(float(channels), np.float64))
    present = graph.add("ReduceSum", count, graph.integers(2), keepdims=1)
    share = graph.add("Sub", graph.constant(1.0, np.float64), graph.add("Div", present, total))
    return graph.cast(share, np.float32)
