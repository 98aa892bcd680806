"""Functions on vectors written in LLVM IR and compiled in the running process.

numba contains LLVM, so that no compiler is needed on the user's machine. Loops written here keep
their sums in registers, which plain array code does not guarantee. Compiled functions are called
through ctypes, which releases Python's lock while they run.

A vector has ``lanes`` numbers. Lanes never exchange numbers, and no operation is reordered: what is
computed for a number does not depend on the width of the vectors.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache, wraps
from threading import RLock
from typing import Any, ParamSpec

from llvmlite import binding, ir

from bdl.encoders.vectors import vector_bits

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
WORD = {"float": 32, "double": 64}
MachineCode = Callable[..., None]
P = ParamSpec("P")
_LOCK = RLock()


@cache
def machine() -> tuple[Any, Any]:
    """The processor as LLVM's target machine, and its compiler."""
    if hasattr(binding, "initialize_native_target"):
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=3,
        jit=True,
    )
    return target, binding.create_mcjit_compiler(binding.parse_assembly(""), target)


def cached_kernel(make: Callable[P, MachineCode]) -> Callable[P, MachineCode]:
    """Cache the kernels that a function compiles, by its arguments and the width of the vectors."""
    kernels: dict[Any, MachineCode] = {}

    @wraps(make)
    def find(*args: P.args, **kwargs: P.kwargs) -> MachineCode:
        key = (vector_bits(), args, *kwargs.items())
        if key not in kernels:
            with _LOCK:  # the compiler serves one caller at a time
                if key not in kernels:
                    kernels[key] = make(*args, **kwargs)
        return kernels[key]

    return find


def lanes_for(width: int, real: str) -> int:
    """Numbers per vector: as many as a vector in use holds, if they divide ``width``."""
    return math.gcd(width, vector_bits() // WORD[real])


def accumulators() -> int:
    """Vectors that a kernel may keep as sums without running out of registers."""
    return 24 if vector_bits() == 512 else 12


class Code:
    """One function under construction: integer and pointer arguments, no result.

    Its name is unique among those of the same ``real`` (``float`` or ``double``) and ``lanes``. The
    name of an argument that is a pointer ends in ``*``; any other argument is an integer.
    """

    def __init__(self, name: str, arguments: Sequence[str], real: str, lanes: int) -> None:
        self.name = f"{name}_{real}_{lanes}_{vector_bits()}"
        self.real = ir.FloatType() if real == "float" else ir.DoubleType()
        self.word = ir.IntType(WORD[real])
        self.size = WORD[real] // 8
        self.lanes = lanes
        self.vector = ir.VectorType(self.real, lanes)
        self.words = ir.VectorType(self.word, lanes)
        self.module = ir.Module(self.name)
        types = [self.real.as_pointer() if a.endswith("*") else I64 for a in arguments]
        function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), types), self.name)
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        named = zip(arguments, function.args, strict=True)
        self.arguments: dict[str, Any] = {a.rstrip("*"): value for a, value in named}

    def __getitem__(self, name: str) -> Any:
        """An argument by its name."""
        return self.arguments[name]

    # Integers and pointers

    def integer(self, value: Any) -> Any:
        """A 64-bit integer: a Python number becomes a constant, anything else stays."""
        return ir.Constant(I64, value) if isinstance(value, int) else value

    def plus(self, x: Any, y: Any) -> Any:
        """The sum of two integers."""
        return self.builder.add(self.integer(x), self.integer(y))

    def times(self, x: Any, y: Any) -> Any:
        """The product of two integers."""
        return self.builder.mul(self.integer(x), self.integer(y))

    def minimum(self, x: Any, y: Any) -> Any:
        """The smaller of two integers."""
        x, y = self.integer(x), self.integer(y)
        return self.builder.select(self.builder.icmp_signed("<", x, y), x, y)

    def at(self, pointer: Any, *offsets: Any) -> Any:
        """A pointer moved by offsets, counted in numbers."""
        for offset in offsets:
            pointer = self.builder.gep(pointer, [self.integer(offset)])
        return pointer

    # Vectors

    def constant(self, value: float) -> Any:
        """The same number in every lane."""
        return ir.Constant(self.vector, [ir.Constant(self.real, value)] * self.lanes)

    def bits(self, value: int) -> Any:
        """The same integer of a number's size in every lane."""
        return ir.Constant(self.words, [ir.Constant(self.word, value)] * self.lanes)

    def load(self, pointer: Any, *offsets: Any) -> Any:
        """The vector at a pointer."""
        pointer = self.builder.bitcast(self.at(pointer, *offsets), self.vector.as_pointer())
        return self.builder.load(pointer, align=self.size)

    def store(self, value: Any, pointer: Any, *offsets: Any) -> None:
        """Write a vector."""
        pointer = self.builder.bitcast(self.at(pointer, *offsets), self.vector.as_pointer())
        self.builder.store(value, pointer, align=self.size)

    def prefetch(self, pointer: Any, *offsets: Any) -> None:
        """Load the cache line at a pointer, to be written to."""
        pointer = self.builder.bitcast(self.at(pointer, *offsets), I8.as_pointer())
        signature = ir.FunctionType(ir.VoidType(), [I8.as_pointer(), I32, I32, I32])
        name = "llvm.prefetch.p0i8"
        function = self.module.globals.get(name) or ir.Function(self.module, signature, name)
        write, keep, data = (ir.Constant(I32, flag) for flag in (1, 3, 1))
        self.builder.call(function, [pointer, write, keep, data])

    def splat(self, pointer: Any, *offsets: Any) -> Any:
        """The number at a pointer, in every lane."""
        return self.fill(self.builder.load(self.at(pointer, *offsets)))

    def fill(self, number: Any) -> Any:
        """A number in every lane."""
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, number, ir.Constant(I32, 0))
        return self.lanes_of(first, [0] * self.lanes)

    def lanes_of(self, vector: Any, places: Iterable[int]) -> Any:
        """A vector of the lanes at these places; a place beyond the last lane counts from 0."""
        undefined = ir.Constant(self.vector, ir.Undefined)
        mask = [ir.Constant(I32, place % self.lanes) for place in places]
        return self.builder.shuffle_vector(
            vector, undefined, ir.Constant(ir.VectorType(I32, self.lanes), mask)
        )

    def add(self, x: Any, y: Any) -> Any:
        """x + y."""
        return self.builder.fadd(x, y)

    def sub(self, x: Any, y: Any) -> Any:
        """x - y."""
        return self.builder.fsub(x, y)

    def mul(self, x: Any, y: Any) -> Any:
        """x y."""
        return self.builder.fmul(x, y)

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x y + z, rounded once where the processor can."""
        signature = ir.FunctionType(self.vector, [self.vector] * 3)
        name = f"llvm.fmuladd.v{self.lanes}f{self.size * 8}"
        function = self.module.globals.get(name) or ir.Function(self.module, signature, name)
        return self.builder.call(function, [x, y, z])

    # Control

    def loop(
        self, count: Any, carried: Sequence[Any], body: Callable[[Any, list[Any]], Sequence[Any]]
    ) -> list[Any]:
        """for i in range(count): carried = body(i, carried); count is at least one."""
        before = self.builder.block
        inside = self.builder.append_basic_block("loop")
        after = self.builder.append_basic_block("after")
        self.builder.branch(inside)
        self.builder.position_at_end(inside)
        i = self.builder.phi(I64)
        i.add_incoming(self.integer(0), before)
        phis = [self.builder.phi(value.type) for value in carried]
        new = body(i, list(phis))
        following = self.builder.add(i, self.integer(1))
        end = self.builder.block
        i.add_incoming(following, end)
        for phi, first, value in zip(phis, carried, new, strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(value, end)
        self.builder.cbranch(
            self.builder.icmp_signed("<", following, self.integer(count)), inside, after
        )
        self.builder.position_at_end(after)
        return list(new)

    def each(self, count: Any, body: Callable[[Any], None]) -> None:
        """for i in range(count): body(i); count may be zero."""

        def step(i: Any, _: list[Any]) -> list[Any]:
            body(i)
            return []

        with self.builder.if_then(
            self.builder.icmp_signed(">", self.integer(count), self.integer(0))
        ):
            self.loop(count, [], step)

    def tiles(self, count: Any, sizes: Sequence[int], body: Callable[[Any, int], None]) -> None:
        """Cut range(count) into tiles, as many of the first size as fit, then of the next.

        body(first, size) writes the code for the tiles of a size; the last size is 1.
        """
        done: Any = self.integer(0)
        for size in sizes:
            number = self.builder.sdiv(
                self.builder.sub(self.integer(count), done), self.integer(size)
            )

            def tile(i: Any, begin: Any = done, size: int = size) -> None:
                body(self.plus(begin, self.times(i, size)), size)

            self.each(number, tile)
            done = self.plus(done, self.times(number, size))

    def compile(self, *, unroll: bool = True) -> MachineCode:
        """Machine code of the function, to be called with integers and addresses.

        ``unroll`` lets LLVM unroll loops; one that fills the registers would no longer fit them.
        """
        self.builder.ret_void()
        target, engine = machine()
        module = binding.parse_assembly(str(self.module))
        module.verify()
        options = binding.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = False
        options.slp_vectorization = False
        options.loop_unrolling = unroll
        passes = binding.create_pass_builder(target, options)
        passes.getModulePassManager().run(module, passes)
        engine.add_module(module)
        engine.finalize_object()
        signature = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * len(self.arguments))
        return signature(engine.get_function_address(self.name))
