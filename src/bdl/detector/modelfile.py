"""Model files: one safetensors file with weights, and the whole configuration in its header.

The header's metadata has one entry, ``bdl``, a JSON object: ``format``, the number of the format;
``model``, the configuration; and ``digest``, a SHA-256 over the configuration and every weight's
name, type, shape and bytes. Reading runs no code: weights are plain numbers, the configuration is
validated field by field, and an unknown key, a newer format, a truncated or a changed file is an
error that says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, PositiveFloat, PositiveInt
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from bdl.config import Value, validate
from bdl.decoding import Decoder
from bdl.encoders import Encoder
from bdl.errors import ConfigError, InputError
from bdl.features import Features
from bdl.formats.files import atomic, existing
from bdl.intervals import IntervalType
from bdl.objectives import Objective
from bdl.training import Training

FORMAT = 1


class Model(Value):
    """All that a trained detector is, but for its weights.

    Parameters
    ----------
    channels, period : what a recording must have; seconds a sample.
    features : with learned scaling.
    levels : mean absolute feature of each channel in training, to notice other units.
    types, intervals : event types and interval types, in the order of training.
    objective : resolved.
    encoder : a value of `bdl.encoders`.
    window : bins of a training window.
    tile : most bins that inference takes at once.
    decoder : the frozen decoder.
    tolerances : of the metric, in seconds; may be empty.
    training : how it was trained.
    epoch : the epoch that these weights are of.
    versions : of the package and of torch that wrote it.
    """

    channels: tuple[str, ...] = Field(min_length=1)
    period: PositiveFloat
    features: Features
    levels: tuple[float, ...] = ()
    types: tuple[str, ...] = Field(min_length=1)
    intervals: tuple[IntervalType, ...] = ()
    objective: Objective
    encoder: Encoder
    window: PositiveInt
    tile: PositiveInt
    decoder: Decoder
    tolerances: tuple[PositiveFloat, ...] = ()
    training: Training
    epoch: PositiveInt
    versions: dict[str, str] = Field(default_factory=dict)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Name of each output column."""
        return self.objective.outputs(self.types, self.intervals)


def write_model(path: str | Path, model: Model, weights: Mapping[str, Tensor]) -> None:
    """Write a model file, whole or not at all; the same model gives the same bytes."""
    text = model.model_dump_json()
    plain = {name: weights[name].detach().cpu().contiguous() for name in sorted(weights)}
    header = {"format": FORMAT, "model": text, "digest": digest(text, plain)}
    # One entry only: safetensors writes several in no particular order.
    content = save(plain, {"bdl": json.dumps(header)})
    with atomic(path) as temporary:
        temporary.write_bytes(content)


def read_model(path: str | Path) -> tuple[Model, dict[str, Tensor]]:
    """Configuration and weights of a model file."""
    file = existing(path)
    try:
        with safe_open(file, framework="pt") as opened:
            header = _header(opened.metadata() or {}, file)
            weights = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{file}: not a whole model file ({error}); was the copy or download cut off?"
        ) from error
    text = header["model"]
    if digest(text, weights) != header["digest"]:
        raise InputError(
            f"{file}: its content does not fit its digest: it was changed or damaged after it was "
            "written"
        )
    try:
        model: Model = validate(Model, json.loads(text), str(file))
    except (ConfigError, ValueError) as error:
        raise InputError(f"{file}: a configuration that is not understood: {error}") from error
    return model, weights


def digest(text: str, weights: Mapping[str, Tensor]) -> str:
    """SHA-256 over the configuration and all weights."""
    total = hashlib.sha256(f"{FORMAT}\0{text}\0".encode())
    for name in sorted(weights):
        one = weights[name]
        total.update(f"{name}\0{one.dtype}\0{tuple(one.shape)}\0".encode())
        total.update(one.detach().cpu().contiguous().reshape(-1).numpy().tobytes())
    return total.hexdigest()


def _header(metadata: Mapping[str, str], file: Path) -> dict[str, Any]:
    if "bdl" not in metadata:
        raise InputError(f"{file}: a safetensors file, but not a model of this package")
    try:
        header = json.loads(metadata["bdl"])
        number = int(header["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: its header is not understood ({error!r})") from error
    if number > FORMAT:
        raise InputError(
            f"{file}: written in model format {number}, and this version reads up to {FORMAT}; "
            "upgrade the package"
        )
    if number < 1 or not (isinstance(header.get("model"), str) and "digest" in header):
        raise InputError(f"{file}: its header is not understood (format {number})")
    checked: dict[str, Any] = header
    return checked
