"""Model files: one safetensors file with weights, and the whole configuration in its header.

The metadata of the header has one entry, ``bdl``, a JSON object: ``format``, the number of the
format; ``model``, the configuration (`bdl.detector.model.Model`); and ``digest``, a SHA-256 digest
of the configuration and of the name, type, shape and bytes of every weight. Reading runs no code:
weights are plain numbers, and the configuration is validated field by field. An unknown key,
another format, a truncated or a changed file is an error that says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from bdl.config import validate
from bdl.detector.model import Model
from bdl.errors import ConfigError, InputError
from bdl.formats.files import atomic, existing

FORMAT = 2


def write_model(path: str | Path, model: Model, weights: Mapping[str, Tensor]) -> None:
    """Write a model file, completely or not at all; the same model gives the same bytes.

    Parameters
    ----------
    path
        File to write.
    model
        The configuration.
    weights
        Weights by name.
    """
    text = model.model_dump_json()
    plain = {name: weights[name].detach().cpu().contiguous() for name in sorted(weights)}
    header = {"format": FORMAT, "model": text, "digest": digest(text, plain)}
    # One entry only: safetensors writes several in no particular order.
    content = save(plain, {"bdl": json.dumps(header)})
    with atomic(path) as temporary:
        temporary.write_bytes(content)


def read_model(path: str | Path) -> tuple[Model, dict[str, Tensor]]:
    """Read configuration and weights of a model file.

    Parameters
    ----------
    path
        File that `write_model` wrote.
    """
    file = existing(path)
    try:
        with safe_open(file, framework="pt") as opened:
            header = _header(opened.metadata() or {}, file)
            weights = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{file}: not a complete model file ({error}); was the copy or download cut off?"
        ) from error
    text = header["model"]
    if digest(text, weights) != header["digest"]:
        raise InputError(
            f"{file}: its content does not match its digest: it was changed or damaged after it "
            "was written"
        )
    try:
        model: Model = validate(Model, json.loads(text), str(file))
    except (ConfigError, ValueError) as error:
        raise InputError(f"{file}: a configuration that is not understood: {error}") from error
    return model, weights


def digest(text: str, weights: Mapping[str, Tensor]) -> str:
    """Return the SHA-256 digest of a configuration and all weights."""
    total = hashlib.sha256(f"{FORMAT}\0{text}\0".encode())
    for name in sorted(weights):
        weight = weights[name]
        total.update(f"{name}\0{weight.dtype}\0{tuple(weight.shape)}\0".encode())
        total.update(weight.detach().cpu().contiguous().reshape(-1).numpy().tobytes())
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
            f"{file}: written in model format {number}, and this version reads {FORMAT}; upgrade "
            "the package"
        )
    if 1 <= number < FORMAT:
        raise InputError(
            f"{file}: written in model format {number} by an older version of the package, and "
            f"this version reads {FORMAT}; train it again, or use the older version"
        )
    if number < 1 or not (isinstance(header.get("model"), str) and "digest" in header):
        raise InputError(f"{file}: its header is not understood (format {number})")
    checked: dict[str, Any] = header
    return checked
