"""Functions of single numbers applied to tensors, with bits that depend on the number alone.

Torch computes most numbers of a tensor in vectors and the remaining ones one by one, by another
formula that may differ in the last bit; which ones these are depends on the number of threads. Here
every number is computed in a vector by one thread, so that a recording gives the same densities
in one piece, bin by bin, and on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

WHOLE_VECTORS = 64  # numbers: a multiple of every vector and of torch's unrolled loops
ONE_THREAD = 1 << 14  # numbers that torch never shares among threads


def elementwise(function: Callable[[Tensor], Tensor], values: Tensor) -> Tensor:
    """Apply a function that maps each number by itself, such as ``torch.sigmoid``, to a tensor.

    Examples
    --------
    >>> logits = torch.randn(1000, 3)
    >>> whole, part = elementwise(torch.sigmoid, logits), elementwise(torch.sigmoid, logits[7:8])
    >>> torch.equal(whole[7:8], part)
    True
    """
    flat = values.reshape(-1)
    size = len(flat)
    if size == 0:
        return function(values)
    padded = torch.nn.functional.pad(flat, (0, -size % WHOLE_VECTORS))
    starts = range(0, len(padded), ONE_THREAD)
    parts = [function(padded[first : first + ONE_THREAD]) for first in starts]
    joined = parts[0] if len(parts) == 1 else torch.cat(parts)
    return joined[:size].reshape(values.shape)
