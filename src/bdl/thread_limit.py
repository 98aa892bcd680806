"""The number of threads that a process may use."""

from __future__ import annotations

from bdl.errors import require


def limit_threads(threads: int) -> None:
    """Limit the threads of this process, in torch and in compiled libraries."""
    require("threadpoolctl", "all").threadpool_limits(threads)
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(threads)
