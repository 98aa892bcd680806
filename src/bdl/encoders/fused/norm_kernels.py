"""Kernels of layer and batch norms, and a row's sum that is the same at every vector width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from bdl.encoders.fused.functions import at_least
from bdl.encoders.fused.llvm import Code, MachineCode, accumulators, cached_kernel, lanes_for

GROUP = 16  # columns that are added up side by side; all vectors divide it


@cached_kernel
def norm_backward(real: str) -> MachineCode:
    """Gradient of a layer norm's input, and sums over rows for its weight and bias.

    With the normalised row n = (x - mean) · scale and p = grad · weight, writes
    dx = scale · (p - mean of p - n · mean of p n), and adds grad · n to ``dweight`` and grad to
    ``dbias``. Rows are contiguous and have ``groups`` · `GROUP` numbers, of which the first
    ``columns`` are in use and the others have zero weight and gradient; ``mean`` and ``scale`` have
    one number per row.
    """
    arguments = ("rows", "columns", "groups", "grad*", "x*", "mean*", "scale*", "weight*", "dx*")
    code = Code("norm_backward", (*arguments, "dweight*", "dbias*"), real, lanes_for(GROUP, real))
    parts = range(0, GROUP, code.lanes)
    count = code.builder.sitofp(code["columns"], code.real)
    share = code.fill(code.builder.fdiv(ir.Constant(code.real, 1.0), count))

    def row(r: Any) -> None:
        begin = code.times(code.times(r, code["groups"]), GROUP)
        mean, scale = code.splat(code["mean"], r), code.splat(code["scale"], r)

        def read(column: Any) -> tuple[Any, Any, Any]:
            grad = code.load(code["grad"], begin, column)
            x = code.load(code["x"], begin, column)
            scaled = code.mul(grad, code.load(code["weight"], column))
            return grad, code.mul(code.sub(x, mean), scale), scaled

        def add_up(group: Any, sums: list[Any]) -> list[Any]:
            for i, part in enumerate(parts):
                column = code.plus(code.times(group, GROUP), part)
                grad, normal, scaled = read(column)
                total = code.fma(grad, normal, code.load(code["dweight"], column))
                code.store(total, code["dweight"], column)
                code.store(code.add(code.load(code["dbias"], column), grad), code["dbias"], column)
                sums[2 * i] = code.add(sums[2 * i], scaled)
                sums[2 * i + 1] = code.fma(scaled, normal, sums[2 * i + 1])
            return sums

        sums = code.loop(code["groups"], [code.constant(0.0)] * (2 * len(parts)), add_up)
        plain = code.mul(row_sum(code, sums[0::2]), share)
        product = code.mul(row_sum(code, sums[1::2]), share)

        def write(group: Any) -> None:
            for part in parts:
                column = code.plus(code.times(group, GROUP), part)
                _, normal, scaled = read(column)
                inner = code.sub(code.sub(scaled, plain), code.mul(normal, product))
                code.store(code.mul(scale, inner), code["dx"], begin, column)

        code.each(code["groups"], write)

    code.each(code["rows"], row)
    return code.compile()


def row_sum(code: Code, vectors: Sequence[Any]) -> Any:
    """The sum of `GROUP` numbers in every lane: halves are added until one number is left."""
    while len(vectors) > 1:
        half = len(vectors) // 2
        vectors = [code.add(vectors[i], vectors[i + half]) for i in range(half)]
    total, half = vectors[0], code.lanes // 2
    while half:
        total = code.add(total, code.lanes_of(total, range(half, half + code.lanes)))
        half //= 2
    return code.lanes_of(total, [0] * code.lanes)


@cached_kernel
def batch_norm_squares(real: str, lanes: int) -> MachineCode:
    """Adds to ``squares`` the sum over rows of keep · (x - mean)².

    In this and the next three, rows are contiguous and have ``vectors`` vectors; ``keep`` has 0 or
    1 per row, statistics have a number per column; y = keep · max(0, (x - mean) · scale + bias).
    """
    arguments = ("rows", "vectors", "x*", "keep*", "mean*", "squares*")
    code = Code("batch_norm_squares", arguments, real, lanes)

    def term(row: Any, column: Any) -> tuple[Any, ...]:
        centred = _centred(code, row, column)
        return (code.mul(code.mul(centred, centred), code.splat(code["keep"], row)),)

    _sum_rows(code, ("squares",), term)
    return code.compile()


@cached_kernel
def batch_norm_forward(real: str, lanes: int) -> MachineCode:
    """Writes y."""
    arguments = ("rows", "vectors", "x*", "keep*", "y*", "mean*", "scale*", "bias*")
    code = Code("batch_norm_forward", arguments, real, lanes)

    def write(row: Any, column: Any) -> None:
        y = at_least(code, _scaled(code, _centred(code, row, column), column), 0.0)
        code.store(code.mul(y, code.splat(code["keep"], row)), code["y"], _row(code, row), column)

    _each_vector(code, write)
    return code.compile()


@cached_kernel
def batch_norm_sums(real: str, lanes: int) -> MachineCode:
    """Adds to ``plain`` and ``product`` the sums over rows of p and p · (x - mean).

    p is ``grad`` where y is above 0, and 0 elsewhere.
    """
    arguments = ("rows", "vectors", "x*", "keep*", "grad*", "mean*", "scale*", "bias*")
    code = Code("batch_norm_sums", (*arguments, "plain*", "product*"), real, lanes)

    def term(row: Any, column: Any) -> tuple[Any, ...]:
        centred = _centred(code, row, column)
        passed = _passed(code, centred, row, column)
        return passed, code.mul(passed, centred)

    _sum_rows(code, ("plain", "product"), term)
    return code.compile()


@cached_kernel
def batch_norm_backward(real: str, lanes: int) -> MachineCode:
    """Writes dx = keep · scale · (p - plain - (x - mean) · product), p as in `batch_norm_sums`."""
    arguments = ("rows", "vectors", "x*", "keep*", "grad*", "dx*", "mean*", "scale*", "bias*")
    code = Code("batch_norm_backward", (*arguments, "plain*", "product*"), real, lanes)

    def write(row: Any, column: Any) -> None:
        centred = _centred(code, row, column)
        inner = code.sub(_passed(code, centred, row, column), code.load(code["plain"], column))
        inner = code.sub(inner, code.mul(centred, code.load(code["product"], column)))
        inner = code.mul(inner, code.load(code["scale"], column))
        dx = code.mul(inner, code.splat(code["keep"], row))
        code.store(dx, code["dx"], _row(code, row), column)

    _each_vector(code, write)
    return code.compile()


def _row(code: Code, row: Any) -> Any:
    return code.times(code.times(row, code["vectors"]), code.lanes)


def _centred(code: Code, row: Any, column: Any) -> Any:
    return code.sub(code.load(code["x"], _row(code, row), column), code.load(code["mean"], column))


def _scaled(code: Code, centred: Any, column: Any) -> Any:
    return code.fma(centred, code.load(code["scale"], column), code.load(code["bias"], column))


def _passed(code: Code, centred: Any, row: Any, column: Any) -> Any:
    """The gradient that passes the ReLU."""
    zero, grad = code.constant(0.0), code.load(code["grad"], _row(code, row), column)
    above = code.builder.fcmp_ordered(">", _scaled(code, centred, column), zero)
    return code.mul(code.builder.select(above, grad, zero), code.splat(code["keep"], row))


def _each_vector(code: Code, write: Callable[[Any, Any], None]) -> None:
    def one_row(row: Any) -> None:
        code.each(code["vectors"], lambda vector: write(row, code.times(vector, code.lanes)))

    code.each(code["rows"], one_row)


def _sum_rows(
    code: Code, outputs: Sequence[str], term: Callable[[Any, Any], Sequence[Any]]
) -> None:
    """Add ``term(row, column)`` of all rows to the outputs, as many columns at once as fit."""

    def tile(first: Any, size: int) -> None:
        columns = [code.times(code.plus(first, i), code.lanes) for i in range(size)]
        places = [(code[name], column) for column in columns for name in outputs]

        def add_up(row: Any, sums: list[Any]) -> list[Any]:
            terms = [number for column in columns for number in term(row, column)]
            return [code.add(total, number) for total, number in zip(sums, terms, strict=True)]

        sums = code.loop(code["rows"], [code.load(*place) for place in places], add_up)
        for total, place in zip(sums, places, strict=True):
            code.store(total, *place)

    code.tiles(code["vectors"], (accumulators() // 3, 2, 1), tile)
