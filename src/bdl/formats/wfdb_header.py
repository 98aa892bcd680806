"""The header of a WFDB record, and its signal files, checked against each other."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

from bdl.errors import InputError, require
from bdl.formats.files import existing, reading

WHAT = "a WFDB record"
# Bytes per sample in each storage format whose length is fixed.
_BYTES = {"8": 1.0, "16": 2.0, "24": 3.0, "32": 4.0, "61": 2.0, "80": 1.0, "160": 2.0, "212": 1.5}


def read_header(file: Path) -> Any:
    """A record's header, its rate, length and file names checked."""
    wfdb = require("wfdb", "ecg")
    existing(file)
    with reading(file, WHAT), warnings.catch_warnings():
        warnings.simplefilter("ignore")
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
        with reading(file, WHAT), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = wfdb.rdheader(str(file.resolve().with_suffix("")), rd_segments=True)
            header.sig_name = header.sig_name or whole.get_sig_name()
    return header


def signal_files(file: Path, header: Any) -> list[Path]:
    """The signal files of a record, each at least as long as the header says."""
    if not hasattr(header, "file_name"):
        return [file.with_name(f"{name}.hea") for name in header.seg_name if name != "~"]
    names = list(dict.fromkeys(header.file_name))
    for name in names:
        signal_file = existing(file.with_name(name))
        rows = [i for i, other in enumerate(header.file_name) if other == name]
        each = [
            _BYTES.get(str(header.fmt[i]), 0.0) * (header.samps_per_frame[i] or 1) for i in rows
        ]
        needed = (header.byte_offset[rows[0]] or 0) + math.floor(sum(each) * header.sig_len)
        held = signal_file.stat().st_size
        if held < needed:
            raise InputError(
                f"{signal_file}: {needed:,} bytes belong to {header.sig_len:,} samples, the file "
                f"holds {held:,}; it is truncated"
            )
    return [file.with_name(name) for name in names]
