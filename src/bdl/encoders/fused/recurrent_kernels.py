"""Kernels of one recurrent layer over time: GRU and LSTM, forward and backward.

A kernel computes ``steps`` time steps of ``items`` sequences side by side (their dependency chains
hide each other's latency). Buffers are rows of numbers, one row per bin; item m starts at row
``row0 + m * apart`` and moves by ``move`` rows per step (+1, or -1 for the reverse direction). The
carried state of an item is in consecutive rows of small work buffers and is updated in place, so
that a sequence can continue in a later call. Results do not depend on the number of items.

The projection of the inputs is computed before (one large product), the gradients of the weights
after (again large products), from what is written here. Gate order is torch's; ``bias`` has one
number per gate and unit, and for a GRU also the input bias of n, last.

======== =================================== ====================================
buffer    GRU                                 LSTM
======== =================================== ====================================
gates     in: input part of r, z, n           in: input part of i, f, g, o
          out, if kept: r, z, n               out, if kept: i, f, g, o
extra     hidden part of n (if kept)          cell state (if kept)
out       h                                   h
======== =================================== ====================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import Any

from bdl.encoders.fused.functions import sigmoids, tanh
from bdl.encoders.fused.llvm import Code, MachineCode, accumulators, cached_kernel, lanes_for

GATES = {"gru": 3, "lstm": 4}
FORWARD = (
    *("blocks", "steps", "row0", "apart", "move", "gates*", "gates_row", "extra*", "out*"),
    *("out_row", "weights*", "bias*", "h*", "c*", "scratch*"),
)
BACKWARD = (
    *("steps", "row0", "apart", "move", "first", "gates*", "gates_row", "extra*", "out*"),
    *("out_row", "grad*", "dgates*", "dextra*", "weights*", "dh*", "dc*", "h0*", "c0*", "scratch*"),
)


class _Rows:
    """The rows of a kernel's items at one step."""

    def __init__(self, code: Code, items: int, step: Any, width: int) -> None:
        b = code.builder
        self.code, self.items, self.width = code, items, width
        moved = b.mul(step, code["move"])
        self.row = [
            b.add(b.add(code["row0"], moved), b.mul(code.integer(m), code["apart"]))
            for m in range(items)
        ]

    def of(self, name: str, stride: str, offset: int = 0) -> list[Any]:
        """Each item's row in a buffer, ``offset`` steps away."""
        b, code = self.code.builder, self.code
        shift = b.mul(code.integer(offset), code["move"])
        return [
            code.at(code[name], b.mul(b.add(row, shift) if offset else row, code[stride]))
            for row in self.row
        ]

    def work(self, name: str, columns: int) -> list[Any]:
        """Each item's row in a work buffer."""
        return [self.code.at(self.code[name], m * columns) for m in range(self.items)]


def _each(code: Code, items: int, width: int, body: Callable[[int, Any], None]) -> None:
    """body(m, offset) for every item and every vector of the width."""

    def vector(i: Any) -> None:
        offset = code.times(i, code.lanes)
        for m in range(items):
            body(m, offset)

    code.each(width // code.lanes, vector)


def _product(
    code: Code,
    x: Sequence[Any],
    matrix: Any,
    inner: int,
    columns: int,
    start: Sequence[Any],
    out: Sequence[Any],
) -> None:
    """out[m] = start[m] + x[m] @ matrix for items m; the matrix is (inner, columns) by rows.

    Each number is one sum in the order of its terms. Tiles of columns are as wide as the registers
    allow, and of about the same width: a narrow one would wait for its own additions.
    """
    items, vectors = len(x), columns // code.lanes
    widest = max(1, min(vectors, accumulators() // items))
    tiles = -(-vectors // widest)
    unroll = gcd(inner, 4)
    for t in range(tiles):
        tile = range(t * vectors // tiles, (t + 1) * vectors // tiles)

        def terms(i: Any, sums: list[Any], tile: range = tile) -> list[Any]:
            for step in range(unroll):
                k = code.plus(code.times(i, unroll), step)
                row = code.times(k, columns)
                weights = [code.load(matrix, row, v * code.lanes) for v in tile]
                place = 0
                for m in range(items):
                    number = code.splat(x[m], k)
                    for weight in weights:
                        sums[place] = code.fma(number, weight, sums[place])
                        place += 1
            return sums

        sums = [code.load(start[m], v * code.lanes) for m in range(items) for v in tile]
        sums = code.loop(inner // unroll, sums, terms)
        for place, total in enumerate(sums):
            m, v = divmod(place, len(tile))
            code.store(total, out[m], tile[v] * code.lanes)


@cached_kernel
def forward(cell: str, width: int, real: str, items: int, keep: bool) -> MachineCode:
    """Compiled forward kernel; ``keep`` writes what the backward one needs.

    Arguments are those of ``FORWARD``: counts in rows and numbers, buffers as addresses. ``blocks``
    groups of ``items`` sequences follow one another. ``extra`` has the rows of ``out``; ``weights``
    is (width, gates · width), the transpose of torch's.
    """
    gates = GATES[cell]
    name = f"{cell}_forward_{width}_{items}_{int(keep)}"
    code = Code(name, FORWARD, real, lanes_for(width, real))
    body = _gru_step if cell == "gru" else _lstm_step

    def step(s: Any, _: list[Any]) -> list[Any]:
        rows = _Rows(code, items, s, width)
        h, scratch = rows.work("h", width), rows.work("scratch", gates * width)
        start = [code["bias"]] * items
        _product(code, h, code["weights"], width, gates * width, start, scratch)
        body(code, rows, h, scratch, keep)
        return []

    starts = {name: code[name] for name in ("row0", "h", "c")}

    def block(i: Any) -> None:
        before = code.times(i, items)
        code.arguments["row0"] = code.plus(starts["row0"], code.times(before, code["apart"]))
        for state in ("h", "c"):
            code.arguments[state] = code.at(starts[state], code.times(before, width))
        code.loop(code["steps"], [], step)

    code.each(code["blocks"], block)
    return code.compile()


def _gru_step(code: Code, rows: _Rows, h: list[Any], scratch: list[Any], keep: bool) -> None:
    width = rows.width
    gates, out = rows.of("gates", "gates_row"), rows.of("out", "out_row")
    extra = rows.of("extra", "out_row")

    def gate(m: int, j: Any) -> None:
        r = code.add(code.load(gates[m], j), code.load(scratch[m], j))
        z = code.add(code.load(gates[m], width, j), code.load(scratch[m], width, j))
        r, z = sigmoids(code, r, z)
        hidden = code.load(scratch[m], 2 * width, j)
        read = code.add(code.load(gates[m], 2 * width, j), code.load(code["bias"], 3 * width, j))
        n = tanh(code, code.fma(r, hidden, read))
        new = code.fma(z, code.sub(code.load(h[m], j), n), n)
        code.store(new, h[m], j)
        code.store(new, out[m], j)
        if keep:
            code.store(r, gates[m], j)
            code.store(z, gates[m], width, j)
            code.store(n, gates[m], 2 * width, j)
            code.store(hidden, extra[m], j)

    _each(code, rows.items, width, gate)


def _lstm_step(code: Code, rows: _Rows, h: list[Any], scratch: list[Any], keep: bool) -> None:
    width = rows.width
    gates, out = rows.of("gates", "gates_row"), rows.of("out", "out_row")
    extra, c = rows.of("extra", "out_row"), rows.work("c", width)

    def gate(m: int, j: Any) -> None:
        pre = [
            code.add(code.load(gates[m], k * width, j), code.load(scratch[m], k * width, j))
            for k in range(4)
        ]
        i, f = sigmoids(code, pre[0], pre[1])
        g, o = tanh(code, pre[2]), sigmoids(code, pre[3], pre[3])[0]
        cell = code.fma(f, code.load(c[m], j), code.mul(i, g))
        new = code.mul(o, tanh(code, cell))
        code.store(cell, c[m], j)
        code.store(new, h[m], j)
        code.store(new, out[m], j)
        if keep:
            for k, value in enumerate((i, f, g, o)):
                code.store(value, gates[m], k * width, j)
            code.store(cell, extra[m], j)

    _each(code, rows.items, width, gate)


@cached_kernel
def backward(cell: str, width: int, real: str, items: int) -> MachineCode:
    """Compiled backward kernel, from the last step to the first.

    Arguments are those of ``BACKWARD``: ``row0`` is the row of the last step, ``move`` its way back
    in time, ``first`` the number of the step whose predecessor is the initial state (``h0``,
    ``c0``) rather than a row. ``grad`` has the rows of ``out``; ``dgates`` (with the rows of
    ``gates``) receives the gradient of the input part, ``dextra`` (GRU) that of the hidden part of
    n; ``dh`` and ``dc`` carry the gradient of the state; ``weights`` is torch's.
    """
    gates = GATES[cell]
    code = Code(f"{cell}_backward_{width}_{items}", BACKWARD, real, lanes_for(width, real))
    body = _gru_back if cell == "gru" else _lstm_back

    def step(s: Any, _: list[Any]) -> list[Any]:
        rows = _Rows(code, items, s, width)
        dh, scratch = rows.work("dh", width), rows.work("scratch", gates * width)
        begins = code.builder.icmp_signed("==", s, code["first"])
        body(code, rows, dh, scratch, begins)
        _product(code, scratch, code["weights"], gates * width, width, dh, dh)
        return []

    code.loop(code["steps"], [], step)
    return code.compile()


def _before(code: Code, rows: _Rows, buffer: str, initial: str, begins: Any) -> list[Any]:
    """Each item's row one step earlier in time, or its initial state at the first step."""
    earlier, zero = rows.of(buffer, "out_row", 1), rows.work(initial, rows.width)
    return [code.builder.select(begins, z, e) for z, e in zip(zero, earlier, strict=True)]


def _gru_back(code: Code, rows: _Rows, dh: list[Any], scratch: list[Any], begins: Any) -> None:
    width = rows.width
    gates, dgates = rows.of("gates", "gates_row"), rows.of("dgates", "gates_row")
    extra, dextra = rows.of("extra", "out_row"), rows.of("dextra", "out_row")
    grad, before = rows.of("grad", "out_row"), _before(code, rows, "out", "h0", begins)
    one = code.constant(1.0)

    def gate(m: int, j: Any) -> None:
        r, z, n = (code.load(gates[m], k * width, j) for k in range(3))
        d = code.add(code.load(dh[m], j), code.load(grad[m], j))
        dz = code.mul(d, code.sub(code.load(before[m], j), n))
        dz = code.mul(dz, code.mul(z, code.sub(one, z)))
        dn = code.mul(code.mul(d, code.sub(one, z)), code.sub(one, code.mul(n, n)))
        dr = code.mul(code.mul(dn, code.load(extra[m], j)), code.mul(r, code.sub(one, r)))
        hidden = code.mul(dn, r)
        for k, (gradient, through) in enumerate(((dr, dr), (dz, dz), (dn, hidden))):
            code.store(gradient, dgates[m], k * width, j)
            code.store(through, scratch[m], k * width, j)
        code.store(hidden, dextra[m], j)
        code.store(code.mul(d, z), dh[m], j)

    _each(code, rows.items, width, gate)


def _lstm_back(code: Code, rows: _Rows, dh: list[Any], scratch: list[Any], begins: Any) -> None:
    width = rows.width
    gates, dgates = rows.of("gates", "gates_row"), rows.of("dgates", "gates_row")
    extra, dc = rows.of("extra", "out_row"), rows.work("dc", width)
    grad, before = rows.of("grad", "out_row"), _before(code, rows, "extra", "c0", begins)
    one, zero = code.constant(1.0), code.constant(0.0)

    def gate(m: int, j: Any) -> None:
        i, f, g, o = (code.load(gates[m], k * width, j) for k in range(4))
        d = code.add(code.load(dh[m], j), code.load(grad[m], j))
        t = tanh(code, code.load(extra[m], j))
        through = code.mul(code.mul(d, o), code.sub(one, code.mul(t, t)))
        d_cell = code.add(code.load(dc[m], j), through)
        of_i = code.mul(code.mul(d_cell, g), code.mul(i, code.sub(one, i)))
        of_f = code.mul(code.mul(d_cell, code.load(before[m], j)), code.mul(f, code.sub(one, f)))
        of_g = code.mul(code.mul(d_cell, i), code.sub(one, code.mul(g, g)))
        of_o = code.mul(code.mul(d, t), code.mul(o, code.sub(one, o)))
        for k, value in enumerate((of_i, of_f, of_g, of_o)):
            code.store(value, dgates[m], k * width, j)
            code.store(value, scratch[m], k * width, j)
        code.store(code.mul(d_cell, f), dc[m], j)
        code.store(zero, dh[m], j)

    _each(code, rows.items, width, gate)
