"""Pickled data frames, read by a loader that accepts data types and nothing else.

A pickle is a program: loading it calls whatever it names. This loader resolves only the names that
a data frame of numbers with a time index consists of, in old and new versions of pandas and
NumPy; any other name stops it before anything is called. A caller must still have been told that
the file is trusted, because the accepted constructors are a large body of code.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from bdl.errors import InputError, require
from bdl.formats.files import reading

_NUMPY = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy._core.numeric", "_frombuffer"),
}
_PANDAS = {
    ("pandas", "DataFrame"),
    ("pandas", "Index"),
    ("pandas", "DatetimeIndex"),
    ("pandas", "RangeIndex"),
    ("pandas.arrays", "DatetimeArray"),
    ("pandas.core.frame", "DataFrame"),
    ("pandas.core.internals.managers", "BlockManager"),
    ("pandas._libs.internals", "_unpickle_block"),
    ("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"),
    ("pandas.core.indexes.base", "_new_Index"),
    ("pandas.core.indexes.base", "Index"),
    ("pandas.core.indexes.range", "RangeIndex"),
    ("pandas.core.indexes.datetimes", "_new_DatetimeIndex"),
    ("pandas.core.indexes.datetimes", "DatetimeIndex"),
    ("pandas.core.arrays.datetimes", "DatetimeArray"),
    ("pandas._libs.tslibs.offsets", "Second"),
}
_BUILTIN = {("builtins", "slice"), ("__builtin__", "slice")}
ALLOWED = frozenset(_NUMPY | _PANDAS | _BUILTIN)


def _encode(text: str, encoding: str) -> bytes:
    """Old pickles store bytes as encoded text; only that one encoding is accepted."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes encoded as {encoding!r}")
    return text.encode("latin1")


class _RestrictedUnpickler(pickle.Unpickler):
    """An unpickler that resolves the accepted names only."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("_codecs", "encode"):
            return _encode
        if (module, name) not in ALLOWED:
            raise _NameRefusedError(f"{module}.{name}")
        if module.startswith("numpy.core"):
            module = module.replace("numpy.core", "numpy._core", 1)
        if module == "__builtin__":
            module = "builtins"
        return super().find_class(module, name)


class _NameRefusedError(pickle.UnpicklingError):
    """A pickle names something that is not accepted."""


def load_frame(path: Path) -> Any:
    """Read the pandas data frame of a pickle that the caller trusts."""
    pandas = require("pandas", "bowshock")
    with reading(path, "a pickled data frame"), path.open("rb") as file:
        try:
            frame = _RestrictedUnpickler(file).load()
        except _NameRefusedError as refused:
            raise InputError(
                f"{path}: the pickle names {refused}, which no data frame needs; nothing was run. "
                "Do not open this file by other means unless you know its author"
            ) from refused
    if type(frame) is not pandas.DataFrame:
        raise InputError(f"{path}: a data frame expected, got {type(frame).__name__}")
    return frame
