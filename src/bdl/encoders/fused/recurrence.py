"""A recurrent layer as one differentiable function on the CPU: projection, kernels, gradients.

Shapes: x (batch, bins, inputs); states (directions, batch, width); weights are torch's own. An item
of length n is read up to bin n: its reverse direction starts there, and its outputs beyond are
zero. Results are those of torch.nn.GRU and torch.nn.LSTM up to rounding. Kept for the backward
pass: the gates, one more number per unit and bin, and the outputs, which is less than torch keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from bdl.encoders.fused import recurrent_kernels as kernels
from bdl.encoders.fused import threads
from bdl.encoders.fused.products import address, column_sum, multiply, outer_sum, real_of, rows_of


class Run:
    """The kernels of one call, over all items and directions."""

    def __init__(
        self, cell: str, x: Tensor, width: int, directions: int, lengths: list[int] | None
    ) -> None:
        self.cell, self.width, self.directions = cell, width, directions
        self.batch, self.bins = x.shape[:2]
        self.gates = kernels.GATES[cell]
        self.real = real_of(x)
        self.lengths = [self.bins] * self.batch if lengths is None else lengths

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

        def job(d: int, first: int, items: int, blocks: int, steps: int, scratch: Tensor) -> Any:
            return partial(
                kernels.forward(self.cell, self.width, self.real, items, extra is not None),
                blocks,
                steps,
                first * self.bins + (steps - 1 if d else 0),
                self.bins,
                -1 if d else 1,
                address(gates, 0, 0, d),
                gates.stride(1),
                *(address(buffer, 0, 0, d) for buffer in (extra, out)),
                out.stride(1),
                *(address(buffer, d) for buffer in (weights, bias)),
                *(address(state, d, first) for state in (h, c)),
                address(scratch),
            )

        self._run(job, threads.most_joined(self.batch))
        self._clear(out)

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

        def job(d: int, first: int, items: int, _: int, steps: int, scratch: Tensor) -> Any:
            return partial(
                kernels.backward(self.cell, self.width, self.real, items),
                steps,
                first * self.bins + (0 if d else steps - 1),
                self.bins,
                1 if d else -1,
                steps - 1,
                address(gates, 0, 0, d),
                gates.stride(1),
                *(address(buffer, 0, 0, d) for buffer in (extra, out)),
                out.stride(1),
                *(address(buffer, 0, 0, d) for buffer in (grad, dgates, dextra)),
                address(weights, d),
                *(address(state, d, first) for state in (dh, dc, *start)),
                address(scratch),
            )

        self._run(job, 1)
        self._clear(dgates, dextra)

    def _run(
        self, make: Callable[[int, int, int, int, int, Tensor], Callable[[], None]], limit: int
    ) -> None:
        """Do all blocks, up to ``limit`` neighbours of one size in one job."""
        jobs, alive = [], []  # the kernels get addresses only: their memory must outlive them
        all_blocks = threads.item_blocks(self.lengths, self.directions)
        for d, first, items, blocks, steps in threads.joined(all_blocks, limit):
            # Each job has its own scratch, with a spare cache line that no other thread writes to.
            size = items * self.gates * self.width + 32
            scratch = torch.empty(size, dtype=getattr(torch, self.real))
            alive.append(scratch)
            operations = 2 * items * blocks * steps * self.gates * self.width * self.width
            jobs.append((operations, make(d, first, items, blocks, steps, scratch)))
        threads.run(jobs)

    def _clear(self, *buffers: Tensor | None) -> None:
        """Write zeros beyond each item's length."""
        for item, length in enumerate(self.lengths):
            for buffer in buffers:
                if buffer is not None and length < self.bins:
                    buffer[item, length:] = 0


def recur(
    run: Run, keep: bool, x: Tensor, h0: Tensor | None, c0: Tensor | None, *parameters: Tensor
) -> tuple[Tensor, Tensor, Tensor | None, Tensor, Tensor | None]:
    """Outputs, last states, and with ``keep`` the gates and what else the backward pass needs."""
    w_ih, w_hh, b_ih, b_hh = (parameters[k::4] for k in range(4))
    batch, bins, directions, width = run.batch, run.bins, run.directions, run.width
    read = w_ih[0] if directions == 1 else torch.cat(w_ih)
    gates = multiply(rows_of(x), read.t()).view(batch, bins, directions, run.gates * width)
    weights = torch.stack([w.t() for w in w_hh])
    bias = torch.stack([_bias(run, *pair, x) for pair in zip(b_ih, b_hh, strict=True)])
    out = x.new_empty(batch, bins, directions, width)
    extra = torch.empty_like(out) if keep else None
    h = x.new_zeros(directions, batch, width) if h0 is None else h0.contiguous().clone()
    c = None
    if run.cell == "lstm":
        c = torch.zeros_like(h) if c0 is None else c0.contiguous().clone()
    run.forward(gates, extra, out, weights, bias, h, c)
    return out.view(batch, bins, directions * width), h, c, gates, extra


class Recurrence(Function):
    """apply(cell, lengths, x, h0, c0, w_ih, w_hh, b_ih, b_hh, ...the reverse's four).

    ``lengths`` is a list of ints or None; biases and states may be None. Returns (outputs, last h,
    last c or None).
    """

    @staticmethod
    def forward(
        ctx: Any,
        cell: str,
        lengths: list[int] | None,
        x: Tensor,
        h0: Tensor | None,
        c0: Tensor | None,
        *parameters: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        run = Run(cell, x, parameters[1].shape[1], len(parameters) // 4, lengths)
        result, h, c, gates, extra = recur(run, True, x, h0, c0, *parameters)
        ctx.run = run
        ctx.save_for_backward(x, gates, extra, result, h0, c0, *parameters)
        return result, h, c

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, grad_h: Tensor, grad_c: Tensor | None) -> Any:
        x, gates, extra, result, h0, c0, *parameters = ctx.saved_tensors
        run: Run = ctx.run
        width, directions, gru = run.width, run.directions, run.cell == "gru"
        w_ih, w_hh = parameters[0::4], parameters[1::4]
        out = result.view(run.batch, run.bins, directions, width)
        # Buffers may be overwritten if this backward pass is the last one over the graph.
        keeps_graph = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", None)
        again = keeps_graph is None or keeps_graph()
        dgates = torch.empty_like(gates) if again else gates
        dextra = None if not gru else torch.empty_like(extra) if again else extra
        dh = grad_h.contiguous().clone()
        dc = None if gru or grad_c is None else grad_c.contiguous().clone()
        start_h = torch.zeros_like(dh) if h0 is None else h0.contiguous()
        start_c = None if gru else torch.zeros_like(dh) if c0 is None else c0.contiguous()
        grad = grad.contiguous().view(out.shape)
        saved, start = (gates, extra, out), (start_h, start_c)
        run.backward(saved, grad, dgates, dextra, torch.stack(w_hh), start, dh, dc)
        need = ctx.needs_input_grad
        rows = rows_of(dgates.flatten(2))
        dx = multiply(rows, torch.cat(w_ih)).view(x.shape) if need[2] else None
        d_read, d_shift = outer_sum(rows, rows_of(x)), column_sum(rows)
        gradients: list[Tensor | None] = []
        units = run.gates * width
        for d in range(directions):
            part = slice(d * units, (d + 1) * units)
            d_state, d_bias = _state_gradients(run, dgates, dextra, d_shift[part], out, h0, d)
            has_bias = parameters[4 * d + 2] is not None
            gradients += [d_read[part], d_state]
            gradients += [d_shift[part], d_bias] if has_bias else [None, None]
        return None, None, dx, dh if need[3] else None, dc if need[4] else None, *gradients


def _bias(run: Run, read: Tensor | None, state: Tensor | None, like: Tensor) -> Tensor:
    """Biases of one direction as the kernels add them.

    Both go into a gate's sum, except those of the GRU's n gate: the reset gate scales only one.
    """
    if read is None or state is None:
        return like.new_zeros(4 * run.width)  # one per gate; a GRU's n has both
    if run.cell == "lstm":
        return read + state
    cut = 2 * run.width
    return torch.cat([read[:cut] + state[:cut], state[cut:], read[cut:]])


def _state_gradients(
    run: Run,
    dgates: Tensor,
    dextra: Tensor | None,
    shift: Tensor,
    out: Tensor,
    h0: Tensor | None,
    d: int,
) -> tuple[Tensor, Tensor]:
    """Gradients of w_hh and b_hh of direction d; ``shift`` is that of the input bias."""
    if dextra is None:
        return _state_sum(run, dgates[:, :, d], out, h0, d), shift
    # The GRU's n gate has its own gradient of the hidden part.
    reset_update, n = dgates[:, :, d, : 2 * run.width], dextra[:, :, d]
    weights = [_state_sum(run, part, out, h0, d) for part in (reset_update, n)]
    return torch.cat(weights), torch.cat([shift[: 2 * run.width], column_sum(n)])


def _state_sum(run: Run, part: Tensor, out: Tensor, h0: Tensor | None, d: int) -> Tensor:
    """Sum over items and bins of gradient ⊗ the state one step earlier."""
    late, early = (slice(1, None), slice(None, -1))[:: -1 if d else 1]
    total = outer_sum(part[:, late], out[:, early, d])
    if h0 is not None:
        items = torch.arange(run.batch)
        first = torch.tensor(run.lengths).sub(1).clamp(min=0) if d else torch.zeros_like(items)
        total = total + outer_sum(part[None, items, first], h0[d][None].contiguous())
    return total
