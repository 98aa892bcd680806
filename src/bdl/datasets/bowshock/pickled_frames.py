"""A pickled data frame, opened by a loader that knows data types and nothing else.

A pickle is a program: loading it calls whatever it names. Here only the names are looked up that
a data frame of numbers with a time index is made of (old and new spellings of pandas and NumPy);
any other name ends the reading before anything was called. Even so a caller must have said that
the file is trusted, since the allowed constructors are a large body of code.
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
    """Old pickles spell bytes as encoded text; nothing but that one encoding is allowed."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes encoded as {encoding!r}")
    return text.encode("latin1")


class _Loader(pickle.Unpickler):
    """An unpickler that finds the allowed names only."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("_codecs", "encode"):
            return _encode
        if (module, name) not in ALLOWED:
            raise _Refused(f"{module}.{name}")
        if module.startswith("numpy.core"):
            module = module.replace("numpy.core", "numpy._core", 1)
        if module == "__builtin__":
            module = "builtins"
        return super().find_class(module, name)


class _Refused(pickle.UnpicklingError):
    """A pickle named something that is not on the list."""


def load_frame(path: Path) -> Any:
    """The pandas data frame of a pickle that its caller trusts.

    >>> import os, tempfile
    >>> class Hostile:
    ...     def __reduce__(self):
    ...         return os.system, ("echo ran",)
    >>> file = Path(tempfile.mkdtemp()) / "x.pkl"
    >>> _ = file.write_bytes(pickle.dumps(Hostile()))
    >>> load_frame(file)
    Traceback (most recent call last):
    bdl.errors.InputError: ...x.pkl: the pickle asks for posix.system, which no data frame needs...
    """
    pandas = require("pandas", "bowshock")
    with reading(path, "a pickled data frame"), path.open("rb") as file:
        try:
            frame = _Loader(file).load()
        except _Refused as refused:
            raise InputError(
                f"{path}: the pickle asks for {refused}, which no data frame needs; nothing was "
                "run. Do not open this file by other means unless you know its author"
            ) from refused
    if type(frame) is not pandas.DataFrame:
        raise InputError(f"{path}: a data frame expected, got {type(frame).__name__}")
    return frame
