"""Recurrent encoders: residual blocks of one GRU or LSTM layer and a small feed-forward part.

Linear → layer norm → ReLU into the width; then blocks of (recurrence, linear to twice its output,
layer norm, ReLU, linear to the width, layer norm, ReLU) added to their input; then a linear
output. An optional convolution with layer norm and ReLU is added to the input of the first block.
With two directions the published sleep GRU has 51,746 parameters. With one direction the
encoder is causal and carries its state from tile to tile.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bdl.encoders.fused.convolution_layers import Conv1d
from bdl.encoders.fused.dense_layers import LayerNorm, Linear
from bdl.encoders.fused.recurrent_layers import FusedGRU, FusedLSTM
from bdl.encoders.networks.module import EncoderModule, State, valid_of
from bdl.encoders.recurrent import Recurrent


class RecurrentBlock(nn.Module):
    """(batch, bins, width) → the same: recurrence, feed-forward, plus the input."""

    def __init__(self, settings: Recurrent) -> None:
        super().__init__()
        kind = FusedGRU if settings.cell == "gru" else FusedLSTM
        width, two = settings.width, settings.bidirectional
        read = width * (2 if two else 1)
        self.recurrence = kind(
            width, width, batch_first=True, bidirectional=two, fused=settings.fused
        )
        # In place: a norm keeps its input, not its output, and each of these is large.
        self.mix = nn.Sequential(
            Linear(read, 2 * read),
            LayerNorm(2 * read),
            nn.ReLU(inplace=True),
            Linear(2 * read, width),
            LayerNorm(width),
            nn.ReLU(inplace=True),
        )

    def forward(self, x: Tensor, lengths: Tensor | None, state: State) -> tuple[Tensor, State]:
        if isinstance(self.recurrence, FusedGRU):
            y, last = self.recurrence(x, state[0] if state else None, lengths=lengths)
            after: State = (last,)
        else:
            y, after = self.recurrence(x, state or None, lengths=lengths)
        return x + self.mix(y), after


class Front(nn.Module):
    """(batch, bins, width) → the same: convolution, norm and ReLU, plus the input.

    A causal one reads the bins up to the current one, and carries the last ``kernel - 1`` of them.
    """

    def __init__(self, width: int, kernel: int, causal: bool) -> None:
        super().__init__()
        self.kernel = kernel
        self.causal = causal
        self.convolution = Conv1d(width, width, kernel)
        self.mix = nn.Sequential(LayerNorm(width), nn.ReLU(inplace=True))

    def forward(
        self, x: Tensor, lengths: Tensor | None, carried: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        batch, bins, width = x.shape
        valid = valid_of(lengths, bins)
        if valid is not None:  # so that padding has no influence on the bins before it
            x = x * valid[:, :, None]
        if not self.causal:
            return x + self.mix(self.convolution(x)), x[:, :0]
        if carried is None:
            carried = x.new_zeros(batch, self.kernel - 1, width)
        joined = torch.cat([carried, x], dim=1)
        # Centred on every bin; the output half a kernel earlier has seen nothing later.
        half = self.kernel // 2
        mixed = self.convolution(joined)[:, half : half + bins].contiguous()
        return x + self.mix(mixed), joined[:, bins:]


class RecurrentEncoder(EncoderModule):
    """Module of `bdl.encoders.Recurrent`.

    Examples
    --------
    >>> module = Recurrent(bidirectional=False).build(inputs=3, outputs=1, calendar=False).eval()
    >>> x = torch.randn(2, 10, 3)
    >>> first, state = module.step(x[:, :4], module.initial_state(2))
    >>> second, state = module.step(x[:, 4:], state)
    >>> torch.allclose(torch.cat([first, second], dim=1), module(x), atol=1e-6)
    True
    """

    def __init__(self, settings: Recurrent, inputs: int, outputs: int, calendar: bool) -> None:
        super().__init__(inputs, calendar)
        width = settings.width
        self.causal = settings.causal
        self.width = width
        self.states = 1 if settings.cell == "gru" else 2
        self.first = nn.Sequential(
            Linear(self.features, width), LayerNorm(width), nn.ReLU(inplace=True)
        )
        self.front = Front(width, settings.front, settings.causal) if settings.front else None
        self.blocks = nn.ModuleList(RecurrentBlock(settings) for _ in range(settings.blocks))
        self.last = Linear(width, outputs)

    @property
    def batchable(self) -> bool:
        return all(
            isinstance(block, RecurrentBlock) and block.recurrence.has_kernels
            for block in self.blocks
        )

    def encode(self, x: Tensor, lengths: Tensor | None) -> Tensor:
        return self._run(x, lengths, ())[0]

    def blank(self, batch: int) -> State:
        """Zeros: one (1, batch, width) tensor per block, two with an LSTM; last, the front's."""
        like = self.last.weight
        zeros = torch.zeros(1, batch, self.width, dtype=like.dtype, device=like.device)
        states = (zeros,) * (self.states * len(self.blocks))
        if self.front is None:
            return states
        return (*states, like.new_zeros(batch, self.front.kernel - 1, self.width))

    def advance(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        return self._run(x, None, state)

    def _run(self, x: Tensor, lengths: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Logits and the state after them; an empty state is that before the first bin."""
        x = self.first(x)
        carried: State = ()
        if self.front is not None:
            x, last_bins = self.front(x, lengths, state[-1] if state else None)
            carried = (last_bins,)
        after: list[Tensor] = []
        for i, block in enumerate(self.blocks):
            x, last = block(x, lengths, state[i * self.states : (i + 1) * self.states])
            after.extend(last)
        return self.last(x), (*after, *carried)
