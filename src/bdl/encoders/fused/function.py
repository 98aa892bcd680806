"""A recurrent layer as one differentiable function on the CPU: projection, kernels, gradients.

Shapes: x (batch, bins, inputs); states (directions, batch, width); weights are torch's own. An item
of length n is read up to bin n: its reverse direction starts there, and its outputs beyond are
zero. Same results as torch.nn.GRU and torch.nn.LSTM up to rounding. Memory held for the backward
pass: gates, one more number a unit and bin, and the outputs, which is less than torch holds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import groupby
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from bdl.encoders.fused import recurrent_kernels as kernels
from bdl.encoders.fused import threads

MOST_ITEMS = 4


def _blocks(lengths: list[int], directions: int) -> list[tuple[int, int, int, int]]:
    """(direction, first item, items, steps): neighbours of equal length, a few at a time.

    Fewer at a time where there would be less than one block a thread.
    """
    units = directions * len(lengths)
    most = MOST_ITEMS
    while most > 1 and units < most * torch.get_num_threads():
        most //= 2
    blocks = []
    for steps, run in groupby(range(len(lengths)), key=lengths.__getitem__):
        first, *more = run
        left, items = 1 + len(more), most
        while left and steps:
            while items > left:
                items //= 2
            blocks += [(d, first, items, steps) for d in range(directions)]
            first, left = first + items, left - items
    return blocks


class Layer:
    """Sizes of one call, and how its kernels find their rows."""

    def __init__(self, cell: str, x: Tensor, width: int, directions: int, lengths: Any) -> None:
        self.cell, self.width, self.directions = cell, width, directions
        self.batch, self.bins = x.shape[:2]
        self.gates = kernels.GATES[cell]
        self.real = "float" if x.dtype == torch.float32 else "double"
        self.lengths: list[int] = [self.bins] * self.batch if lengths is None else lengths
        self.padded = min(self.lengths, default=self.bins) < self.bins

    def address(self, buffer: Tensor | None, *place: int) -> int:
        """Where an element of a contiguous buffer stands in memory."""
        if buffer is None:
            return 0
        offset = sum(i * stride for i, stride in zip(place, buffer.stride(), strict=False))
        return buffer.data_ptr() + offset * buffer.element_size()

    def clear(self, *buffers: Tensor | None) -> None:
        """Zeros beyond each item's length."""
        if self.padded:
            for buffer in buffers:
                for item, length in enumerate(self.lengths):
                    if buffer is not None:
                        buffer[item, length:] = 0

    def run(self, make: Callable[[int, int, int, int, Tensor], Callable[[], None]]) -> None:
        """Every block's kernel; each has its own scratch, lest threads share cache lines."""
        jobs, alive = [], []  # the kernels see addresses only: their memory must outlive them
        for d, first, items, steps in _blocks(self.lengths, self.directions):
            # One spare cache line: neighbours of other threads stay out of it.
            size = items * self.gates * self.width + 32
            scratch = torch.empty(size, dtype=getattr(torch, self.real))
            alive.append(scratch)
            jobs.append((items * steps, make(d, first, items, steps, scratch)))
        threads.run(jobs)

    def forward(
        self,
        gates: Tensor,
        extra: Tensor | None,
        out: Tensor,
        weights: Tensor,
        bias: Tensor,
        h: Tensor,
        c: Tensor | None,
    ) -> None:
        """Fill ``out`` (and ``gates``, ``extra`` where kept); states end at the last step."""

        def make(d: int, first: int, items: int, steps: int, scratch: Tensor) -> Any:
            kernel = kernels.forward(self.cell, self.width, self.real, items, extra is not None)
            row0 = first * self.bins + (steps - 1 if d else 0)
            numbers = (steps, row0, self.bins, -1 if d else 1)
            return partial(
                kernel,
                *numbers,
                self.address(gates, 0, 0, d),
                gates.stride(1),
                self.address(extra, 0, 0, d),
                self.address(out, 0, 0, d),
                out.stride(1),
                self.address(weights, d),
                self.address(bias, d),
                self.address(h, d, first),
                self.address(c, d, first),
                self.address(scratch),
            )

        self.run(make)
        self.clear(out)

    def backward(
        self,
        saved: tuple[Tensor, Tensor, Tensor],
        grad: Tensor,
        dgates: Tensor,
        dextra: Tensor | None,
        weights: Tensor,
        start: tuple[Tensor, Tensor | None],
        dh: Tensor,
        dc: Tensor | None,
    ) -> None:
        """Fill ``dgates`` and ``dextra``; state gradients end at the first step."""
        gates, extra, out = saved

        def make(d: int, first: int, items: int, steps: int, scratch: Tensor) -> Any:
            kernel = kernels.backward(self.cell, self.width, self.real, items)
            row0 = first * self.bins + (0 if d else steps - 1)
            numbers = (steps, row0, self.bins, 1 if d else -1, steps - 1)
            return partial(
                kernel,
                *numbers,
                self.address(gates, 0, 0, d),
                gates.stride(1),
                self.address(extra, 0, 0, d),
                self.address(out, 0, 0, d),
                out.stride(1),
                self.address(grad, 0, 0, d),
                self.address(dgates, 0, 0, d),
                self.address(dextra, 0, 0, d),
                self.address(weights, d),
                self.address(dh, d, first),
                self.address(dc, d, first),
                self.address(start[0], d, first),
                self.address(start[1], d, first),
                self.address(scratch),
            )

        self.run(make)
        self.clear(dgates, dextra)


class Recurrence(Function):
    """apply(cell, lengths, keep, x, h0, c0, w_ih, w_hh, b_ih, b_hh, ...the reverse's four).

    ``lengths`` is a list of ints or None, ``keep`` whether a backward pass may follow; biases and
    states may be None. Gives (outputs, last h, last c or None).
    """

    @staticmethod
    def forward(
        ctx: Any,
        cell: str,
        lengths: list[int] | None,
        keep: bool,
        x: Tensor,
        h0: Tensor | None,
        c0: Tensor | None,
        *parameters: Tensor | None,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        w_ih, w_hh, b_ih, b_hh = (parameters[k::4] for k in range(4))
        first = w_hh[0]
        assert first is not None
        width, directions = first.shape[1], len(w_hh)
        layer = Layer(cell, x, width, directions, lengths)
        batch, bins, many = layer.batch, layer.bins, layer.gates * width
        flat = x.reshape(batch * bins, -1)
        read = torch.cat([w for w in w_ih if w is not None])
        gates = (flat @ read.t()).view(batch, bins, directions, many)
        state = torch.stack([w.t().contiguous() for w in w_hh if w is not None])
        bias = torch.stack(
            [_bias(cell, *pair, x.new_zeros(many)) for pair in zip(b_ih, b_hh, strict=True)]
        )
        out = x.new_empty(batch, bins, directions, width)
        extra = torch.empty_like(out) if keep else None
        h = x.new_zeros(directions, batch, width) if h0 is None else h0.contiguous().clone()
        c = None
        if cell == "lstm":
            c = torch.zeros_like(h) if c0 is None else c0.contiguous().clone()
        layer.forward(gates, extra, out, state, bias, h, c)
        result = out.view(batch, bins, directions * width)
        if keep:
            ctx.layer, ctx.lengths = layer, lengths
            ctx.save_for_backward(x, gates, extra, result, h0, c0, *parameters)
        return result, h, c

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, grad_h: Tensor, grad_c: Tensor | None) -> Any:
        x, gates, extra, result, h0, c0, *parameters = ctx.saved_tensors
        layer: Layer = ctx.layer
        width, directions, gru = layer.width, layer.directions, layer.cell == "gru"
        w_ih, w_hh = parameters[0::4], parameters[1::4]
        out = result.view(layer.batch, layer.bins, directions, width)
        again = not _may_overwrite()
        dgates = torch.empty_like(gates) if again else gates
        dextra = None if not gru else torch.empty_like(extra) if again else extra
        dh = grad_h.contiguous().clone()
        dc = None if gru or grad_c is None else grad_c.contiguous().clone()
        start_h = torch.zeros_like(dh) if h0 is None else h0.contiguous()
        start_c = None if gru else torch.zeros_like(dh) if c0 is None else c0.contiguous()
        weights = torch.stack(list(w_hh))
        saved, start = (gates, extra, out), (start_h, start_c)
        layer.backward(
            saved, grad.contiguous().view(out.shape), dgates, dextra, weights, start, dh, dc
        )
        flat = dgates.view(layer.batch * layer.bins, -1)
        need = ctx.needs_input_grad
        dx = (flat @ torch.cat(list(w_ih))).view(x.shape) if need[3] else None
        d_read = flat.t() @ x.reshape(layer.batch * layer.bins, -1)
        d_shift = flat.sum(0)
        gradients: list[Tensor | None] = []
        many = layer.gates * width
        for d in range(directions):
            part = slice(d * many, (d + 1) * many)
            hidden = [dgates[:, :, d]] if dextra is None else [dgates[:, :, d], dextra[:, :, d]]
            d_state, d_bias = _state_gradients(layer, hidden, d_shift[part], out, h0, d)
            has_bias = parameters[4 * d + 2] is not None
            gradients += [d_read[part], d_state]
            gradients += [d_shift[part], d_bias] if has_bias else [None, None]
        return None, None, None, dx, dh if need[4] else None, dc if need[5] else None, *gradients


def _bias(cell: str, read: Tensor | None, state: Tensor | None, none: Tensor) -> Tensor:
    """Biases of one direction as the kernels add them.

    Both go into a gate's sum, save those of the GRU's n gate: the reset gate scales only one.
    """
    if read is None or state is None:
        return none if cell == "lstm" else torch.cat([none, none[: len(none) // 3]])
    if cell == "lstm":
        return read + state
    cut = len(none) // 3 * 2
    return torch.cat([read[:cut] + state[:cut], state[cut:], read[cut:]])


def _may_overwrite() -> bool:
    """Whether this backward pass is the last one over what was kept for it."""
    keeps = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", None)
    return keeps is not None and not keeps()


def _state_gradients(
    layer: Layer, hidden: list[Tensor], shift: Tensor, out: Tensor, h0: Tensor | None, d: int
) -> tuple[Tensor, Tensor]:
    """Gradients of w_hh and b_hh of direction d from those of the gates.

    A GRU's n gate has its own gradient of the hidden part (``hidden[1]``).
    """
    width = layer.width
    if len(hidden) == 2:
        keep = 2 * width
        above, below = hidden[0][:, :, :keep], hidden[1]
        bias = torch.cat([shift[:keep], below.sum((0, 1))])
        return torch.cat([_outer(layer, part, out, h0, d) for part in (above, below)]), bias
    return _outer(layer, hidden[0], out, h0, d), shift


def _outer(layer: Layer, part: Tensor, out: Tensor, h0: Tensor | None, d: int) -> Tensor:
    """Sum over items and bins of gradient ⊗ the state one step earlier."""
    late, early = (slice(1, None), slice(None, -1))[:: -1 if d else 1]
    total = torch.bmm(part[:, late].transpose(1, 2), out[:, early, d]).sum(0)
    if h0 is not None:
        items = torch.arange(layer.batch)
        first = torch.tensor(layer.lengths).sub(1).clamp(min=0) if d else torch.zeros_like(items)
        total = total + part[items, first].t() @ h0[d]
    return total
