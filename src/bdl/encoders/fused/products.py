"""Large products and sums of tensors on the CPU whose bits do not depend on the threads.

torch leaves such products to libraries that may split a sum among threads, so that its rounding
depends on their number. Here each number of a result is added up either by one job in the order of
its terms, or in segments of a constant number of rows whose sums are then added up in order.

Tensors are float32 or float64 of shape (groups, rows, columns), contiguous in their columns. A
group is an item of a batch whose rows follow one another at a constant distance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import product
from operator import mul

import torch
from torch import Tensor
from torch.nn import functional as F

from bdl.encoders.fused import product_kernels as kernels
from bdl.encoders.fused import threads
from bdl.encoders.fused.llvm import lanes_for
from bdl.encoders.fused.setting import allowed

SEGMENT = 2048  # rows whose sum one job adds up: a constant, independent of the threads
INNER = 1024  # most terms of a product that are added up at once
COLUMNS = 128  # columns of a sum of outer products per job
WIDE = 1 << 14  # columns of a column sum per job
JOBS = 16  # jobs of a product per thread: none waits long for another's last one


def real_of(x: Tensor) -> str:
    """The kernels' name of a tensor's type."""
    return "float" if x.dtype == torch.float32 else "double"


def supported(*tensors: Tensor | None) -> bool:
    """Whether the kernels may be used, and can compute with these tensors."""
    used = [tensor for tensor in tensors if tensor is not None]
    return (
        allowed()
        and all(t.device.type == "cpu" and t.dtype == used[0].dtype and t.numel() > 0 for t in used)
        and used[0].dtype in (torch.float32, torch.float64)
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


def rows_of(x: Tensor) -> Tensor:
    """(..., columns) → (1, rows, columns), contiguous."""
    return x.reshape(1, -1, x.shape[-1]).contiguous()


def needs_gradient(*tensors: Tensor | None) -> bool:
    """Whether a backward pass may follow a call with these tensors."""
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def address(x: Tensor | None, *place: int) -> int:
    """The address of an element; 0 for None."""
    if x is None:
        return 0
    if not place:
        return x.data_ptr()
    offset: int = sum(map(mul, place, x.stride()))
    return x.data_ptr() + offset * x.element_size()


def multiply(a: Tensor, matrix: Tensor, bias: Tensor | None = None) -> Tensor:
    """Rows (groups, rows, inner) times a matrix (inner, columns) of any strides, plus the bias."""
    groups, rows, inner = a.shape
    columns, panel = matrix.shape[1], kernels.panel_columns(real_of(a))
    panels = -(-columns // panel)
    spare = panels * panel - columns
    if spare:
        matrix, bias = F.pad(matrix, (0, spare)), None if bias is None else F.pad(bias, (0, spare))
    packed = matrix.reshape(inner, panels, panel).transpose(0, 1).contiguous()
    start = a.new_zeros(panels * panel) if bias is None else bias.contiguous()
    out = a.new_empty(groups, rows, panels * panel)
    job_rows = max(96, -(-groups * rows // (JOBS * torch.get_num_threads())))
    jobs = []
    for group, first, count in pieces_of(groups, rows, job_rows):
        from_a, to = (address(a, group, first), a.stride(1)), address(out, group, first)
        work = partial(
            _row_product, a, count, inner, panels, from_a, address(packed), inner * panel, start, to
        )
        jobs.append((2 * count * inner * panels * panel, work))
    threads.run(jobs)
    return out if spare == 0 else out[:, :, :columns].clone(memory_format=torch.contiguous_format)


def _row_product(
    like: Tensor,
    rows: int,
    inner: int,
    panels: int,
    a: tuple[int, int],
    b: int,
    b_panel: int,
    start: Tensor,
    out: int,
) -> None:
    """One job of products, in blocks of terms for which the matrix fits the cache."""
    kernel, size = kernels.row_product(real_of(like)), like.element_size()
    panel = kernels.panel_columns(real_of(like))
    before = (address(start), 0)
    block = -(-inner // -(-inner // INNER))  # blocks of equal length: a short one would be slow
    for first in range(0, inner, block):
        terms = min(block, inner - first)
        from_a, from_b = a[0] + first * size, b + first * panel * size
        kernel(rows, terms, panels, from_a, a[1], from_b, b_panel, *before, out, panels * panel)
        before = (out, panels * panel)  # continues where the previous block ended


def outer_sum(left: Tensor, right: Tensor) -> Tensor:
    """Sum over all rows of (groups, rows, m) ⊗ (groups, rows, n): shape (m, n)."""
    panel = kernels.panel_columns(real_of(left))
    # The narrower side is read again and again: it should fit the cache. A side that does not fill
    # its panels has to be copied.
    sides = [(bool(side.shape[2] % panel), side.shape[2]) for side in (left, right)]
    if sides[0] < sides[1]:
        return outer_sum(right, left).t()
    (groups, rows, m), n = left.shape, right.shape[2]
    right = F.pad(right, (0, -n % panel)) if n % panel else right
    wide = right.shape[2]
    pieces = [*pieces_of(groups, rows, SEGMENT)]
    sums = left.new_zeros(len(pieces), m, wide)
    kernel = kernels.outer_sum(real_of(left))
    parts = -(-4 * torch.get_num_threads() // max(1, len(pieces) * -(-wide // COLUMNS)))
    part = -(-m // min(m, parts))
    jobs = []
    for i, (group, first, count) in enumerate(pieces):
        for begin, column in product(range(0, m, part), range(0, wide, COLUMNS)):
            size, panels = min(part, m - begin), min(COLUMNS, wide - column) // panel
            from_left = (address(left, group, first, begin), left.stride(1))
            from_right = (address(right, group, first, column), right.stride(1))
            to = (address(sums, i, begin, column), wide)
            work = partial(kernel, count, size, panels, *from_left, *from_right, *to)
            jobs.append((2 * count * size * panels * panel, work))
    threads.run(jobs)
    return total_of(sums)[:, :n]


def column_sum(x: Tensor) -> Tensor:
    """Sum over all rows of (groups, rows, columns): (columns,)."""
    groups, rows, columns = x.shape
    lanes = lanes_for(columns, real_of(x))
    kernel = kernels.column_sum(real_of(x), lanes)
    pieces = [*pieces_of(groups, rows, SEGMENT)]
    sums = x.new_zeros(len(pieces), columns)
    jobs = []
    for i, (group, first, count) in enumerate(pieces):
        for begin in range(0, columns, WIDE):
            vectors = min(WIDE, columns - begin) // lanes
            place, to = address(x, group, first, begin), address(sums, i, begin)
            work = partial(kernel, count, vectors, place, x.stride(1), to)
            jobs.append((count * vectors * lanes, work))
    threads.run(jobs)
    return total_of(sums)


def total_of(sums: Tensor) -> Tensor:
    """The sum of all segments, in their order."""
    if len(sums) < 2:
        return sums[0] if len(sums) else sums.new_zeros(sums.shape[1:])
    flat = sums.view(1, len(sums), math.prod(sums.shape[1:]))
    return column_sum(flat).view(sums.shape[1:])


def pieces_of(groups: int, rows: int, size: int) -> Iterator[tuple[int, int, int]]:
    """(group, first row, rows): every group cut into pieces of at most ``size`` rows."""
    for group in range(groups):
        for first in range(0, rows, size):
            yield group, first, min(size, rows - first)
