"""Self-attention encoders: offline, causal, and causal with a local convolution beside attention.

Linear → layer norm into the width, plus sinusoidal positions; then layers of attention and
feed-forward; a final layer norm; a linear output. Details that the published parameter counts do
not determine are chosen for stable training: each layer norm is before its branch, the activation
is GELU. Dropout acts on the residual branches and inside the feed-forward, but not on attention
weights, because torch's memory-saving attention would then not be available at 12,096 bins.

The local path is a depthwise convolution over the bin and the ones before it, added to attention.

With a context of ``c`` bins, attention covers a bin and the ``c - 1`` before it. Instead of
positions there is a learned number per head and distance, which is added to the product of query
and key. A layer carries the last ``c - 1`` keys and values, so that the state is of one size.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bdl.encoders.fused.attention import attention
from bdl.encoders.fused.convolution_layers import CausalDepthwise
from bdl.encoders.fused.dense_layers import LayerNorm, Linear
from bdl.encoders.networks.module import EncoderModule, State, valid_of
from bdl.encoders.transformer import Transformer

STEP_QUERIES = 512  # queries per slice of a step: bounds the size of its mask


def positions(first: int, bins: int, width: int, like: Tensor) -> Tensor:
    """Sinusoidal positions (bins, width) of the bins from ``first`` on."""
    # In float64: float32 angles at bin 46,000 would be wrong in the third digit.
    places = torch.arange(first, first + bins, dtype=torch.float64)[:, None]
    rates = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(1e4) / width))
    angles = places * rates
    both = torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)
    return both.to(dtype=like.dtype, device=like.device)


class TransformerLayer(nn.Module):
    """(batch, bins, width) → the same."""

    def __init__(self, settings: Transformer) -> None:
        super().__init__()
        width = settings.width
        hidden = settings.feedforward or 4 * width
        self.heads = settings.heads
        self.causal = settings.causal
        self.context = settings.context
        if self.context is not None:
            self.distances = nn.Parameter(torch.zeros(self.heads, self.context))
        self.norm1 = LayerNorm(width)
        self.project = Linear(width, 3 * width)
        self.merge = Linear(width, width)
        self.local = CausalDepthwise(width, settings.kernel) if settings.local_convolution else None
        self.norm2 = LayerNorm(width)
        self.feedforward = nn.Sequential(
            Linear(width, hidden), nn.GELU(), nn.Dropout(settings.dropout), Linear(hidden, width)
        )
        self.drop = nn.Dropout(settings.dropout)

    def split(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, each (batch, heads, bins, width / heads)."""
        batch, bins, width = x.shape
        parts = self.project(x).view(batch, bins, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        return q, k, v

    def finish(self, x: Tensor, normed: Tensor, attended: Tensor, past: Tensor) -> Tensor:
        """Add the attention branch, the local one and the feed-forward."""
        branch = self.merge(attended.transpose(1, 2).reshape(x.shape))
        if self.local is not None:
            branch = branch + self.local(torch.cat([past, normed], dim=1))
        x = x + self.drop(branch)
        out: Tensor = x + self.drop(self.feedforward(self.norm2(x)))
        return out

    def past(self, batch: int) -> Tensor:
        """What the local path sees before the first bin: zeros (batch, kernel - 1, width)."""
        before = 0 if self.local is None else self.local.kernel_size[0] - 1
        weight = self.merge.weight
        return weight.new_zeros(batch, before, weight.shape[0])

    def forward(self, x: Tensor, valid: Tensor | None) -> Tensor:
        normed = self.norm1(x)
        q, k, v = self.split(normed)
        if self.context is not None:
            none = k.new_zeros(*k.shape[:2], self.context - 1, k.shape[3])
            k, v = torch.cat([none, k], dim=2), torch.cat([none, v], dim=2)
            attended = self.attend(q, k, v, torch.zeros(len(x), dtype=torch.long, device=x.device))
        elif self.causal or valid is None:  # padding is last: a causal layer never reads it
            attended = attention(q, k, v, causal=self.causal)
        else:
            attended = attention(q, k, v, valid[:, None, None])
        return self.finish(x, normed, attended, self.past(x.shape[0]))

    def attend(self, q: Tensor, k: Tensor, v: Tensor, known: Tensor) -> Tensor:
        """Attention within the context.

        Keys and values begin ``context - 1`` bins before the queries; the last ``known`` (batch,)
        of those bins exist.
        """
        assert self.context is not None
        before, slices = self.context - 1, []
        for first in range(0, q.shape[2], STEP_QUERIES):
            part = q[:, :, first : first + STEP_QUERIES]
            stop = first + part.shape[2] + before
            # Gathered by distance, gradients would be added in an order that no one knows.
            spare = part.shape[2] - 1
            by_distance = F.pad(self.distances.flip(1), (spare, spare), value=-torch.inf)
            bias = by_distance.unfold(1, stop - first, 1).flip(1)  # (heads, queries, keys)
            if first < before:
                keys = torch.arange(first, stop, device=q.device)
                absent = keys < before - known[:, None]  # (batch, keys)
                bias = bias.masked_fill(absent[:, None, None], -torch.inf)
            operands = (part, k[:, :, first:stop], v[:, :, first:stop])
            slices.append(attention(*operands, bias.to(q.dtype).view(-1, *bias.shape[-3:])))
        return torch.cat(slices, dim=2)

    def step(self, x: Tensor, state: State, known: Tensor | None) -> tuple[Tensor, State]:
        """The next tile; the state is keys and values before it and the local path's past.

        Without a context, these are all keys and values so far; with one, ``known`` of them are.
        """
        normed = self.norm1(x)
        q, k, v = self.split(normed)
        k, v = torch.cat([state[0], k], dim=2), torch.cat([state[1], v], dim=2)
        if known is None:
            attended = self._attend_all(q, k, v)
        else:
            attended = self.attend(q, k, v, known)
            before = k.shape[2] - q.shape[2]
            k, v = k[:, :, -before:], v[:, :, -before:]
        y = self.finish(x, normed, attended, state[2])
        keep = state[2].shape[1]
        past = torch.cat([state[2], normed], dim=1)[:, normed.shape[1] :] if keep else state[2]
        return y, (k, v, past)

    def _attend_all(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Causal attention to all keys; queries are the last of them."""
        total = k.shape[2]
        before, slices = total - q.shape[2], []
        for first in range(0, q.shape[2], STEP_QUERIES):
            part = q[:, :, first : first + STEP_QUERIES]
            rows = torch.arange(part.shape[2], device=q.device)[:, None] + (before + first)
            sees = torch.arange(total, device=q.device) <= rows
            slices.append(attention(part, k, v, sees[None, None]))
        return torch.cat(slices, dim=2)


class TransformerEncoder(EncoderModule):
    """Module of `bdl.encoders.Transformer`."""

    def __init__(self, settings: Transformer, inputs: int, outputs: int, calendar: bool) -> None:
        super().__init__(inputs, calendar)
        self.causal = settings.causal
        self.context = settings.context
        self.width = settings.width
        self.first = nn.Sequential(Linear(self.features, settings.width), LayerNorm(settings.width))
        self.layers = nn.ModuleList(TransformerLayer(settings) for _ in range(settings.layers))
        self.norm = LayerNorm(settings.width)
        self.last = Linear(settings.width, outputs)

    def start(self, x: Tensor, first: int) -> Tensor:
        """Features into the width, with the positions of the bins from ``first`` on."""
        x = self.first(x)
        return x if self.context is not None else x + positions(first, x.shape[1], self.width, x)

    def encode(self, x: Tensor, lengths: Tensor | None) -> Tensor:
        valid = valid_of(lengths, x.shape[1])
        if valid is not None:  # an item without any data still needs something to attend to
            valid = valid | (torch.arange(x.shape[1], device=valid.device) == 0)
        x = self.start(x, 0)
        for layer in self.layers:
            x = layer(x, valid)
        logits: Tensor = self.last(self.norm(x))
        return logits

    def blank(self, batch: int) -> State:
        """Nothing seen: three tensors per layer (keys, values, the local path's past).

        With a context, first the number of bins before that exist, (batch,).
        """
        state: list[Tensor] = []
        carried = 0 if self.context is None else self.context - 1
        if self.context is not None:
            state.append(torch.zeros(batch, dtype=torch.long, device=self.last.weight.device))
        for layer in self.layers:
            assert isinstance(layer, TransformerLayer)
            past = layer.past(batch)
            none = past.new_zeros(batch, layer.heads, carried, self.width // layer.heads)
            state += [none, none, past]
        return tuple(state)

    def advance(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        after: list[Tensor] = []
        known = None
        if self.context is not None:
            known, *layer_states = state
            after.append((known + x.shape[1]).clamp(max=self.context - 1))
            state = tuple(layer_states)
        x = self.start(x, state[0].shape[2])
        for i, layer in enumerate(self.layers):
            assert isinstance(layer, TransformerLayer)
            x, layer_state = layer.step(x, state[3 * i : 3 * i + 3], known)
            after += layer_state
        return self.last(self.norm(x)), tuple(after)
