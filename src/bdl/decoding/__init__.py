"""Decoding: from a density to ranked, timed detections, calibrated on data that is not reported on.

Times and parameters are in seconds. Every decoder is one file of this package, with the grid of
settings that a calibration tries: `Peaks` and `Transitions` are the paper's decoders; `ExpectedAP`
is the recommended one for densities of events.
"""

from typing import Any

from bdl.decoding.calibration import Calibration, Trial, calibrate
from bdl.decoding.decoder import Decoder, decode, default_decoder
from bdl.decoding.grid import Grid, GridSettings, default_grid, paper_grid
from bdl.registry import exports

__all__ = [
    "Calibration",
    "Decoder",
    "Grid",
    "GridSettings",
    "Trial",
    "calibrate",
    "decode",
    "default_decoder",
    "default_grid",
    "paper_grid",
]

_families = [exports(Decoder), exports(Grid)]


def __getattr__(name: str) -> Any:
    for get, names in _families:
        if not name.startswith("_") and name in names():
            return get(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for _, names in _families for name in names())})
