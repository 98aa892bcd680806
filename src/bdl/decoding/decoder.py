"""Any decoder, and the function that applies one to many recordings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from bdl.config import validate
from bdl.decoding.detections import to_events, unique
from bdl.decoding.expected import ExpectedAP
from bdl.decoding.peaks import Peaks
from bdl.decoding.transitions import Transitions
from bdl.density import Density, Kind
from bdl.errors import ConfigError
from bdl.events import Events
from bdl.intervals import IntervalType

Decoder = Annotated[Peaks | ExpectedAP | Transitions, Field(discriminator="kind")]


def decode(
    densities: Iterable[Density],
    decoder: Peaks | ExpectedAP | Transitions,
    intervals: Sequence[IntervalType] = (),
) -> Events:
    """Scored events of many recordings, in their order, by type, then by time.

    >>> import numpy as np
    >>> values = np.array([[0.0], [0.4], [0.1]], np.float32)
    >>> decode([Density(id, values, ("beat",), 1.0, 1, 3) for id in "ab"], Peaks())
    Events: 2 in 2 recordings, scored
      beat  2
    """
    kinds = tuple(intervals)
    return to_events((one.recording, decoder.detect(one, kinds)) for one in unique(densities))


def from_dict(data: object, what: str = "decoder") -> Peaks | ExpectedAP | Transitions:
    """A decoder from plain data, as its ``model_dump`` gives it.

    >>> from_dict({"kind": "peaks", "cutoff": 0.5}).cutoff
    0.5
    >>> from_dict({"kind": "peak"})
    Traceback (most recent call last):
    bdl.errors.ConfigError: decoder: (whole): Input tag 'peak' found using 'kind' does not match...
    """
    made: Peaks | ExpectedAP | Transitions = validate(Decoder, data, what)
    return made


def default(
    kind: Kind,
    *,
    tolerances: Sequence[float] = (),
    bounded: bool = False,
    window: float | None = None,
    separation: float = 0.0,
) -> ExpectedAP | Transitions:
    """The recommended decoder where none has been calibrated.

    Parameters
    ----------
    kind : ``events`` (BDL, boundary BCE, localized MSE) gives the expected-AP decoder, ``state``
        (segmentation) the centred difference of means.
    tolerances : the metric's tolerances in seconds.
    bounded : outputs lie in [0, 1]; both kinds of mass are decoded alike.
    window : seconds on each side of a transition; the largest tolerance if not given.
    separation : least distance of two transitions of a type in seconds; expected AP needs none.

    >>> default("events", tolerances=(60.0, 180.0)).kind
    'expected-ap'
    >>> default("state", tolerances=(60.0, 180.0)).window
    180.0
    """
    if not tolerances:
        raise ConfigError("the default decoder needs the metric's tolerances in seconds")
    if kind == "state":
        return Transitions(
            scorer="difference",
            window=max(tolerances) if window is None else window,
            separation=separation,
        )
    return ExpectedAP(tolerances=tuple(tolerances))
