"""Mutations of a file: bytes changed, cut, doubled, moved; numbers that lie; nesting."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.random import Generator

# What headers of files and configurations must not be believed about.
NUMBERS = (b"-1", b"0", b"nan", b"inf", b"1e999", b"-1e308", b"2147483647", b"4294967296", b"1e18")
NUMBERS += (b"9223372036854775807", b"18446744073709551616", b"0.0000000001", b"9" * 400, b"true")
WORDS = (
    b"null",
    b"[]",
    b"{}",
    b'"x"',
    b"[" * 2000,
    b"{a: " * 500,
    b"\xff\xfe",
    b"\\ud800",
    b"\x00",
)
WORDS += (b"../../x", b"/etc/passwd", b"&a [*a, *a]", b"!!python/object:os.system", b"\n", b",,,,")
EXTREMES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1)
VALUES: tuple[Any, ...] = (None, True, -1, 0, 2**31, 2**64, 10**400, 0.5, 1e300, float("nan"))
VALUES += ("", "x", "x" * 5000, "\ud800", "../../x", [], {}, [[]], {"a": 1}, [1.5, "x"])
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb'"[^"]{0,60}"|[A-Za-z_]{2,30}')


def mutate(raw: bytes, rng: Generator) -> bytes:
    """A file with one to four changes.

    >>> mutate(b"abcdef", np.random.default_rng(0)) == mutate(b"abcdef", np.random.default_rng(0))
    True
    """
    if rng.random() < 0.02:
        return rng.bytes(int(rng.integers(0, 300)))
    if raw[:1] in (b"{", b"[") and rng.random() < 0.3:
        return mutate_json(raw, rng)
    out = bytearray(raw)
    for _ in range(int(rng.integers(1, 5))):
        out = _changed(out, rng)
    return bytes(out)


def mutate_json(raw: bytes, rng: Generator) -> bytes:
    """JSON, or lines of it, that is still JSON, with another value, or none, at one or two places.

    >>> mutate_json(b'{"a": [1]}', np.random.default_rng(0))
    b'{"a": [{"a": 1}]}'
    """
    lines = raw.split(b"\n")
    try:
        whole = [json.loads(line) for line in lines if line]
    except ValueError:
        try:
            whole = [json.loads(raw)]
        except ValueError:
            return raw
    for _ in range(int(rng.integers(1, 3))):
        holder: Any = whole
        while True:
            keys = [*holder] if isinstance(holder, dict) else [*range(len(holder))]
            if not keys:
                break
            key = keys[int(rng.integers(0, len(keys)))]
            if not isinstance(holder[key], dict | list) or rng.random() < 0.2:
                chosen = int(rng.integers(0, len(VALUES) + 1))
                if chosen < len(VALUES):
                    holder[key] = deepcopy(VALUES[chosen])  # a later change may go into it
                else:
                    del holder[key]
                break
            holder = holder[key]
    return b"\n".join(json.dumps(line).encode() for line in whole)


def _changed(out: bytearray, rng: Generator) -> bytearray:
    at = int(rng.integers(0, max(1, len(out))))
    length = int(rng.choice([1, 1, 2, 4, 8, 64, 512]))
    kind = int(rng.integers(0, 10))
    if kind == 0:
        out[at : at + length] = rng.bytes(length)
    elif kind == 1:
        del out[at : at + length]
    elif kind == 2:
        out[at:at] = out[at : at + length] * int(rng.choice([1, 1, 2, 50]))
    elif kind == 3 and out:
        out[at] ^= 1 << int(rng.integers(0, 8))
    elif kind == 4 and rng.random() < 0.3:
        del out[at:]
    elif kind == 5:  # an integer in a binary header
        size = int(rng.choice([1, 2, 4, 8]))
        number = int(rng.choice(np.array(EXTREMES, dtype=np.uint64))) % (1 << (8 * size))
        out[at : at + size] = number.to_bytes(size, str(rng.choice(["little", "big"])))  # type: ignore[arg-type]
    elif kind == 6:
        _replace(out, _NUMBER, NUMBERS, rng)
    elif kind == 7:
        _replace(out, _WORD, NUMBERS + WORDS, rng)
    elif kind == 8:
        out[at:at] = WORDS[int(rng.integers(0, len(WORDS)))]
    else:  # a part from elsewhere in the file
        begin = int(rng.integers(0, max(1, len(out))))
        out[at : at + length] = out[begin : begin + length]
    return out


def _replace(
    out: bytearray, pattern: re.Pattern[bytes], by: tuple[bytes, ...], rng: Generator
) -> None:
    spans = [match.span() for match in pattern.finditer(bytes(out))]
    if spans:
        first, last = spans[int(rng.integers(0, len(spans)))]
        out[first:last] = by[int(rng.integers(0, len(by)))]
