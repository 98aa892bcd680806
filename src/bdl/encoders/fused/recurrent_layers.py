"""Recurrent layers: torch's modules with the package's own kernels on the CPU.

`FusedGRU` and `FusedLSTM` have the parameters, names and results (up to rounding) of torch.nn.GRU
and torch.nn.LSTM with one layer, and take ``lengths`` for padded batches. The kernels are used on
the CPU for float32 and float64 and widths up to `WIDEST`, for any number of items, bins and
threads, so that results depend on none of them. Everything else, GPUs included, is left to torch;
so are modules with ``fused=False``, and all after ``use_fused(False)``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from bdl.encoders.fused.products import needs_gradient, supported
from bdl.encoders.fused.recurrence import Recurrence, Run, recur
from bdl.errors import InputError

WIDEST = 256  # beyond, the weights leave the cache, and torch's products over all items are faster
MULTIPLE = 8  # widths are filled up with zeros to a multiple of this, to use whole vectors


def _fits(module: _Fused, x: Tensor | PackedSequence) -> bool:
    """Whether the kernels compute this call."""
    return (
        isinstance(x, Tensor)
        and x.ndim == 3
        and module.has_kernels
        and supported(x, *module.parameters())
    )


def _fused(
    module: nn.RNNBase, cell: str, x: Tensor, h0: Tensor | None, c0: Tensor | None, lengths: Any
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Outputs and last states, by the kernels."""
    width = module.hidden_size
    spare = -width % MULTIPLE
    parameters: list[Tensor | None] = []
    for end in ("", "_reverse") if module.bidirectional else ("",):
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            parameter = getattr(module, f"{name}_l0{end}", None)
            parameters.append(_fill(parameter, name, width, spare))
    states = [None if s is None else F.pad(s, (0, spare)) if spare else s for s in (h0, c0)]
    inputs = [x, *states, *parameters]
    apply: Any = Recurrence.apply
    if needs_gradient(*inputs):
        out, h, c = apply(cell, lengths, *inputs)
    else:
        run = Run(cell, x, width + spare, 2 if module.bidirectional else 1, lengths)
        out, h, c, *_ = recur(run, False, *inputs)  # type: ignore[arg-type]
    if spare:
        out = out.view(*out.shape[:2], -1, width + spare)[..., :width].flatten(2)
        h, c = h[..., :width], None if c is None else c[..., :width]
    return out, h, c


def _fill(parameter: Tensor | None, name: str, width: int, spare: int) -> Tensor | None:
    """A parameter with units added whose state stays zero."""
    if parameter is None or spare == 0:
        return parameter
    gates = parameter.view(-1, width, *parameter.shape[1:])
    if name.startswith("bias"):
        return F.pad(gates, (0, spare)).flatten()
    return F.pad(gates, (0, spare if name == "weight_hh" else 0, 0, spare)).flatten(0, 1)


def _lengths(x: Any, lengths: Tensor | None) -> list[int] | None:
    if lengths is None:
        return None
    if not isinstance(x, Tensor) or x.ndim != 3 or lengths.shape != (x.shape[0],):
        raise InputError("recurrence: lengths are given with a padded batch, one per item")
    numbers: list[int] = lengths.tolist()
    if min(numbers, default=0) < 0 or max(numbers, default=0) > x.shape[1]:
        raise InputError(f"recurrence: lengths from 0 to {x.shape[1]} expected, got {numbers}")
    return None if min(numbers, default=0) == x.shape[1] else numbers


def _padded(call: Any, x: Tensor, hx: Any, lengths: list[int]) -> Any:
    """torch's own recurrence over items of several lengths; outputs beyond them are zero."""
    sizes = torch.tensor(lengths).clamp(min=1)
    packed = pack_padded_sequence(x, sizes, batch_first=True, enforce_sorted=False)
    y, last = call(packed, hx)
    out, _ = pad_packed_sequence(y, batch_first=True, total_length=x.shape[1])
    if min(lengths) == 0:  # torch packs no empty item: it was read up to one bin
        empty = torch.tensor(lengths) == 0
        out = out.masked_fill(empty[:, None, None].to(out.device), 0.0)
    return out, last


class _Fused(nn.RNNBase):
    """Base of torch's module with the package's kernels and ``lengths``."""

    def __init__(self, *sizes: Any, fused: bool = True, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.fused = fused

    @property
    def has_kernels(self) -> bool:
        """Whether the kernels compute padded batches on the device of the parameters."""
        return (
            self.fused
            and supported(*self.parameters())
            and self.num_layers == 1
            and self.batch_first
            and self.proj_size == 0
            and self.hidden_size <= WIDEST
        )

    def forward(self, input: Any, hx: Any = None, *, lengths: Tensor | None = None) -> Any:
        """(outputs, last state as torch gives it); ``lengths`` (batch,) int: bins with data."""
        sizes = _lengths(input, lengths)
        if _fits(self, input):
            cell = self.mode.lower()
            h0, c0 = hx if cell == "lstm" and hx is not None else (hx, None)
            out, h, c = _fused(self, cell, input, h0, c0, sizes)
            return out, h if cell == "gru" else (h, c)
        if sizes is None:
            return super().forward(input, hx)
        return _padded(super().forward, input, hx, sizes)


class FusedGRU(_Fused, nn.GRU):
    """torch.nn.GRU of one layer with ``batch_first``; ``forward`` also takes ``lengths``.

    Examples
    --------
    >>> ours, torchs = FusedGRU(3, 8, batch_first=True), nn.GRU(3, 8, batch_first=True)
    >>> _ = ours.load_state_dict(torchs.state_dict())
    >>> x = torch.randn(2, 50, 3)
    >>> torch.allclose(ours(x)[0], torchs(x)[0], atol=1e-6)
    True
    """


class FusedLSTM(_Fused, nn.LSTM):
    """torch.nn.LSTM of one layer with ``batch_first``; ``forward`` also takes ``lengths``."""
