"""Sequence encoders: features per bin → one logit per bin and output channel.

An encoder is a value of the family `Encoder`; its method ``build`` makes the torch module. A module
is called as ``module(values, hour, weekday, mask)`` with values (batch, bins, inputs) float32, hour
and weekday (batch, bins) int64 or None, and mask (batch, bins) bool, True where a bin holds data,
or None. It returns logits of shape (batch, bins, outputs).

Examples
--------
>>> from bdl.encoders import Encoder, Recurrent
>>> Encoder.parse("forward-gru") == Recurrent(bidirectional=False)
True
"""

from bdl.encoders.encoder import Encoder as Encoder
from bdl.registry import exports

__getattr__, __dir__ = exports(Encoder)
