"""Recurrent encoders as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl.arrays import Singles
from bdl.encoders.graphs.layers import convolution, embed, layer_norm, linear
from bdl.encoders.recurrent import Recurrent
from bdl.onnx_graph import EncoderInputs, Graph, Weights, part_of

# Torch's gates in the order of ONNX: update, reset, new; input, output, forget, cell.
GATES = {"gru": (1, 0, 2), "lstm": (0, 3, 1, 2)}


def recurrent_logits(
    graph: Graph, settings: Recurrent, weights: Weights, inputs: EncoderInputs, prefix: str
) -> str:
    """Logits (batch, bins, outputs); states are (batch, width), named after ``prefix``."""
    x = linear(graph, weights, "first.0", embed(graph, weights, inputs))
    x = graph.add("Relu", layer_norm(graph, weights, "first.1", x))
    if settings.front:
        x = _front(graph, settings, part_of(weights, "front."), x, f"{prefix}front")
    for block in range(settings.blocks):
        part = part_of(weights, f"blocks.{block}.")
        y = _recurrence(graph, settings, part_of(part, "recurrence."), x, f"{prefix}block{block}")
        for place in (0, 3):
            y = linear(graph, part, f"mix.{place}", y)
            y = graph.add("Relu", layer_norm(graph, part, f"mix.{place + 1}", y))
        x = graph.add("Add", x, y)
    return linear(graph, weights, "last", x)


def _front(graph: Graph, settings: Recurrent, weights: Weights, x: str, name: str) -> str:
    before = settings.front - 1
    if settings.causal:
        past = graph.state(name, np.float32, ("batch", before, settings.width))
        joined = graph.add("Concat", past, x, axis=1)
        graph.carry(name, graph.slice(joined, 1, -before))
        y = convolution(graph, weights, "convolution", joined, padding=0)
    else:
        y = convolution(graph, weights, "convolution", x, padding=before // 2)
    return graph.add("Add", x, graph.add("Relu", layer_norm(graph, weights, "mix.0", y)))


def _recurrence(graph: Graph, settings: Recurrent, weights: Weights, x: str, name: str) -> str:
    ends = ("", "_reverse") if settings.bidirectional else ("",)

    def gates(parameter: str) -> Singles:
        """(directions, gates · width, ...), as ONNX has them."""
        order = [*GATES[settings.cell]]
        stacked = []
        for end in ends:
            array = weights[f"{parameter}_l0{end}"]
            by_gate = array.reshape(len(order), settings.width, *array.shape[1:])
            stacked.append(by_gate[order].reshape(array.shape))
        return np.stack(stacked)

    biases = np.concatenate([gates("bias_ih"), gates("bias_hh")], axis=1)
    parameters = [
        graph.constant(array, np.float32)
        for array in (gates("weight_ih"), gates("weight_hh"), biases)
    ]
    kinds = ("hidden",) if settings.cell == "gru" else ("hidden", "cell")
    states: list[str] = []
    if settings.causal:
        for kind in kinds:
            state = graph.state(f"{name}.{kind}", np.float32, ("batch", settings.width))
            states.append(graph.add("Unsqueeze", state, graph.integers(0)))
    options: dict[str, Any] = {"linear_before_reset": 1} if settings.cell == "gru" else {}
    y, *after = graph.add_several(
        settings.cell.upper(),
        graph.add("Transpose", x, perm=[1, 0, 2]),
        *parameters,
        "",
        *states,
        outputs=1 + len(kinds),
        hidden_size=settings.width,
        direction="bidirectional" if settings.bidirectional else "forward",
        **options,
    )
    if settings.causal:
        for kind, last in zip(kinds, after, strict=True):
            graph.carry(f"{name}.{kind}", graph.add("Squeeze", last, graph.integers(0)))
    # (bins, directions, batch, width) → (batch, bins, directions · width)
    transposed = graph.add("Transpose", y, perm=[2, 0, 1, 3])
    return graph.add("Reshape", transposed, graph.integers(0, 0, len(ends) * settings.width))
