"""Exported models: one ONNX file with the encoder as operators and all settings in its metadata.

The metadata has the entry ``bdl``, a JSON object: ``format``, the number of the format; ``model``,
the configuration (`bdl.detector.model.Model`); ``source``, the digest of the weights and the
configuration that were exported; and ``second_stage``, the arrays of the second stage, if there
is one. Other entries repeat parts of it for readers without this package. The last entry of the
file, ``bdl.digest``, is the SHA-256 digest of all bytes before it. Nothing that is read can run
code.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.boosting import ARRAYS, TYPES
from bdl.config import validate
from bdl.detector.model import OLDER_CALIBRATION, Model, with_second_stage
from bdl.errors import ConfigError, InputError
from bdl.formats.files import existing
from bdl.plain_data import parse_json
from bdl.rescoring import Rescorer

FORMAT = 3  # since 3 scores are calibrated by the model; 1 and 2 are still read
SUFFIX = ".onnx"
_KEY = b"bdl.digest"
# An entry of ``ModelProto.metadata_props`` (field 14): its tag and size, then key and value.
_SEAL = bytes([14 << 3 | 2, len(_KEY) + 68, 1 << 3 | 2, len(_KEY)]) + _KEY + bytes([2 << 3 | 2, 64])


def with_digest(content: bytes) -> bytes:
    """Return a serialised model with the digest of its bytes as its last entry of metadata.

    >>> with_digest(b"")[-64:] == hashlib.sha256(b"").hexdigest().encode()
    True
    """
    return content + _SEAL + hashlib.sha256(content).hexdigest().encode()


def read_sealed(path: str | Path) -> bytes:
    """Return the bytes of an exported model whose digest is right; otherwise an error."""
    file = existing(path)
    content = file.read_bytes()
    end = len(content) - 64
    body = content[: max(end - len(_SEAL), 0)]
    if content[len(body) : max(end, 0)] != _SEAL:
        raise InputError(
            f"{file}: not a complete model of `bdl export`; is it a model of another program, or "
            "was the copy or download cut off?"
        )
    if hashlib.sha256(body).hexdigest().encode() != content[end:]:
        raise InputError(
            f"{file}: its content does not match its digest: it was changed or damaged after it "
            "was written"
        )
    return content


def metadata_of(model: Model, rescorer: Rescorer | None, source: str) -> dict[str, str]:
    """Return the metadata of an exported model.

    Parameters
    ----------
    model
        The configuration.
    rescorer
        The second stage, if there is one.
    source
        Digest of the model that is exported.
    """
    second = None
    if rescorer is not None:
        second = {
            name: base64.b64encode(array.tobytes()).decode()
            for name, array in rescorer.arrays.items()
        }
    header = {
        "format": FORMAT,
        "model": model.model_dump_json(),
        "source": source,
        "second_stage": second,
    }
    unit = "expected events per bin" if model.objective.density_kind == "events" else "probability"
    plain = {
        "channels": model.channels,
        "period": f"{model.period!r} seconds per sample",
        "samples_per_bin": model.features.bin_samples,
        "outputs": model.outputs,
        "density": f"{unit}, of the bin {model.lag} bins earlier" if model.lag else unit,
        "features": json.loads(model.features.model_dump_json()),
        "decoder": json.loads(model.decoder.model_dump_json()),
        "source": source,
    }
    return {
        "bdl": json.dumps(header),
        **{f"bdl.{name}": _text(value) for name, value in plain.items()},
    }


def read_metadata(metadata: Mapping[str, str], file: str | Path) -> tuple[Model, Rescorer | None]:
    """Return the configuration and the second stage from the metadata of a file."""
    try:
        header: dict[str, Any] = parse_json(metadata["bdl"], file)
        number = int(header["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: its metadata are not understood ({error!r})") from error
    if not 1 <= number <= FORMAT:
        raise InputError(
            f"{file}: written in export format {number}, and this version reads 1 to {FORMAT}; "
            "export the model again with this version"
        )
    try:
        model: Model = validate(Model, parse_json(header["model"], file), str(file))
        second = header["second_stage"]
        return (model, None) if second is None else with_second_stage(model, _arrays(second))
    except (ConfigError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: a configuration that is not understood: {error}") from error


def _arrays(second: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    kinds = {**dict(zip(ARRAYS, TYPES, strict=True)), OLDER_CALIBRATION: "float64"}
    return {
        name: np.frombuffer(base64.b64decode(second[name]), dtype=kind)
        for name, kind in kinds.items()
        if name in second or name != OLDER_CALIBRATION
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
