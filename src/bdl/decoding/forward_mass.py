"""Expected mass with a fixed look-ahead: the expected-AP decoder for streams.

Masses, scores and what a detection removes are those of `bdl.decoding.expected_ap`. That decoder
takes the best bin of the whole recording first; this one visits the bins in order of time. A visit
of bin ``b`` compares scores up to the bin ``b + a``, where ``a`` bins are the ``look_ahead``, and
needs the density up to the largest tolerance after that. A bin from ``b - a`` to ``b`` is taken if
its score is at least the threshold and no bin within reach that is compared (from ``b - a`` to
``b + a``) is better. This is repeated until there is none; then the next bin is visited. Reach is
the distance within which a detection changes scores.

So a detection is final at most twice the look-ahead and the largest tolerance later. With a
look-ahead as long as the recording the detections are those of the expected-AP decoder; with a
short one, those differ for which a better bin further away had to be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from bdl.config import Seconds
from bdl.decoding.candidates import ByType, Candidates
from bdl.decoding.decoder import Decoder
from bdl.decoding.incremental import BinClock
from bdl.decoding.incremental_rows import DecoderRows
from bdl.decoding.mass_decoder import MassDecoder, MassGrid
from bdl.density import Density
from bdl.intervals import IntervalType


class ForwardMass(MassDecoder):
    """Detections by expected mass, with a fixed look-ahead.

    Parameters
    ----------
    look_ahead
        Seconds after a bin that are compared with it before it can be taken. None for the largest
        tolerance, which `complete` sets.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([0.0, 0.2, 0.1, 0.6, 0.0], np.float32)[:, None]
    >>> density = Density("a", values, ("beat",), 1.0, stride=10, samples=50)
    >>> detections = ForwardMass(tolerances=(10.0, 30.0), look_ahead=50.0).decode(density)
    >>> detections.time.tolist(), detections.score.round(4).tolist()
    ([14.5, 24.5, 34.5], [0.1125, 0.0125, 0.775])
    """

    kind: Literal["forward-mass"] = "forward-mass"
    look_ahead: Seconds | None = None

    def complete(self, tolerances: Sequence[float]) -> Self:
        known = self.tolerances or tuple(tolerances) or None
        ahead = max(known) if self.look_ahead is None and known else self.look_ahead
        return self.replace(tolerances=known, look_ahead=ahead)

    @property
    def looks_ahead(self) -> str | None:
        return "alternation compares all events of the recording" if self.alternate else None

    def forward(self) -> Self:
        return self.replace(alternate=False)

    def incremental_rows(
        self, clock: BinClock, types: tuple[str, ...], intervals: tuple[IntervalType, ...] = ()
    ) -> DecoderRows:
        from bdl.decoding.incremental_mass import MassRows

        return MassRows(self.complete(()), clock, types)

    def candidates(self, density: Density, intervals: tuple[IntervalType, ...]) -> ByType:
        stream = self.incremental(BinClock(density.period, density.stride), density.types)
        final = stream.finish(density.values, density.samples)
        return {event: Candidates.in_order(part.time, part.score) for event, part in final.items()}


class ForwardMassGrid(MassGrid):
    """Settings of `ForwardMass`.

    Parameters
    ----------
    look_aheads
        Values to try, the simplest first; None is the largest tolerance.

    Examples
    --------
    >>> ForwardMassGrid(thresholds=(0.01,)).decoders((60.0,))[0].look_ahead
    60.0
    """

    decoder: ClassVar[type[Decoder]] = ForwardMass
    axes: ClassVar[dict[str, str]] = {**MassGrid.axes, "look_aheads": "look_ahead"}

    kind: Literal["forward-mass"] = "forward-mass"
    look_aheads: Annotated[tuple[Seconds | None, ...], Field(min_length=1)] = (None,)

    def forward(self) -> Self:
        return self.replace(alternations=(False,))
