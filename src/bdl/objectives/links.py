"""Links as ONNX operators: from logits to densities, in double precision.

Single precision would lose the small densities of a softplus, which count over a long recording.
"""

from __future__ import annotations

import numpy as np

from bdl.onnx_graph import Graph


def softplus(graph: Graph, logits: str, *, shift: float, floor: float) -> str:
    """Softplus of shifted logits, plus a floor: ``max(x, 0) + log(1 + exp(-|x|)) + floor``."""
    x = _shifted(graph, logits, shift)
    tail = graph.add("Exp", graph.add("Neg", graph.add("Abs", x)))
    log = graph.add("Log", graph.add("Add", tail, graph.constant(1.0, np.float64)))
    positive = graph.add("Max", x, graph.constant(0.0, np.float64))
    total = graph.add("Add", graph.add("Add", positive, log), graph.constant(floor, np.float64))
    return graph.cast(total, np.float32)


def sigmoid(graph: Graph, logits: str, *, shift: float = 0.0) -> str:
    """Logistic function of shifted logits."""
    return graph.cast(graph.add("Sigmoid", _shifted(graph, logits, shift)), np.float32)


def cut_at_zero(graph: Graph, logits: str, *, factor: float) -> str:
    """Logits times a factor, at least zero."""
    return graph.add("Relu", graph.add("Mul", logits, graph.constant(factor, np.float32)))


def _shifted(graph: Graph, logits: str, shift: float) -> str:
    return graph.add("Add", graph.cast(logits, np.float64), graph.constant(shift, np.float64))
