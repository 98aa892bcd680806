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
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from bdl.boosting import TreeEnsemble
from bdl.config import validate
from bdl.detector.model import Model
from bdl.errors import ConfigError, InputError
from bdl.formats.files import atomic, existing
from bdl.rescoring import Rescorer

FORMAT = 3
SECOND_STAGE = "@second-stage."  # no attribute of a module has such a name


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


def all_weights(module: nn.Module, rescorer: Rescorer | None) -> dict[str, Tensor]:
    """Return the weights of a module and of its second stage by name."""
    weights = dict(module.state_dict())
    for array in fields(rescorer.trees) if rescorer else ():
        values = np.array(getattr(rescorer.trees, array.name))  # type: ignore[union-attr]
        weights[SECOND_STAGE + array.name] = torch.from_numpy(values)
    return weights


def split_weights(
    path: str | Path, weights: Mapping[str, Tensor]
) -> tuple[dict[str, Tensor], Rescorer | None]:
    """Return the weights of the module, and the second stage if there is one."""
    module = {name: value for name, value in weights.items() if not name.startswith(SECOND_STAGE)}
    if len(module) == len(weights):
        return module, None
    names = [array.name for array in fields(TreeEnsemble)]
    missing = [name for name in names if SECOND_STAGE + name not in weights]
    if missing or len(weights) - len(module) != len(names):
        raise InputError(f"{path}: the arrays of its second stage are not complete")
    arrays = {name: weights[SECOND_STAGE + name].numpy() for name in names}
    return module, Rescorer(TreeEnsemble(**arrays))


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
