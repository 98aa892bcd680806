"""Kernels of large products and sums: rows times a matrix, sums of outer products, column sums.

Every number of a result is one sum that is added up in the order of its terms, for any tiles,
threads and width of the vectors: no bit depends on them.

A panel is a group of ``PANEL`` vectors of neighbouring columns. Strides and counts are in numbers.
"""

from __future__ import annotations

from typing import Any

from bdl.encoders.fused.llvm import WORD, Code, MachineCode, accumulators, cached_kernel
from bdl.encoders.vectors import vector_bits

PANEL = 2
ROW_TILES = 8  # tiles of rows that share a panel of the matrix while it is in the cache
CHUNK = 128  # rows that stay in the cache while all their outer products are added up


def panel_columns(real: str) -> int:
    """Columns of a panel."""
    return PANEL * vector_bits() // WORD[real]


def _tile_sizes() -> tuple[int, ...]:
    largest = accumulators() // PANEL
    return largest, largest // 3, 1


@cached_kernel
def row_product(real: str) -> MachineCode:
    """out[r] = start[r] + a[r] @ b, for ``rows`` rows and ``panels`` panels of columns.

    A panel of ``b`` is contiguous (inner, panel columns); panels are ``b_panel`` numbers apart.
    """
    arguments = ("rows", "inner", "panels", "a*", "a_row", "b*", "b_panel", "start*", "start_row")
    code = Code("row_product", (*arguments, "out*", "out_row"), real, vector_bits() // WORD[real])
    columns, sizes = PANEL * code.lanes, _tile_sizes()
    block = ROW_TILES * sizes[0]

    def rows(begin: Any, count: Any) -> None:
        code.each(code["panels"], lambda panel: panel_of(panel, begin, count))

    def panel_of(panel: Any, begin: Any, count: Any) -> None:
        matrix = code.at(code["b"], code.times(panel, code["b_panel"]))
        column = code.times(panel, columns)

        def tile(first: Any, size: int) -> None:
            row = code.plus(begin, first)
            a = [
                code.at(code["a"], code.times(code.plus(row, i), code["a_row"]))
                for i in range(size)
            ]

            def term(k: Any, sums: list[Any]) -> list[Any]:
                at = code.times(k, columns)
                vectors = [code.load(matrix, at, v * code.lanes) for v in range(PANEL)]
                for i in range(size):
                    number = code.splat(a[i], k)
                    for v in range(PANEL):
                        sums[PANEL * i + v] = code.fma(number, vectors[v], sums[PANEL * i + v])
                return sums

            outs = [code.times(code.plus(row, i), code["out_row"]) for i in range(size)]
            places = [(out, v * code.lanes) for out in outs for v in range(PANEL)]
            for out, v in places:
                code.prefetch(code["out"], out, column, v)  # it arrives while the terms are added
            starts = [code.times(code.plus(row, i), code["start_row"]) for i in range(size)]
            sums = [
                code.load(code["start"], start, column, v * code.lanes)
                for start in starts
                for v in range(PANEL)
            ]
            sums = code.loop(code["inner"], sums, term)
            for (out, v), total in zip(places, sums, strict=True):
                code.store(total, code["out"], out, column, v)

        code.tiles(count, sizes, tile)

    def one_block(i: Any) -> None:
        begin = code.times(i, block)
        rows(begin, code.minimum(block, code.builder.sub(code["rows"], begin)))

    code.each(code.builder.sdiv(code.plus(code["rows"], block - 1), code.integer(block)), one_block)
    return code.compile(unroll=False)


@cached_kernel
def outer_sum(real: str) -> MachineCode:
    """out[m] += sum over rows r of left[r, m] · right[r], for ``panels`` panels of ``right``."""
    arguments = ("rows", "m", "panels", "left*", "left_row", "right*", "right_row", "out*")
    code = Code("outer_sum", (*arguments, "out_row"), real, vector_bits() // WORD[real])
    columns = PANEL * code.lanes

    def chunk(i: Any) -> None:
        begin = code.times(i, CHUNK)
        count = code.minimum(CHUNK, code.builder.sub(code["rows"], begin))
        left = code.at(code["left"], code.times(begin, code["left_row"]))
        right = code.at(code["right"], code.times(begin, code["right_row"]))

        def tile(m: Any, size: int) -> None:
            out = [code.times(code.plus(m, i), code["out_row"]) for i in range(size)]

            def panel(p: Any) -> None:
                column = code.times(p, columns)
                places = [(row, v * code.lanes) for row in out for v in range(PANEL)]
                sums = [code.load(code["out"], row, column, v) for row, v in places]

                def term(r: Any, sums: list[Any]) -> list[Any]:
                    at = code.times(r, code["right_row"])
                    vectors = [code.load(right, at, column, v * code.lanes) for v in range(PANEL)]
                    from_left = code.plus(code.times(r, code["left_row"]), m)
                    for i in range(size):
                        number = code.splat(left, from_left, i)
                        for v in range(PANEL):
                            sums[PANEL * i + v] = code.fma(number, vectors[v], sums[PANEL * i + v])
                    return sums

                sums = code.loop(count, sums, term)
                for (row, v), total in zip(places, sums, strict=True):
                    code.store(total, code["out"], row, column, v)

            code.each(code["panels"], panel)

        code.tiles(code["m"], _tile_sizes(), tile)

    code.each(code.builder.sdiv(code.plus(code["rows"], CHUNK - 1), code.integer(CHUNK)), chunk)
    return code.compile()


@cached_kernel
def column_sum(real: str, lanes: int) -> MachineCode:
    """out[c] = sum over rows r of x[r, c], for ``vectors`` vectors of columns."""
    code = Code("column_sum", ("rows", "vectors", "x*", "x_row", "out*"), real, lanes)
    sizes = (accumulators() // 3 * 2, 2, 1)

    def tile(first: Any, size: int) -> None:
        column = code.times(first, code.lanes)

        def term(r: Any, sums: list[Any]) -> list[Any]:
            row = code.times(r, code["x_row"])
            return [
                code.add(total, code.load(code["x"], row, column, v * code.lanes))
                for v, total in enumerate(sums)
            ]

        for v, total in enumerate(code.loop(code["rows"], [code.constant(0.0)] * size, term)):
            code.store(total, code["out"], column, v * code.lanes)

    code.tiles(code["vectors"], sizes, tile)
    return code.compile()
