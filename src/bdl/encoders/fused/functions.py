"""Exponential, logistic function and hyperbolic tangent of vectors, as code of `Code`."""

from __future__ import annotations

import math
from typing import Any

from bdl.encoders.fused.llvm import Code


def at_most(code: Code, x: Any, high: float) -> Any:
    """min(x, high); NaN stays NaN, so that it is noticed."""
    top = code.constant(high)
    return code.builder.select(code.builder.fcmp_ordered(">", x, top), top, x)


def at_least(code: Code, x: Any, low: float) -> Any:
    """max(x, low); NaN stays NaN."""
    bottom = code.constant(low)
    return code.builder.select(code.builder.fcmp_ordered("<", x, bottom), bottom, x)


def exp(code: Code, x: Any) -> Any:
    """e to the x, within the range of normal numbers: 2^n times a Taylor polynomial."""
    single = code.size == 4
    mantissa, bias, degree = (23, 127, 7) if single else (52, 1023, 13)
    # Adding 1.5 · 2^mantissa rounds to a whole number and leaves it in the lowest bits.
    magic = code.constant(1.5 * 2.0**mantissa)
    shifted = code.fma(x, code.constant(1 / math.log(2)), magic)
    n = code.sub(shifted, magic)
    high = 0.693145751953125 if single else 0.6931471803691238
    low = 1.428606765330187e-06 if single else 1.9082149292705877e-10
    r = code.fma(n, code.constant(-high), x)
    r = code.fma(n, code.constant(-low), r)
    p = code.constant(1 / math.factorial(degree))
    for k in range(degree - 1, -1, -1):
        p = code.fma(p, r, code.constant(1 / math.factorial(k)))
    exponent = code.builder.shl(code.builder.bitcast(shifted, code.words), code.bits(mantissa))
    power = code.builder.bitcast(
        code.builder.add(exponent, code.bits(bias << mantissa)), code.vector
    )
    return code.mul(p, power)


def inverse(code: Code, x: Any) -> Any:
    """1 / x for normal x above zero."""
    if code.size == 8:
        return code.builder.fdiv(code.constant(1.0), x)
    # A guess from the bits and three Newton steps: more of them per cycle than divisions.
    y = code.builder.sub(code.bits(0x7EF311C3), code.builder.bitcast(x, code.words))
    y = code.builder.bitcast(y, code.vector)
    for _ in range(3):
        y = code.fma(y, code.fma(code.builder.fneg(x), y, code.constant(1.0)), y)
    return y


def exp_minus(code: Code, x: Any) -> Any:
    """exp(-x), capped where a logistic function no longer changes."""
    cap = 40.0 if code.size == 4 else 300.0
    return exp(code, at_least(code, at_most(code, code.builder.fneg(x), cap), -cap))


def sigmoids(code: Code, x: Any, y: Any) -> tuple[Any, Any]:
    """Two logistic functions for one inverse."""
    a = code.add(exp_minus(code, x), code.constant(1.0))
    b = code.add(exp_minus(code, y), code.constant(1.0))
    both = inverse(code, code.mul(a, b))
    return code.mul(b, both), code.mul(a, both)


def tanh(code: Code, x: Any) -> Any:
    """Hyperbolic tangent, to the last digit of 1."""
    e = exp_minus(code, code.mul(x, code.constant(2.0)))
    one = code.constant(1.0)
    return code.mul(code.sub(one, e), inverse(code, code.add(one, e)))
