"""Arrow arrays to and from NumPy: the same values as pyarrow's own conversions, without pandas."""

import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdl import arrow

NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")


@given(
    kind=st.sampled_from([*NUMBERS, *FLOATS, "bool_"]),
    values=st.lists(st.none() | st.integers(0, 100), max_size=40),
    cut=st.integers(0, 20),
)
def test_numbers_equal_pyarrow_s_own(kind, values, cut):
    if kind == "bool_":
        values = [None if value is None else value > 50 for value in values]
    array = pa.array(values, getattr(pa, kind)())[cut:]
    expected = array.to_numpy(zero_copy_only=False)
    if expected.dtype == object or array.null_count:
        expected = np.array([np.nan if v is None else v for v in array.to_pylist()], np.float64)
    ours = arrow.to_numpy(array)
    assert ours.dtype == expected.dtype
    np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal(arrow.to_numpy(pa.chunked_array([array, array])), [*expected] * 2)


@pytest.mark.parametrize("kind", [*NUMBERS, *FLOATS])
def test_numbers_go_and_come_back(kind):
    values = np.arange(6).astype(kind)
    assert arrow.from_numpy(values).equals(pa.array(values))
    assert arrow.from_numpy(values[::2]).equals(pa.array(values[::2]))
    assert len(arrow.from_numpy(values[:0])) == 0


@given(st.lists(st.text()))
def test_texts_equal_pyarrow_s_own(texts):
    made = arrow.from_texts(texts)
    made.validate(full=True)
    assert made.equals(pa.array(texts, pa.string()))


def test_what_is_no_text_is_null_or_an_error():
    assert arrow.from_texts(["a", None]).null_count == 1
    with pytest.raises(TypeError):
        arrow.from_texts(["a", 1])


def test_decimals_become_floats():
    numbers = [Decimal("1.5"), None]
    np.testing.assert_array_equal(arrow.to_numpy(pa.array(numbers)), [1.5, np.nan])


def test_pandas_is_not_imported():
    script = (
        "import sys, numpy as np; from bdl.arrow import *\n"
        "assert to_numpy(from_numpy(np.arange(3.0))).sum() == 3\n"
        "assert from_texts(['a', 'b']).to_pylist() == ['a', 'b']\n"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
