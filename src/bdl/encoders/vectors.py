"""The processor's vectors: how many bits the package's own kernels use.

The kernels of the encoders are compiled in the running process for the widest vectors that the
processor has. The environment variable ``BDL_VECTOR_BITS`` (128, 256 or 512) selects narrower
ones. Every number is computed by the same operations in the same order at every width, so results
are the same; model files and run directories record the width nevertheless.
"""

from __future__ import annotations

import os
from functools import cache

from bdl.errors import ConfigError

VARIABLE = "BDL_VECTOR_BITS"


@cache
def available_bits() -> tuple[int, ...]:
    """Widths in bits of the vectors that this processor has, narrowest first."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    widest = 512 if features.get("avx512f") else 256 if features.get("avx") else 128
    return tuple(bits for bits in (128, 256, 512) if bits <= widest)


def vector_bits() -> int:
    """Width in bits of the vectors in use: the widest, or the value of ``BDL_VECTOR_BITS``."""
    return _parse(os.environ.get(VARIABLE, ""))


@cache
def _parse(text: str) -> int:
    if not text:
        return available_bits()[-1]
    if text not in {str(bits) for bits in available_bits()}:
        expected = ", ".join(map(str, available_bits()))
        raise ConfigError(f"{VARIABLE}: one of {expected} expected on this processor, got {text!r}")
    return int(text)
