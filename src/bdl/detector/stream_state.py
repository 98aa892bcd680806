"""The state of a stream as bytes: a line that names the format, a digest, and safetensors.

Reading runs no code. Bytes that are cut off, damaged or of another version are an error that says
so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from bdl.errors import InputError
from bdl.formats.files import reading

FORMAT = 1
NAME = b"bdl stream "
STATE = "the state of a stream"
Parts = dict[str, dict[str, NDArray[Any]]]


def pack(header: Mapping[str, Any], parts: Mapping[str, Mapping[str, NDArray[Any]]]) -> bytes:
    """The bytes of a header of plain data, and of arrays by part and name.

    Examples
    --------
    >>> unpack(pack({"late": 2}, {"intake": {"pending": np.zeros(3)}}), "state")[0]
    {'late': 2}
    """
    arrays = {
        f"{part}/{name}": np.ascontiguousarray(array)
        for part, named in parts.items()
        for name, array in named.items()
    }
    text = json.dumps(dict(header)).encode()
    payload = len(text).to_bytes(8, "little") + text + save(arrays)
    digest = hashlib.sha256(payload).hexdigest().encode()
    return NAME + str(FORMAT).encode() + b" " + digest + b"\n" + payload


def unpack(saved: bytes, source: str) -> tuple[dict[str, Any], Parts]:
    """What `pack` was given; ``source`` is where the bytes come from, for errors."""
    line, _, payload = saved.partition(b"\n")
    words = line[len(NAME) :].split(b" ")
    if not line.startswith(NAME) or len(words) != 2:
        raise InputError(f"{source}: not the state of a stream")
    if words[0] != str(FORMAT).encode():
        raise InputError(
            f"{source}: the state of a stream in format {words[0].decode(errors='replace')}, and "
            f"this version reads {FORMAT}"
        )
    if hashlib.sha256(payload).hexdigest().encode() != words[1]:
        raise InputError(f"{source}: the state of a stream, but cut off or damaged")
    size = int.from_bytes(payload[:8], "little")
    with reading(source, STATE):
        header = dict(json.loads(payload[8 : 8 + size]))
        arrays = load(payload[8 + size :])
    parts: Parts = {}
    for name, array in arrays.items():
        part, _, array_name = name.partition("/")
        parts.setdefault(part, {})[array_name] = array
    return header, parts


def check_arrays(saved: Parts, fresh: Parts) -> None:
    """Raise an error unless a state has the arrays of a fresh one; their lengths may differ.

    Examples
    --------
    >>> fresh = {"intake": {"pending": np.zeros((0, 2))}}
    >>> check_arrays({"intake": {"pending": np.zeros(3)}}, fresh)
    Traceback (most recent call last):
    ValueError: ('pending', 'float64', 2) expected in intake, got ('pending', 'float64', 1)
    """
    for part, arrays in fresh.items():
        all_expected, all_actual = (
            sorted((name, str(array.dtype), array.ndim) for name, array in named.items())
            for named in (arrays, saved[part])
        )
        for expected, actual in zip(all_expected, all_actual, strict=True):
            if expected != actual:
                raise ValueError(f"{expected} expected in {part}, got {actual}")
