"""Decoding: from a density to ranked, timed events, calibrated on data that is not reported on.

Times and parameters are in seconds. `Peaks` and `Transitions` are the paper's decoders;
`ExpectedAP` is the recommended one where the density is a mass of events.
"""

from bdl.decoding import intervals
from bdl.decoding.decoder import Decoder, decode, default, from_dict
from bdl.decoding.expected import ExpectedAP
from bdl.decoding.intervals import Interval, pair
from bdl.decoding.peaks import Peaks
from bdl.decoding.transitions import Transitions

__all__ = [
    "Decoder",
    "ExpectedAP",
    "Interval",
    "Peaks",
    "Transitions",
    "decode",
    "default",
    "from_dict",
    "intervals",
    "pair",
]
