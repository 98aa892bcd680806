"""What decoders by expected mass have in common, and what their grids have."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, PositiveFloat

from bdl.config import Seconds
from bdl.decoding.decoder import Decoder
from bdl.decoding.grid import Grid, NonNegatives
from bdl.density import DensityKind
from bdl.errors import ConfigError

Share = Annotated[float, Field(gt=0, le=1)]
Positives = Annotated[tuple[PositiveFloat, ...], Field(min_length=1)]


class MassDecoder(Decoder):
    """Base class of decoders by expected mass.

    Parameters
    ----------
    threshold
        Least score, above 0. Detections of low score cost little precision and add recall, so the
        default is low.
    tolerances
        Tolerances of the metric in seconds. None for those of the evaluation, which `complete`
        sets.
    separation
        Least time between two detections of one type in seconds; 0 for none.
    unit
        Mass that counts as one event: the most that a window counts, and what a detection
        removes. 1 assumes that the density is calibrated. A larger unit avoids second detections
        of the same event where a model puts more than mass 1 around it.
    """

    reads: ClassVar[DensityKind] = "events"

    threshold: Share = 0.001
    tolerances: Positives | None = None
    separation: Seconds = 0.0
    unit: PositiveFloat = 1.0

    def known_tolerances(self) -> tuple[float, ...]:
        """The tolerances; None is an error."""
        if self.tolerances is None:
            raise ConfigError(
                f"the decoder {self.kind} needs the tolerances of the metric in seconds: set its "
                "tolerances (--tolerance on the command line)"
            )
        return self.tolerances


class MassGrid(Grid):
    """Base class of grids of decoders by expected mass.

    Parameters
    ----------
    thresholds
        Least scores, above 0.
    units, separations, alternations
        Values to try, the simplest first.
    tolerances
        Tolerances of the metric in seconds; None for those of the calibration.
    """

    axes: ClassVar[dict[str, str]] = {"units": "unit", "separations": "separation"}

    thresholds: Annotated[tuple[Share, ...], Field(min_length=1)] = (0.001, 0.005, 0.02)
    units: Positives = (1.0, 1.5, 2.0)
    separations: NonNegatives = (0.0,)
    tolerances: Positives | None = None
