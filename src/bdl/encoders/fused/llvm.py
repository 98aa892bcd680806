"""A few vector operations written straight into LLVM, compiled in the running process.

numba brings LLVM along, so no compiler is needed on the user's machine; LLVM lowers a vector of
``lanes`` numbers to whatever the processor has. Loops written here keep their accumulators in
registers and their gates fused, which plain array code leaves to luck. Compiled functions are
called through ctypes, which releases Python's lock while they run.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from llvmlite import binding, ir

I64 = ir.IntType(64)
WORD = {"float": 32, "double": 64}


@cache
def machine() -> tuple[Any, Any, int]:
    """The processor's target machine, its compiler, and the bits of its widest vectors."""
    if hasattr(binding, "initialize_native_target"):
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features()
    target = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features.flatten(), opt=3, jit=True
    )
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target)
    bits = 512 if features.get("avx512f") else 256 if features.get("avx") else 128
    return target, engine, bits


def lanes_for(width: int, real: str) -> int:
    """Numbers a vector: the widest the processor has that divides ``width``.

    >>> lanes_for(3, "float")
    1
    """
    return math.gcd(width, machine()[2] // WORD[real])


def registers() -> int:
    """Vectors that may be kept as accumulators without spilling."""
    return 24 if machine()[2] in (128, 512) else 12


class Code:
    """One function under construction: integer and pointer arguments, no result."""

    def __init__(self, name: str, arguments: Sequence[str], real: str, lanes: int) -> None:
        self.name = name
        self.real = ir.FloatType() if real == "float" else ir.DoubleType()
        self.word = ir.IntType(WORD[real])
        self.size = WORD[real] // 8
        self.lanes = lanes
        self.vector = ir.VectorType(self.real, lanes)
        self.words = ir.VectorType(self.word, lanes)
        self.module = ir.Module(name)
        kinds = [self.real.as_pointer() if a.endswith("*") else I64 for a in arguments]
        function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), kinds), name)
        self.b = ir.IRBuilder(function.append_basic_block("entry"))
        named = zip(arguments, function.args, strict=True)
        self.arguments: dict[str, Any] = {a.rstrip("*"): value for a, value in named}

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def whole(self, value: int) -> Any:
        return ir.Constant(I64, value)

    def constant(self, value: float) -> Any:
        return ir.Constant(self.vector, [ir.Constant(self.real, value)] * self.lanes)

    def bits(self, value: int) -> Any:
        return ir.Constant(self.words, [ir.Constant(self.word, value)] * self.lanes)

    def at(self, pointer: Any, *offsets: Any) -> Any:
        """Pointer moved by offsets in numbers."""
        for offset in offsets:
            index = self.whole(offset) if isinstance(offset, int) else offset
            pointer = self.b.gep(pointer, [index])
        return pointer

    def load(self, pointer: Any, *offsets: Any) -> Any:
        pointer = self.b.bitcast(self.at(pointer, *offsets), self.vector.as_pointer())
        return self.b.load(pointer, align=self.size)

    def store(self, value: Any, pointer: Any, *offsets: Any) -> None:
        pointer = self.b.bitcast(self.at(pointer, *offsets), self.vector.as_pointer())
        self.b.store(value, pointer, align=self.size)

    def splat(self, pointer: Any, *offsets: Any) -> Any:
        """The one number at a pointer, in every lane."""
        one = self.b.load(self.at(pointer, *offsets))
        first = self.b.insert_element(
            ir.Constant(self.vector, ir.Undefined), one, ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), None)
        return self.b.shuffle_vector(first, ir.Constant(self.vector, ir.Undefined), zeros)

    def add(self, x: Any, y: Any) -> Any:
        return self.b.fadd(x, y)

    def sub(self, x: Any, y: Any) -> Any:
        return self.b.fsub(x, y)

    def mul(self, x: Any, y: Any) -> Any:
        return self.b.fmul(x, y)

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x y + z, in one rounding where the processor can."""
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        name = f"llvm.fmuladd.v{self.lanes}f{self.size * 8}"
        function = self.module.globals.get(name) or ir.Function(self.module, kind, name)
        return self.b.call(function, [x, y, z])

    def at_most(self, x: Any, high: float) -> Any:
        """min(x, high); not-a-number stays what it is, so that it is seen."""
        top = self.constant(high)
        return self.b.select(self.b.fcmp_ordered(">", x, top), top, x)

    def at_least(self, x: Any, low: float) -> Any:
        bottom = self.constant(low)
        return self.b.select(self.b.fcmp_ordered("<", x, bottom), bottom, x)

    def exp(self, x: Any) -> Any:
        """e to the x, |x| within the range of normal numbers: 2^n times a Taylor polynomial."""
        single = self.size == 4
        mantissa, bias, degree = (23, 127, 7) if single else (52, 1023, 13)
        # Adding 1.5 · 2^mantissa rounds to a whole number and leaves it in the lowest bits.
        magic = self.constant(1.5 * 2.0**mantissa)
        shifted = self.fma(x, self.constant(1 / math.log(2)), magic)
        n = self.sub(shifted, magic)
        high = 0.693145751953125 if single else 0.6931471803691238
        low = 1.428606765330187e-06 if single else 1.9082149292705877e-10
        r = self.fma(n, self.constant(-high), x)
        r = self.fma(n, self.constant(-low), r)
        p = self.constant(1 / math.factorial(degree))
        for k in range(degree - 1, -1, -1):
            p = self.fma(p, r, self.constant(1 / math.factorial(k)))
        whole = self.b.shl(self.b.bitcast(shifted, self.words), self.bits(mantissa))
        power = self.b.bitcast(self.b.add(whole, self.bits(bias << mantissa)), self.vector)
        return self.mul(p, power)

    def inverse(self, x: Any) -> Any:
        """1 / x for normal x above zero."""
        if self.size == 8:
            return self.b.fdiv(self.constant(1.0), x)
        # A guess from the bits and three Newton steps: far more of them a cycle than divisions.
        y = self.b.sub(self.bits(0x7EF311C3), self.b.bitcast(x, self.words))
        y = self.b.bitcast(y, self.vector)
        for _ in range(3):
            y = self.fma(y, self.fma(self.b.fneg(x), y, self.constant(1.0)), y)
        return y

    def sigmoids(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Two logistic functions for one inverse."""
        a = self.add(self.exp_minus(x), self.constant(1.0))
        b = self.add(self.exp_minus(y), self.constant(1.0))
        both = self.inverse(self.mul(a, b))
        return self.mul(b, both), self.mul(a, both)

    def exp_minus(self, x: Any) -> Any:
        """exp(-x), capped where a logistic function has long reached its end."""
        cap = 40.0 if self.size == 4 else 300.0
        return self.exp(self.at_least(self.at_most(self.b.fneg(x), cap), -cap))

    def tanh(self, x: Any) -> Any:
        """Hyperbolic tangent, to the last digit of 1."""
        e = self.exp_minus(self.mul(x, self.constant(2.0)))
        one = self.constant(1.0)
        return self.mul(self.sub(one, e), self.inverse(self.add(one, e)))

    def loop(
        self, count: Any, carried: Sequence[Any], body: Callable[[Any, list[Any]], Sequence[Any]]
    ) -> list[Any]:
        """for i in range(count): carried = body(i, carried); count is at least one."""
        before = self.b.block
        inside = self.b.append_basic_block("loop")
        after = self.b.append_basic_block("after")
        self.b.branch(inside)
        self.b.position_at_end(inside)
        i = self.b.phi(I64)
        i.add_incoming(self.whole(0), before)
        phis = [self.b.phi(value.type) for value in carried]
        new = body(i, list(phis))
        following = self.b.add(i, self.whole(1))
        end = self.b.block
        i.add_incoming(following, end)
        for phi, first, value in zip(phis, carried, new, strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(value, end)
        self.b.cbranch(self.b.icmp_signed("<", following, count), inside, after)
        self.b.position_at_end(after)
        return list(new)

    def product(
        self,
        x: Sequence[Any],
        w: Any,
        inner: int,
        columns: int,
        start: Sequence[Any],
        out: Sequence[Any],
    ) -> None:
        """out[m] = start[m] + x[m] @ w for items m; w is (inner, columns), rows contiguous.

        Column tiles as wide as the registers allow; where they are too few to hide the latency of
        a multiplication, partial sums over interleaved rows of w stand in.
        """
        items, vectors = len(x), columns // self.lanes
        width = max(1, min(vectors, registers() // items))
        for first in range(0, vectors, width):
            tile = range(first, min(vectors, first + width))
            parts = max(1, min(inner, 8 // (items * len(tile))))
            parts = math.gcd(parts, inner)
            unroll = math.gcd(inner // parts, 4)
            sums = [self.load(start[m], v * self.lanes) for m in range(items) for v in tile]
            zero = self.constant(0.0)
            sums += [zero] * (len(sums) * (parts - 1))

            def rows(
                i: Any,
                sums: list[Any],
                tile: range = tile,
                parts: int = parts,
                unroll: int = unroll,
            ) -> list[Any]:
                k0 = self.b.mul(i, self.whole(parts * unroll))
                for step in range(parts * unroll):
                    k = self.b.add(k0, self.whole(step))
                    row = self.b.mul(k, self.whole(columns))
                    weights = [self.load(w, row, v * self.lanes) for v in tile]
                    place = (step % parts) * items * len(tile)
                    for m in range(items):
                        number = self.splat(x[m], k)
                        for weight in weights:
                            sums[place] = self.fma(number, weight, sums[place])
                            place += 1
                return sums

            sums = self.loop(self.whole(inner // (parts * unroll)), sums, rows)
            count = items * len(tile)
            for j in range(count):
                total = sums[j]
                for part in range(1, parts):
                    total = self.add(total, sums[part * count + j])
                m, v = divmod(j, len(tile))
                self.store(total, out[m], tile[v] * self.lanes)

    def compile(self) -> Callable[..., None]:
        """Machine code of the function, as something to call with integers and addresses."""
        self.b.ret_void()
        target, engine, _ = machine()
        module = binding.parse_assembly(str(self.module))
        module.verify()
        options = binding.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = False
        options.slp_vectorization = False
        builder = binding.create_pass_builder(target, options)
        builder.getModulePassManager().run(module, builder)
        engine.add_module(module)
        engine.finalize_object()
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * len(self.arguments))
        return kind(engine.get_function_address(self.name))
