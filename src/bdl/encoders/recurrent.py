"""One recurrent layer, the same module as torch's with a padding-aware call."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def _padded(module: nn.RNNBase, call: Any, x: Tensor, hx: Any, lengths: Tensor) -> Any:
    """torch's own recurrence over items of several lengths; what lies beyond them is zero."""
    packed = pack_padded_sequence(
        x, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
    )
    y, last = call(packed, hx)
    return pad_packed_sequence(y, batch_first=True, total_length=x.shape[1])[0], last


class FusedGRU(nn.GRU):
    """torch.nn.GRU."""

    def __init__(self, *sizes: int, fused: bool = True, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.fused = fused

    def forward(self, x: Tensor, hx: Any = None, *, lengths: Tensor | None = None) -> Any:  # type: ignore[override]
        if lengths is None:
            return super().forward(x, hx)
        return _padded(self, super().forward, x, hx, lengths)


class FusedLSTM(nn.LSTM):
    """torch.nn.LSTM."""

    def __init__(self, *sizes: int, fused: bool = True, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.fused = fused

    def forward(self, x: Tensor, hx: Any = None, *, lengths: Tensor | None = None) -> Any:  # type: ignore[override]
        if lengths is None:
            return super().forward(x, hx)
        return _padded(self, super().forward, x, hx, lengths)
