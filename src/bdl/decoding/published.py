"""The published grids of the paper's data sets, by the kind of density.

Where the paper does not give a number it is our choice: the window of the difference of means (10
minutes for sleep, 10 seconds for seizures), the occupancy level 0.5, and for bow shock and fraud
three thresholds and no smoothing.
"""

from __future__ import annotations

from typing import Any

from bdl.decoding.grid import Grid
from bdl.decoding.peaks import PeakGrid
from bdl.decoding.transitions import TransitionGrid
from bdl.density import Kind

_SLEEP: dict[str, Any] = {
    "smooths": (0.0, 50.0),
    "separation": 1800.0,
    "alternations": (False, True),
}
_CHBMIT: dict[str, Any] = {
    "thresholds": 11,
    "smooths": (0.0, 1.0, 2.0),
    "separation": 145.0,
    "alternations": (False, True),
}

PUBLISHED: dict[str, dict[Kind, Grid]] = {
    "sleep": {
        "events": PeakGrid(**_SLEEP),
        "state": TransitionGrid(windows=(600.0,), **_SLEEP),
    },
    "chbmit": {
        "events": PeakGrid(**_CHBMIT),
        "state": TransitionGrid(windows=(10.0,), **_CHBMIT),
    },
    "bowshock": {"events": PeakGrid(separation=4.0)},
    "fraud": {"events": PeakGrid(separation=1.0)},
}
