"""Model files: one safetensors file with weights, and the whole configuration in its header.

The metadata of the header has one entry, ``bdl``, a JSON object: ``format``, the number of the
format; ``model``, the configuration (`bdl.detector.model.Model`); and ``digest``, a SHA-256 digest
of the configuration and of the name, type, shape and bytes of every weight. Reading runs no code:
weights are plain numbers, and the configuration is validated field by field. An unknown key,
another format, a truncated or a changed file is an error that says so. The encoder is built only
if the file holds as many weights as it has, so that a wrong size in the configuration cannot
exhaust the memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from bdl.boosting import ARRAYS
from bdl.config import validate
from bdl.detector.model import OLDER_CALIBRATION, Model, with_second_stage
from bdl.errors import ConfigError, InputError
from bdl.formats.atomic_files import atomic
from bdl.formats.files import existing
from bdl.plain_data import parse_json
from bdl.pretrained import model_file
from bdl.rescoring import Rescorer

FORMAT = 3
SECOND_STAGE = "@second-stage."  # no attribute of a module has such a name
_TYPES = {"F64", "F32", "F16", "I64", "I32", "I16", "I8", "U8", "BOOL"}


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
    header = {"format": FORMAT, "model": text, "digest": model_digest(text, plain)}
    # One entry only: safetensors writes several in no particular order.
    content = save(plain, {"bdl": json.dumps(header)})
    with atomic(path) as temporary:
        temporary.write_bytes(content)


def read_model(path: str | Path) -> tuple[Model, dict[str, Tensor]]:
    """Read configuration and weights of a model file.

    Parameters
    ----------
    path
        File that `write_model` wrote, or the name of a model of `bdl.pretrained`.
    """
    file = existing(model_file(path))
    try:
        with safe_open(file, framework="pt") as opened:
            header = _header(opened.metadata() or {}, file)
            names = [*opened.keys()]
            for name in names:
                kind = opened.get_slice(name).get_dtype()
                if kind not in _TYPES:
                    raise InputError(
                        f"{file}: weight {name!r:.100} is of type {kind}, not a number"
                    )
            weights = {name: opened.get_tensor(name) for name in names}
    except (SafetensorError, OSError, ValueError, OverflowError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{file}: not a complete model file, as `bdl fit` writes it; is it another file, or "
            "was the copy or download cut off?"
        ) from error
    text = header["model"]
    if model_digest(text, weights) != header["digest"]:
        raise InputError(
            f"{file}: its content does not match its digest: it was changed or damaged after it "
            "was written"
        )
    try:
        model: Model = validate(Model, parse_json(text, file), str(file))
    except (ConfigError, ValueError) as error:
        raise InputError(f"{file}: a configuration that is not understood: {error}") from error
    return model, weights


def all_weights(module: nn.Module, rescorer: Rescorer | None) -> dict[str, Tensor]:
    """Return the weights of a module and of its second stage by name."""
    weights = dict(module.state_dict())
    for name, values in rescorer.arrays.items() if rescorer else ():
        weights[SECOND_STAGE + name] = torch.from_numpy(np.array(values))
    return weights


def split_weights(
    path: str | Path, model: Model, weights: Mapping[str, Tensor]
) -> tuple[Model, dict[str, Tensor], Rescorer | None]:
    """Return the model, the weights of its module, and the second stage if there is one."""
    module = {name: value for name, value in weights.items() if not name.startswith(SECOND_STAGE)}
    if len(module) == len(weights):
        return model, module, None
    arrays = {
        name.removeprefix(SECOND_STAGE): value.numpy()
        for name, value in weights.items()
        if name not in module
    }
    if not {*ARRAYS} <= {*arrays} <= {*ARRAYS, OLDER_CALIBRATION}:
        raise InputError(f"{path}: the arrays of its second stage are not complete")
    try:
        model, rescorer = with_second_stage(model, arrays)
    except (InputError, ConfigError, ValueError) as error:
        raise InputError(f"{path}: second stage: {error}") from error
    return model, module, rescorer


def check_size(path: str | Path, module: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Raise an error if a module has more numbers than the weights of a file.

    Parameters
    ----------
    path
        The file, for messages.
    module
        The module; on the device ``meta`` it takes no memory.
    weights
        Weights by name.
    """
    needed = sum(weight.numel() for weight in module.state_dict().values())
    held = sum(weight.numel() for weight in weights.values())
    if needed > held:
        raise InputError(
            f"{path}: its weights do not fit the encoder, which has {needed:,} numbers; the file "
            f"holds {held:,}"
        )


def model_digest(text: str, weights: Mapping[str, Tensor]) -> str:
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
        header = parse_json(metadata["bdl"], file)
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
