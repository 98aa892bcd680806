"""The U-Net as ONNX operators; whole recordings only, so that nothing is padded."""

from __future__ import annotations

import numpy as np

from bdl.encoders.graphs.layers import EPSILON, convolution, embed, linear
from bdl.encoders.unet import UNet
from bdl.onnx_graph import EncoderInputs, Graph, Weights, part_of


def unet_logits(graph: Graph, settings: UNet, weights: Weights, inputs: EncoderInputs) -> str:
    """Logits (batch, bins, outputs)."""

    def double(name: str, x: str, kernel: int) -> str:
        part = part_of(weights, f"{name}.")
        for i in ("1", "2"):
            x = convolution(graph, part, f"conv{i}", x, padding=kernel // 2)
            x = graph.add("Relu", _batch_norm(graph, part_of(part, f"norm{i}."), x))
        return x

    x1 = double("down1", embed(graph, weights, inputs), settings.kernel)
    x2 = double("down2", _halve(graph, x1), settings.kernel)
    x3 = double("bottom", _halve(graph, x2), 1)
    x2 = double("up2", graph.add("Concat", _double(graph, x3, x2), x2, axis=2), 3)
    x1 = double("up1", graph.add("Concat", _double(graph, x2, x1), x1, axis=2), 3)
    mixed = graph.add("Relu", convolution(graph, weights, "mix", x1, padding=0))
    return linear(graph, weights, "last", mixed)


def _batch_norm(graph: Graph, weights: Weights, x: str) -> str:
    """By the statistics of training: a factor and a shift per channel."""
    factor = weights["weight"] / np.sqrt(weights["running_var"].astype(np.float64) + EPSILON)
    shift = weights["bias"] - weights["running_mean"] * factor
    scaled = graph.add("Mul", x, graph.constant(factor, np.float32))
    return graph.add("Add", scaled, graph.constant(shift, np.float32))


def _halve(graph: Graph, x: str) -> str:
    """Maximum of every two bins; an odd last one stays alone."""
    transposed = graph.add("Transpose", x, perm=[0, 2, 1])
    pooled = graph.add("MaxPool", transposed, kernel_shape=[2], strides=[2], ceil_mode=1)
    return graph.add("Transpose", pooled, perm=[0, 2, 1])


def _double(graph: Graph, x: str, skip: str) -> str:
    """Every bin twice, cut to the length of ``skip``."""
    bins = graph.slice(graph.add("Shape", skip), 0, 1, 2)
    place = graph.add(
        "Range",
        graph.constant(0, np.int64),
        graph.add("Squeeze", bins),
        graph.constant(1, np.int64),
    )
    half = graph.add("Div", place, graph.constant(2, np.int64))
    return graph.add("Gather", x, half, axis=1)
