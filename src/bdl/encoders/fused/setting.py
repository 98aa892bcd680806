"""Whether the package's own CPU kernels are used, for all modules of the process."""

from __future__ import annotations

_SETTING = {"allowed": True}


def use_fused(allowed: bool) -> None:
    """Allow or forbid the package's own kernels for every module of this process.

    Without them everything is computed by torch, and results may depend on the number of threads.
    """
    _SETTING["allowed"] = allowed


def allowed() -> bool:
    """Whether the package's own kernels may be used."""
    return _SETTING["allowed"]
