"""Layers that several encoders share, as ONNX operators on values (batch, bins, channels)."""

from __future__ import annotations

import numpy as np

from bdl.onnx_graph import EncoderInputs, Graph, Weights

EPSILON = 1e-5  # of torch's norms


def embed(graph: Graph, weights: Weights, inputs: EncoderInputs) -> str:
    """Features with the embedded calendar beside them."""
    if inputs.hour is None or inputs.weekday is None:
        return inputs.values
    parts = [inputs.values]
    for name, place in (("hour", inputs.hour), ("weekday", inputs.weekday)):
        table = graph.constant(weights[f"{name}.weight"], np.float32)
        parts.append(graph.add("Gather", table, place, axis=0))
    return graph.add("Concat", *parts, axis=2)


def linear(graph: Graph, weights: Weights, name: str, x: str) -> str:
    """A linear layer."""
    product = graph.add("MatMul", x, graph.constant(weights[f"{name}.weight"].T, np.float32))
    return graph.add("Add", product, graph.constant(weights[f"{name}.bias"], np.float32))


def layer_norm(graph: Graph, weights: Weights, name: str, x: str) -> str:
    """A layer norm over channels."""
    scale, shift = (
        graph.constant(weights[f"{name}.{part}"], np.float32) for part in ("weight", "bias")
    )
    return graph.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=EPSILON)


def convolution(graph: Graph, weights: Weights, name: str, x: str, *, padding: int) -> str:
    """A convolution over bins, with zeros for ``padding`` bins at both ends."""
    kernel = graph.constant(weights[f"{name}.weight"], np.float32)
    shift = graph.constant(weights[f"{name}.bias"], np.float32)
    transposed = graph.add("Transpose", x, perm=[0, 2, 1])
    out = graph.add("Conv", transposed, kernel, shift, pads=[padding, padding])
    return graph.add("Transpose", out, perm=[0, 2, 1])
