"""A graph of ONNX operators, written node by node.

Objectives and encoders add their operators to a `Graph`, which `bdl.detector.onnx_export` writes to
a file. A value in the graph is identified by its name. A state is an input and, after the step, the
output of the same name with ``.next``; before the first bin a state is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bdl.errors import require

# Old enough for every runtime in use; 17 brings layer norms, 3 trees in double precision.
OPSETS = {"": 17, "ai.onnx.ml": 3}
IR_VERSION = 8
NEXT = ".next"
Shape = Sequence[int | str]


@dataclass(frozen=True)
class EncoderInputs:
    """Inputs of an encoder, as names of values in a graph."""

    values: str  # features, (batch, bins, inputs) float32
    inputs: int  # features per bin
    outputs: int  # outputs per bin
    hour: str | None  # (batch, bins) int64, as is weekday; None without a calendar
    weekday: str | None
    link: Callable[[Graph, str], str]  # adds the operators that turn logits into a density


class Graph:
    """Operators, constants, inputs and outputs of a model that is being written.

    Examples
    --------
    >>> graph = Graph()
    >>> x = graph.input("x", np.float32, ("n",))
    >>> graph.output("y", graph.add("Mul", x, graph.constant(2.0, np.float32)), np.float32, ("n",))
    >>> [node.op_type for node in graph.model({}).graph.node]
    ['Mul', 'Identity']
    """

    def __init__(self) -> None:
        require("onnx", "export")
        self._nodes: list[Any] = []
        self._constants: dict[tuple[Any, ...], Any] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._states: dict[str, tuple[type[np.generic], Shape]] = {}
        self._domains = {""}

    def constant(self, values: ArrayLike, kind: type[np.generic]) -> str:
        """Return the name of a constant; equal constants are stored once."""
        from onnx import numpy_helper

        array = np.array(values, dtype=kind, order="C")
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = numpy_helper.from_array(
                array, f"constant_{len(self._constants)}"
            )
        return str(self._constants[key].name)

    def integers(self, *values: int) -> str:
        """Return the name of a constant list of integers, such as axes or a shape."""
        return self.constant(values, np.int64)

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator and return the name of its first output; an input may be empty."""
        return self.add_several(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def add_several(
        self, operator: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add an operator and return the names of its outputs."""
        from onnx import helper

        names = [f"{operator}_{len(self._nodes)}_{i}" for i in range(outputs)]
        self._nodes.append(
            helper.make_node(operator, [*inputs], names, domain=domain, **attributes)
        )
        self._domains.add(domain)
        return names

    def cast(self, value: str, kind: type[np.generic]) -> str:
        """Convert a value to another type."""
        return self.add("Cast", value, to=_code(kind))

    def slice(self, value: str, axis: int, first: int, stop: int | None = None) -> str:
        """Cut a value along an axis; negative places count from the end."""
        end = np.iinfo(np.int64).max if stop is None else stop
        places = (self.integers(first), self.integers(end), self.integers(axis))
        return self.add("Slice", value, *places)

    def input(self, name: str, kind: type[np.generic], shape: Shape) -> str:
        """Declare an input; a size may be a name instead of a number."""
        self._inputs.append(_described(name, kind, shape))
        return name

    def output(self, name: str, value: str, kind: type[np.generic], shape: Shape) -> None:
        """Declare an output."""
        from onnx import helper

        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(_described(name, kind, shape))

    def state(self, name: str, kind: type[np.generic], shape: Shape) -> str:
        """Declare a state that is carried from one part of a recording to the next."""
        self._states[name] = (kind, shape)
        return self.input(name, kind, shape)

    def carry(self, name: str, value: str) -> None:
        """Set the value of a state after this part."""
        self.output(name + NEXT, value, *self._states[name])

    def model(self, metadata: Mapping[str, str]) -> Any:
        """Return the graph as an ``onnx.ModelProto``, checked."""
        from onnx import checker, helper

        graph = helper.make_graph(
            self._nodes, "bdl", self._inputs, self._outputs, [*self._constants.values()]
        )
        opsets = [helper.make_opsetid(name, OPSETS[name]) for name in sorted(self._domains)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="bdl"
        )
        helper.set_model_props(model, dict(metadata))
        checker.check_model(model)
        return model


Weights = Mapping[str, NDArray[Any]]


def part_of(weights: Weights, prefix: str) -> dict[str, NDArray[Any]]:
    """Return the weights whose names begin with a prefix, without it.

    Examples
    --------
    >>> part_of({"members.0.bias": np.zeros(1), "members.1.bias": np.ones(1)}, "members.1.")
    {'bias': array([1.])}
    """
    return {
        name.removeprefix(prefix): array
        for name, array in weights.items()
        if name.startswith(prefix)
    }


def _code(kind: type[np.generic]) -> int:
    from onnx import helper

    code: int = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    return code


def _described(name: str, kind: type[np.generic], shape: Shape) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, _code(kind), [*shape])
