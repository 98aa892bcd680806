"""The header of a WFDB record, and its signal files, checked against each other.

The library wfdb trusts the lengths in a header and takes milliseconds for each of its lines. Lines
are therefore counted before it parses them, and lengths compared with the files afterwards, those
of every segment included.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

from bdl.errors import InputError, require
from bdl.formats.files import existing, reading
from bdl.limits import check_expansion

WHAT = "a WFDB record"
# Bytes per sample in each storage format; the compressed ones (FLAC) have no fixed length.
_BYTES = {"8": 1.0, "16": 2.0, "24": 3.0, "32": 4.0, "61": 2.0, "80": 1.0, "160": 2.0, "212": 1.5}
_BYTES |= {"310": 4 / 3, "311": 4 / 3, "508": 0.0, "516": 0.0, "524": 0.0}
_LINES = 1_000  # of signals or segments


def read_header(file: Path) -> Any:
    """A record's header, its rate, length and file names checked."""
    wfdb = require("wfdb", "ecg")
    existing(file)
    with reading(file, WHAT), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _check_lines(file)
        header = wfdb.rdheader(str(file.resolve().with_suffix("")))
        rate, length = float(header.fs), header.sig_len
    if not (math.isfinite(rate) and rate > 0):
        raise InputError(f"{file}: a positive sampling rate expected, got {rate}")
    if length is None or not 0 <= length < 2**48:
        raise InputError(f"{file}: the header does not say how long the record is; got {length}")
    for name in (*(getattr(header, "file_name", None) or ()), *(getattr(header, "seg_name", ()))):
        # A header is data from outside: it must not open files elsewhere, or over the network.
        if any(mark in name for mark in ("/", "\\", ":", "\x00")) or name in ("", ".", ".."):
            raise InputError(f"{file}: the signal file {name!r} must be beside the header")
    if not header.n_sig or (hasattr(header, "file_name") and not header.sig_name):
        raise InputError(f"{file}: the record has no signals")
    if not hasattr(header, "file_name"):
        for segment in _segments(file, header):
            read_header(segment)
        with reading(file, WHAT), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with_segments = wfdb.rdheader(str(file.resolve().with_suffix("")), rd_segments=True)
            header.sig_name = header.sig_name or with_segments.get_sig_name()
    return header


def _check_lines(file: Path) -> None:
    """Raise an error if a header has more lines, or claims more signals, than it may."""
    raw = file.read_bytes().splitlines()
    lines = [line for line in raw if line.strip() and not line.lstrip().startswith(b"#")]
    fields = lines[0].split() if lines else []
    signals = int(fields[1]) if len(fields) > 1 else 0
    if max(signals, len(lines) - 1) > _LINES:
        raise InputError(
            f"{file}: {max(signals, len(lines) - 1):,} signals or segments; at most {_LINES:,} "
            "expected"
        )


def _segments(file: Path, header: Any) -> list[Path]:
    """The headers of a record's segments, each once; gaps have none."""
    names = dict.fromkeys(name for name in header.seg_name if name != "~")
    if file.stem in names:
        raise InputError(f"{file}: the record is a segment of itself")
    return [file.with_name(f"{name}.hea") for name in names]


def signal_files(file: Path, header: Any) -> list[Path]:
    """The signal files of a record, each at least as long as the header says."""
    if not hasattr(header, "file_name"):
        segments = _segments(file, header)
        files = [file for path in segments for file in signal_files(path, read_header(path))]
        held = sum(file.stat().st_size for file in files)
        check_expansion(8 * header.sig_len * header.n_sig, held, file)
        return segments
    names = list(dict.fromkeys(header.file_name))
    for name in names:
        signal_file = existing(file.with_name(name))
        rows = [i for i, other in enumerate(header.file_name) if other == name]
        unknown = [header.fmt[i] for i in rows if str(header.fmt[i]) not in _BYTES]
        if unknown:
            raise InputError(
                f"{file}: storage format {unknown[0]} is not known; expected one of "
                f"{', '.join(_BYTES)}"
            )
        sizes = [_BYTES[str(header.fmt[i])] * (header.samps_per_frame[i] or 1) for i in rows]
        needed = (header.byte_offset[rows[0]] or 0) + math.floor(sum(sizes) * header.sig_len)
        held = signal_file.stat().st_size
        if held < needed:
            raise InputError(
                f"{signal_file}: {needed:,} bytes belong to {header.sig_len:,} samples, the file "
                f"holds {held:,}; it is truncated"
            )
        frames = sum(header.samps_per_frame[i] or 1 for i in rows)
        check_expansion(8 * frames * header.sig_len, held, signal_file)
    return [file.with_name(name) for name in names]
