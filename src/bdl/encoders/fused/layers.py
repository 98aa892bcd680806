"""Recurrent layers for the CPU: torch's modules, with a fused path where it is faster.

:class:`FusedGRU` and :class:`FusedLSTM` have the parameters, names and results (up to rounding) of
torch.nn.GRU and torch.nn.LSTM with one layer, and take ``lengths`` for padded batches. The fused
path is used for float32 and float64 on the CPU where it gains; everything else, GPUs included, is
torch's own. ``fused=False`` on a module, or :func:`use_fused` for all, leaves it to torch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from bdl.errors import InputError

_SETTING = {"allowed": True, "always": False}


def use_fused(allowed: bool, *, always: bool = False) -> None:
    """Allow or forbid the fused path for every module of this process.

    ``always`` takes it wherever it can run, also where torch's own was measured to be faster.

    >>> use_fused(False)
    >>> use_fused(True)
    """
    _SETTING.update(allowed=allowed, always=always)


def _fits(module: nn.RNNBase, x: Tensor | PackedSequence, fused: bool) -> bool:
    """Whether the fused path can run this call."""
    if not (fused and _SETTING["allowed"] and isinstance(x, Tensor)):
        return False
    return (
        x.ndim == 3
        and x.numel() > 0
        and x.device.type == "cpu"
        and x.dtype in (torch.float32, torch.float64)
        and all(p.dtype == x.dtype and p.device.type == "cpu" for p in module.parameters())
        and module.num_layers == 1
        and module.batch_first
        and module.proj_size == 0
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


def _gains(cell: str, x: Tensor, width: int, keep: bool) -> bool:
    """Whether the fused path is the faster one, as measured over widths, batches and lengths.

    Short sequences do not pay for the call; a width that fills no whole vectors, and a very large
    one, are torch's; so is an LSTM without gradients. The size of the batch has no say, so that a
    recording's densities do not depend on its company.
    """
    from bdl.encoders.fused.llvm import lanes_for

    bins = x.shape[1]
    real = "float" if x.dtype == torch.float32 else "double"
    whole = width % lanes_for(1024, real) == 0
    if cell == "gru":
        fits = width <= 32 or (whole and width <= 256)
        return fits and bins >= max(8, width // 4)
    return keep and whole and width <= 128 and bins >= 64


def _fused(
    module: nn.RNNBase, cell: str, x: Tensor, h0: Tensor | None, c0: Tensor | None, lengths: Any
) -> tuple[Tensor, Tensor, Tensor | None] | None:
    """The fused path's result, or None where torch's own is faster."""
    parameters: list[Tensor | None] = []
    for end in ("", "_reverse") if module.bidirectional else ("",):
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            parameters.append(getattr(module, f"{name}_l0{end}", None))
    grows = [x, h0, c0, *parameters]
    keep = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in grows)
    if not (_SETTING["always"] or _gains(cell, x, module.hidden_size, keep)):
        return None
    from bdl.encoders.fused.function import (
        Recurrence,  # brings the compiler along: only when needed
    )

    apply: Any = Recurrence.apply
    result: tuple[Tensor, Tensor, Tensor | None] = apply(
        cell, lengths, keep, x, h0, c0, *parameters
    )
    return result


def _lengths(x: Any, lengths: Tensor | None) -> list[int] | None:
    if lengths is None:
        return None
    if not isinstance(x, Tensor) or x.ndim != 3 or lengths.shape != (x.shape[0],):
        raise InputError("recurrence: lengths go with a padded batch, one an item")
    numbers: list[int] = lengths.tolist()
    if min(numbers, default=0) < 0 or max(numbers, default=0) > x.shape[1]:
        raise InputError(f"recurrence: lengths from 0 to {x.shape[1]} expected, got {numbers}")
    return None if min(numbers, default=0) == x.shape[1] else numbers


def _padded(call: Any, x: Tensor, hx: Any, lengths: list[int]) -> Any:
    """torch's own recurrence over items of several lengths; what lies beyond them is zero."""
    sizes = torch.tensor(lengths).clamp(min=1)
    packed = pack_padded_sequence(x, sizes, batch_first=True, enforce_sorted=False)
    y, last = call(packed, hx)
    out, _ = pad_packed_sequence(y, batch_first=True, total_length=x.shape[1])
    if min(lengths) == 0:  # torch packs no empty item: it was read up to one bin
        empty = torch.tensor(lengths) == 0
        out = out.masked_fill(empty[:, None, None].to(out.device), 0.0)
    return out, last


class _Fused(nn.RNNBase):
    """What is put before torch's module: the fused path where it gains, and ``lengths``."""

    def __init__(self, *sizes: Any, fused: bool = True, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.fused = fused

    def forward(self, input: Any, hx: Any = None, *, lengths: Tensor | None = None) -> Any:
        """(outputs, last state as torch gives it); ``lengths`` (batch,) int: bins with data."""
        sizes = _lengths(input, lengths)
        if _fits(self, input, self.fused):
            cell = self.mode.lower()
            h0, c0 = hx if cell == "lstm" and hx is not None else (hx, None)
            result = _fused(self, cell, input, h0, c0, sizes)
            if result is not None:
                out, h, c = result
                return out, h if cell == "gru" else (h, c)
        if sizes is None:
            return super().forward(input, hx)
        return _padded(super().forward, input, hx, sizes)


class FusedGRU(_Fused, nn.GRU):
    """torch.nn.GRU of one layer with ``batch_first``; ``forward`` also takes ``lengths``.

    >>> ours, torchs = FusedGRU(3, 8, batch_first=True), nn.GRU(3, 8, batch_first=True)
    >>> _ = ours.load_state_dict(torchs.state_dict())
    >>> x = torch.randn(2, 50, 3)
    >>> torch.allclose(ours(x)[0], torchs(x)[0], atol=1e-6)
    True
    """


class FusedLSTM(_Fused, nn.LSTM):
    """torch.nn.LSTM of one layer with ``batch_first``; ``forward`` also takes ``lengths``.

    >>> ours, torchs = FusedLSTM(3, 8, batch_first=True), nn.LSTM(3, 8, batch_first=True)
    >>> _ = ours.load_state_dict(torchs.state_dict())
    >>> x = torch.randn(2, 50, 3)
    >>> torch.allclose(ours(x)[0], torchs(x)[0], atol=1e-6)
    True
    """
