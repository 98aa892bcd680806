"""Inference on short recordings in batches, several times as fast as one by one.

No result depends on the other recordings of a batch: only a module whose outputs are the same, bit
for bit, alone and in a padded batch (``batchable``) gets more than one recording at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from torch import Tensor, nn

from bdl.arrays import Singles
from bdl.binning import Binned
from bdl.encoders.encoder import WHOLE
from bdl.encoders.networks.module import capabilities
from bdl.inference import batch_outputs, density, evaluating, linked

TOGETHER = 1 << 13  # bins per batch of short recordings, with their padding
T = TypeVar("T")


def inference_batches(
    items: Iterable[T], module: nn.Module, bins: Callable[[T], int]
) -> Iterator[tuple[T, ...]]:
    """Yield batches of successive items; a long item is alone.

    If the module is not ``batchable``, every item is alone. ``bins`` returns the number of bins of
    an item.

    Examples
    --------
    >>> from bdl.encoders import Recurrent
    >>> module = Recurrent(width=4).build(inputs=1, outputs=2, calendar=False)
    >>> [*inference_batches([3000, 2000, TOGETHER, 10], module, int)]
    [(3000, 2000), (8192,), (10,)]
    """
    limit = TOGETHER if capabilities(module).batchable else 0
    batch: list[T] = []
    longest = 0
    for item in items:
        if batch and max(longest, bins(item)) * (len(batch) + 1) > limit:
            yield tuple(batch)
            batch, longest = [], 0
        batch.append(item)
        longest = max(longest, bins(item), 1)
        if longest * (len(batch) + 1) > limit:  # no further item of this length would fit
            yield tuple(batch)
            batch, longest = [], 0
    if batch:
        yield tuple(batch)


def densities(
    module: nn.Module,
    batch: Sequence[Binned],
    *,
    outputs: int,
    link: Callable[[Tensor], Tensor],
    tile: int = WHOLE,
    tilings: int = 1,
) -> list[Singles]:
    """Densities of a batch of `inference_batches`, each as `density` gives it.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from bdl.encoders import Recurrent
    >>> module = Recurrent(width=4).build(inputs=1, outputs=2, calendar=False)
    >>> features = (np.zeros((n, 1), np.float32) for n in (5, 3))
    >>> short = [Binned(rows, None, None, np.zeros(len(rows), bool)) for rows in features]
    >>> [values.shape for values in densities(module, short, outputs=2, link=torch.exp)]
    [(5, 2), (3, 2)]
    """
    together = len(batch) > 1 and capabilities(module).batchable
    longest = max(map(len, batch), default=0)
    if not together or longest == 0 or longest > tile:
        options = {"outputs": outputs, "tile": tile, "tilings": tilings}
        return [density(module, binned, link=link, **options) for binned in batch]
    with evaluating(module, len(batch) * longest):
        joined = batch_outputs(module, batch, longest, outputs)
    return [linked(module, values, link) for values in joined]
