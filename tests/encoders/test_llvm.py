"""The generated vector code against numpy, in both precisions and at every vector width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bdl.encoders.fused import functions
from bdl.encoders.fused.llvm import WORD, Code, lanes_for
from bdl.encoders.fused.norm_kernels import GROUP, row_sum
from bdl.encoders.vectors import VARIABLE, available_bits, vector_bits
from bdl.errors import ConfigError

FUNCTIONS: dict[str, tuple[Callable[[Code, Any], Any], Callable[[Any], Any], float]] = {
    # name: code, numpy, largest argument
    "exp": (functions.exp, np.exp, 80.0),
    "tanh": (functions.tanh, np.tanh, 60.0),
    "sigmoid": (
        lambda c, x: functions.sigmoids(c, x, x)[1],
        lambda x: 1 / (1 + np.exp(-x)),
        60.0,
    ),
    "inverse": (
        lambda c, x: functions.inverse(c, functions.exp(c, x)),
        lambda x: 1 / np.exp(x),
        30.0,
    ),
}
REALS = {"float": np.float32, "double": np.float64}


def _apply(name: str, real: str, x: Any) -> Any:
    lanes = lanes_for(64, real)
    code = Code(f"test_{name}", ("count", "x*", "y*"), real, lanes)

    def body(i: Any) -> None:
        offset = code.times(i, lanes)
        code.store(FUNCTIONS[name][0](code, code.load(code["x"], offset)), code["y"], offset)

    code.each(code["count"], body)
    y = np.empty_like(x)
    code.compile()(len(x) // lanes, x.ctypes.data, y.ctypes.data)
    return y


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, real: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, expected, most = FUNCTIONS[name]
    x = np.linspace(-most, most, 64_000)
    x = np.concatenate([x, np.geomspace(1e-6, 1, 6_400), -np.geomspace(1e-6, 1, 6_400)])
    x = x.astype(REALS[real])
    results = []
    for bits in available_bits():
        monkeypatch.setenv(VARIABLE, str(bits))
        results.append(_apply(name, real, x))
    truth = expected(x.astype(np.longdouble))
    step = np.finfo(REALS[real]).eps
    # The logistic functions are held to the last digits of 1, the others relatively.
    scale = np.ones_like(truth) if name in ("tanh", "sigmoid") else truth
    assert np.max(np.abs(results[0] - truth) / scale) < 4 * step
    for result in results[1:]:
        assert np.array_equal(result, results[0])


@pytest.mark.parametrize("real", REALS)
def test_row_sums_are_the_same_at_every_width(real: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).normal(size=GROUP).astype(REALS[real])
    results = []
    for bits in available_bits():
        monkeypatch.setenv(VARIABLE, str(bits))
        code = Code("test_row_sum", ("x*", "y*"), real, bits // WORD[real])
        vectors = [code.load(code["x"], first) for first in range(0, GROUP, code.lanes)]
        code.store(row_sum(code, vectors), code["y"])
        y = np.empty(code.lanes, REALS[real])
        code.compile()(x.ctypes.data, y.ctypes.data)
        assert np.all(y == y[0])
        results.append(y[0])
    assert results[0] == pytest.approx(x.astype(np.float64).sum(), rel=1e-5)
    assert len(set(results)) == 1


@pytest.mark.parametrize("count", [0, 1, 5, 6, 7, 13])
def test_tiles_cover_everything_once(count: int, bits: int) -> None:
    code = Code("test_tiles", ("count", "y*"), "double", 1)

    def body(first: Any, size: int) -> None:
        for i in range(size):
            code.store(
                code.add(code.load(code["y"], first, i), code.constant(1.0)), code["y"], first, i
            )

    code.tiles(code["count"], (6, 2, 1), body)
    y = np.zeros(20)
    code.compile()(count, y.ctypes.data)
    assert y.tolist() == [1.0] * count + [0.0] * (20 - count)


def test_the_width_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert vector_bits() == max(available_bits())
    monkeypatch.setenv(VARIABLE, "128")
    assert vector_bits() == 128
    assert lanes_for(64, "float") == 4
    for wrong in ("64", "wide", "1024"):
        monkeypatch.setenv(VARIABLE, wrong)
        with pytest.raises(ConfigError, match=f"BDL_VECTOR_BITS: one of 128.* got '{wrong}'"):
            vector_bits()
