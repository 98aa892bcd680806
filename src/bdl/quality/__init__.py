"""Data quality: flat, clipped, repeated and non-wear stretches, reported or treated as missing."""

from bdl.quality.non_wear import NonWear
from bdl.quality.quality import KINDS, USUAL, Quality
from bdl.quality.stretches import Stretches, StretchKind

__all__ = ["KINDS", "USUAL", "NonWear", "Quality", "StretchKind", "Stretches"]
