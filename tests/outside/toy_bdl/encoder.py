"""An encoder: one linear layer per bin, scaled."""

from torch import nn

from bdl.encoders import Encoder


class Bins(nn.Module):
    """A linear layer that sees one bin at a time."""

    def __init__(self, inputs, outputs, gain):
        super().__init__()
        self.layer = nn.Linear(inputs, outputs)
        self.gain = gain

    def forward(self, values, *calendar):
        return self.gain * self.layer(values)


class PerBin(Encoder):
    """A linear layer per bin.

    Parameters
    ----------
    gain
        Factor on the output.
    """

    kind: str = "per-bin"
    gain: float = 1.0
    causal: bool = True

    def build(self, inputs, outputs, calendar):
        return Bins(inputs, outputs, self.gain)
