"""The MIT annotation format of WFDB, decoded in one bounded pass, and encoded.

A file is a sequence of little-endian 16-bit words: six bits of code, ten of interval in samples
since the annotation before. Code 59 (skip) is followed by a 32-bit interval, high word first; 60 to
62 set fields that are not part of an event; 63 is followed by a note of that many bytes, padded to
an even number. A zero word ends the file. Notes at sample 0 that begin with ``##`` define the
sampling rate and the file's own labels: a code, a symbol of at most three characters and a
description. Any other name that we write is the description of the symbol ``#CODE``, with
everything but visible ASCII percent-encoded. The library wfdb is not used, as it can loop forever
on a damaged file.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError, some
from bdl.formats.files import existing

# Symbol of every code in order; codes without a meaning have a blank.
_SYMBOLS = ' NLRaVFJASEj/Q~ | sT*D"=pB^t+u?![]en@xf()r'
SYMBOLS = frozenset(_SYMBOLS) - {" "}
_NOTE, _SKIP, _NUMBER, _CHANNEL, _AUX = 22, 59, 60, 62, 63
_FREE = (*range(42, 50), 15, 17)  # codes without a meaning, for the file's own labels
_VISIBLE = "".join(set(string.punctuation) - {"%"})
_RATE = re.compile(r"^## time resolution: ([0-9]+\.?[0-9]*)$")
_OWN = re.compile(r"^([0-9]+) (\S+) ?(.*)$")


@dataclass
class MitAnnotations:
    """Sample, symbol and note of each annotation of a file, and the rate that it states, if any."""

    samples: NDArray[np.int64]
    symbols: list[str]
    notes: list[str]
    rate: float | None


@dataclass
class _Row:
    """One annotation, or a definition: a note at sample 0."""

    sample: int
    code: int
    note: str = ""

    @property
    def defines(self) -> bool:
        return self.sample == 0 and self.code == _NOTE and bool(self.note)


def read_annotation_file(path: str | Path) -> MitAnnotations:
    """Decode an annotation file; one that ends early or runs backwards is an error.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.atr"
    >>> _ = file.write_bytes(bytes([100, 4, 50, 20, 0, 0]))
    >>> read_annotation_file(file).samples.tolist(), read_annotation_file(file).symbols
    ([100, 150], ['N', 'V'])
    """
    file = existing(path)
    rows = _rows(file.read_bytes(), file)
    rate, names = _definitions(rows)
    events = [row for row in rows if row.code and not row.defines]
    samples = np.array([row.sample for row in events], dtype=np.int64)
    if len(samples) and (samples[0] < 0 or (np.diff(samples) < 0).any()):
        raise InputError(f"{file}: annotations run backwards in time; the file is damaged")
    symbols = []
    for row in events:
        standard = _SYMBOLS[row.code] if row.code < len(_SYMBOLS) else " "
        symbol = names.get(row.code, standard)
        if symbol == " ":
            raise InputError(
                f"{file}: annotation code {row.code} at sample {row.sample} has no meaning; the "
                "file is damaged"
            )
        symbols.append(symbol)
    return MitAnnotations(samples, symbols, [row.note for row in events], rate)


def _rows(raw: bytes, file: Path) -> list[_Row]:
    rows: list[_Row] = []
    byte, sample = 0, 0
    while byte + 2 <= len(raw):
        word = raw[byte] | raw[byte + 1] << 8
        byte += 2
        code, interval = word >> 10, word & 0x3FF
        if word == 0:
            return rows
        if code == _SKIP:
            high, low = (raw[byte + i : byte + i + 2] for i in (0, 2))
            if len(low) < 2:
                break
            skip = int.from_bytes(high, "little") << 16 | int.from_bytes(low, "little")
            sample += skip - (1 << 32) if skip >= 1 << 31 else skip
            byte += 4
        elif code == _AUX:
            text = raw[byte : byte + interval]
            if len(text) < interval or not rows:
                break
            rows[-1].note = text.decode("utf-8", "replace").replace("\x00", "").strip()
            byte += interval + interval % 2
        elif _NUMBER <= code <= _CHANNEL:
            continue
        else:
            sample += interval
            rows.append(_Row(sample, code))
    raise InputError(f"{file}: the file ends within its annotations; it is truncated")


def encode_annotations(
    samples: Sequence[int] | NDArray[np.int64], symbols: Sequence[str], rate: float
) -> bytes:
    """The bytes of an annotation file.

    Samples are in order, from 0 on. Names that are not symbols of WFDB are defined in the file,
    which also states the rate in samples per second.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.bdl"
    >>> _ = file.write_bytes(encode_annotations([5, 90_000], ["N", "sleep onset"], 250.0))
    >>> annotations = read_annotation_file(file)
    >>> annotations.samples.tolist(), annotations.symbols, annotations.rate
    ([5, 90000], ['N', 'sleep onset'], 250.0)
    """
    names = sorted({*symbols} - SYMBOLS)
    if len(names) > len(_FREE):
        raise InputError(
            f"a WFDB annotation file has room for {len(_FREE)} names that are not symbols of WFDB, "
            f"got {len(names)}: {some(names, most=12)}"
        )
    codes = dict(zip(names, _FREE, strict=False))
    decimal = np.format_float_positional(rate, trim="-")
    raw = _definition(f"## time resolution: {decimal}")
    if names:
        raw += _definition("## annotation type definitions")
        for name in names:
            code, word = codes[name], quote(name, safe=_VISIBLE)
            symbol = name if word == name and len(name) <= 3 else f"#{code}"
            raw += _definition(f"{code} {symbol} {word}")
        raw += _definition("## end of definitions")
    codes |= {symbol: code for code, symbol in enumerate(_SYMBOLS) if symbol != " "}
    parts, at = [raw], 0
    for sample, symbol in zip(samples, symbols, strict=True):
        interval, at = int(sample) - at, int(sample)
        while interval > 0x3FF:
            skip = min(interval, (1 << 31) - 1)
            words = (_SKIP << 10, skip >> 16, skip & 0xFFFF)
            parts += [word.to_bytes(2, "little") for word in words]
            interval -= skip
        parts.append((codes[symbol] << 10 | interval).to_bytes(2, "little"))
    return b"".join([*parts, b"\0\0"])


def _definition(text: str) -> bytes:
    """A note at sample 0."""
    note = text.encode()
    if len(note) > 255:
        raise InputError(f"a WFDB note has at most 255 bytes; too long: {text[:60]}...")
    words = (_NOTE << 10).to_bytes(2, "little") + (_AUX << 10 | len(note)).to_bytes(2, "little")
    return words + note + b"\0" * (len(note) % 2)


def _definitions(rows: list[_Row]) -> tuple[float | None, dict[int, str]]:
    """Sampling rate and labels that the file defines."""
    rate, names, inside = None, {}, False
    for row in rows:
        if not row.defines:
            continue
        if match := _RATE.match(row.note):
            rate = float(match[1]) or None
        elif row.note == "## annotation type definitions":
            inside = True
        elif row.note == "## end of definitions":
            inside = False
        elif inside and (match := _OWN.match(row.note)) and int(match[1]) < _SKIP:
            names[int(match[1])] = unquote(match[3]) if match[2] == f"#{match[1]}" else match[2]
    return rate, names
