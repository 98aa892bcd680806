"""The backward kernel of a layer norm, and a row's sum that is the same at every vector width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from bdl.encoders.fused.llvm import Code, MachineCode, cached_kernel, lanes_for

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
