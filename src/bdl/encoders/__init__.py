"""Sequence encoders: bin features → one logit a bin and output channel.

An encoder is a value (:class:`GRU`, :class:`UNet`, :class:`Transformer`); ``build`` makes the
torch module. A module's call is ``module(values, hour, weekday, mask)`` with values (batch, bins,
inputs) float32, hour and weekday (batch, bins) int64 or None, mask (batch, bins) bool, True where
a bin holds data, or None; it gives (batch, bins, outputs). Names are sugar for the published ones.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bdl.encoders.base import EncoderModule, State
from bdl.encoders.gru import GRU
from bdl.encoders.transformer import Transformer
from bdl.encoders.unet import UNet
from bdl.errors import ConfigError

__all__ = ["GRU", "NAMES", "Encoder", "EncoderModule", "State", "Transformer", "UNet", "named"]

Encoder = Annotated[GRU | UNet | Transformer, Field(discriminator="kind")]

_NAMED: dict[str, GRU | UNet | Transformer] = {
    "gru": GRU(),
    "chbmit-gru": GRU(width=128, blocks=3),
    "forward-gru": GRU(bidirectional=False),
    "forward-lstm": GRU(bidirectional=False, cell="lstm"),
    "unet": UNet(),
    "attention-unet": UNet(attention=True),
    "transformer": Transformer(),
    "transformer-large": Transformer(width=128, layers=6, heads=8),
    "causal-transformer": Transformer(causal=True),
    "local-causal-transformer": Transformer(causal=True, local_convolution=True),
}
NAMES = tuple(_NAMED)


def named(name: str) -> GRU | UNet | Transformer:
    """The published encoder of that name.

    >>> named("forward-gru")
    GRU(kind='gru', width=32, blocks=2, bidirectional=False, cell='gru', fused=True)
    >>> named("gpt")
    Traceback (most recent call last):
    bdl.errors.ConfigError: encoder 'gpt' is not known: one of gru, chbmit-gru, ...
    """
    if name not in _NAMED:
        raise ConfigError(f"encoder {name!r} is not known: one of {', '.join(NAMES)}")
    return _NAMED[name]
