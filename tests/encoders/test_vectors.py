"""The generated vector code against numpy, in both precisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bdl.encoders.fused.llvm import Code, lanes_for

FUNCTIONS: dict[str, tuple[Callable[[Code, Any], Any], Callable[[Any], Any], float]] = {
    # name: code, numpy, largest argument
    "exp": (lambda c, x: c.exp(x), np.exp, 80.0),
    "tanh": (lambda c, x: c.tanh(x), np.tanh, 60.0),
    "sigmoid": (lambda c, x: c.sigmoids(x, x)[1], lambda x: 1 / (1 + np.exp(-x)), 60.0),
    "inverse": (lambda c, x: c.inverse(c.exp(x)), lambda x: 1 / np.exp(x), 30.0),
}
REALS = {"float": np.float32, "double": np.float64}


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, real: str) -> None:
    write, expected, most = FUNCTIONS[name]
    lanes = lanes_for(64, real)
    code = Code(f"{name}_{real}", ("count", "x*", "y*"), real, lanes)

    def body(i: Any, _: list[Any]) -> list[Any]:
        offset = code.b.mul(i, code.whole(lanes))
        code.store(write(code, code.load(code["x"], offset)), code["y"], offset)
        return []

    code.loop(code["count"], [], body)
    x = np.linspace(-most, most, 64_000).astype(REALS[real])
    x = np.concatenate([x, np.geomspace(1e-6, 1, 6_400), -np.geomspace(1e-6, 1, 6_400)])
    x = x.astype(REALS[real])
    y = np.empty_like(x)
    code.compile()(len(x) // lanes, x.ctypes.data, y.ctypes.data)
    truth = expected(x.astype(np.longdouble))
    step = np.finfo(REALS[real]).eps
    # The logistic functions are held to the last digits of 1, the others relatively.
    scale = np.ones_like(truth) if name in ("tanh", "sigmoid") else truth
    assert np.max(np.abs(y - truth) / scale) < 4 * step


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize(("items", "inner", "columns"), [(1, 96, 32), (4, 32, 96), (2, 7, 6)])
def test_product(real: str, items: int, inner: int, columns: int) -> None:
    rng = np.random.default_rng(0)
    code = Code(
        f"product_{real}_{items}_{inner}", ("x*", "w*", "b*", "y*"), real, lanes_for(columns, real)
    )
    x, y = (
        [code.at(code[k], m * n) for m in range(items)] for k, n in (("x", inner), ("y", columns))
    )
    code.product(x, code["w"], inner, columns, [code["b"]] * items, y)
    a, w, b = (
        rng.normal(size=s).astype(REALS[real]) for s in ((items, inner), (inner, columns), columns)
    )
    out = np.empty((items, columns), REALS[real])
    code.compile()(*(v.ctypes.data for v in (a, w, b, out)))
    np.testing.assert_allclose(out, b + a @ w, rtol=0, atol=100 * np.finfo(REALS[real]).eps)
