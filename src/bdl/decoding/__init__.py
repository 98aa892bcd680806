"""Decoding: from a density to ranked, timed events, calibrated on data that is not reported on.

Times and parameters are in seconds. `Peaks` and `Transitions` are the paper's decoders;
`ExpectedAP` is the recommended one where the density is a mass of events.
"""

from bdl.decoding.calibration import Calibration, Trial, calibrate, grid_from_dict
from bdl.decoding.decoder import Decoder, decode, default, from_dict
from bdl.decoding.expected import ExpectedAP
from bdl.decoding.grids import ExpectedAPGrid, Grid, PeakGrid, TransitionGrid, preset
from bdl.decoding.peaks import Peaks
from bdl.decoding.transitions import Transitions

__all__ = [
    "Calibration",
    "Decoder",
    "ExpectedAP",
    "ExpectedAPGrid",
    "Grid",
    "PeakGrid",
    "Peaks",
    "TransitionGrid",
    "Transitions",
    "Trial",
    "calibrate",
    "decode",
    "default",
    "from_dict",
    "grid_from_dict",
    "preset",
]
