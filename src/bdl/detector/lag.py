"""Detectors with a lag: no part of them looks further ahead than the lag.

A detector with a lag of ``L`` bins has a forward encoder, whose output at a bin is the density of
the bin ``L`` earlier. It learns from the same targets as any other detector, each ``L`` bins later:
a training window of ``n`` bins is followed by ``L`` bins more, or by blank ones after the end of
the recording, and its outputs count from bin ``L`` on. So every visible event still carries one
unit of mass, and the last bins of a recording get their density from blank bins after it.

What would look further ahead is an error: bidirectional encoders, scaling by the statistics of a
whole recording, detection of bad data that needs later samples, rescoring by features around a
detection, and decoders that need the end of the recording. Defaults are replaced by their forward
forms: the default encoder (a forward GRU and causal trees), the automatic scaling (without scaling
per recording), the encoder and the second stage of a preset, and the decoder that is chosen on
held-out recordings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bdl.encoders import Encoder
from bdl.features import Features
from bdl.scaling import Scaling

if TYPE_CHECKING:
    from bdl.decoding import Decoder
    from bdl.detector.selection import Selection


def with_forward_defaults(fields: Mapping[str, Any], default: Encoder) -> dict[str, Any]:
    """Return the fields of a detector with a lag, with forward forms of its defaults.

    Parameters
    ----------
    fields
        Fields of `bdl.detector.DetectorSettings`, values or plain data.
    default
        The default encoder.

    Examples
    --------
    >>> with_forward_defaults({"lag": 5.0}, Encoder.parse("gru"))["encoder"].bidirectional
    False
    """
    forward = dict(fields)
    if forward.get("encoder", default) == default:
        forward["encoder"] = default.forward()
    features = forward.get("features", Features())
    if isinstance(features, Features):
        # A copy that keeps which fields were given.
        forward["features"] = features.model_copy(update={"scaling": features.scaling.forward()})
    elif isinstance(features, Mapping):
        scaling = features.get("scaling", Features.model_fields["scaling"].default)
        if not isinstance(scaling, str | Mapping | Scaling):
            return forward  # validation names what is wrong with it
        parsed = Scaling.parse(scaling, "features: scaling")
        forward["features"] = {**features, "scaling": parsed.forward()}
    return forward


def check_forward(
    encoder: Encoder, features: Features, selection: Selection, decoder: Decoder | None
) -> None:
    """Raise a ValueError that says what looks further ahead than a lag allows."""
    if not encoder.causal:
        other = encoder.forward()
        hint = f"give {other!r}" if other.causal else "give a recurrent encoder or causal trees"
        raise ValueError(
            f"lag: the encoder {encoder.kind!r} reads later bins without a limit; {hint} "
            "(--encoder)"
        )
    if features.quality is not None:
        raise ValueError(
            f"lag: quality: {features.quality.looks_ahead}, and a stream cannot wait for it; leave "
            "it out, or mark samples as missing where they are measured"
        )
    if features.scaling.needs_whole:
        raise ValueError(
            f"lag: scaling {features.scaling.kind!r} needs the whole recording, also what "
            "comes after a bin; give robust or automatic"
        )
    if selection.rescoring is not None:
        raise ValueError(
            "lag: rescoring reads the density on both sides of a detection; leave it out"
        )
    if decoder is not None and decoder.looks_ahead:
        raise ValueError(
            f"lag: the decoder {decoder.kind!r} may need the rest of the recording "
            f"({decoder.looks_ahead}); give {decoder.forward()!r}"
        )
