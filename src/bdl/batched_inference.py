"""Short recordings that pass through a model together, several times as fast as one by one.

No result depends on what shares a batch: only a module whose outputs are the same, bit for bit,
alone and in a padded batch (``batchable``) gets more than one recording at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bdl.arrays import Singles
from bdl.binning import Binned
from bdl.encoders.encoder import WHOLE
from bdl.inference import check_output, density, evaluating, linked, tensors

TOGETHER = 1 << 13  # bins of short recordings, with their padding, that pass a module together
T = TypeVar("T")


def batches(
    items: Iterable[T], module: nn.Module, bins: Callable[[T], int]
) -> Iterator[tuple[T, ...]]:
    """Neighbours that pass through a module together; a long item is alone.

    Parameters
    ----------
    items
        What is put into batches, in order.
    module
        The module; if it is not ``batchable``, every item is alone.
    bins
        Gives the number of bins of an item.

    Examples
    --------
    >>> from bdl.encoders import Recurrent
    >>> module = Recurrent(width=4).build(inputs=1, outputs=2, calendar=False)
    >>> [*batches([3000, 2000, TOGETHER, 10], module, int)]
    [(3000, 2000), (8192,), (10,)]
    """
    most = TOGETHER if getattr(module, "batchable", False) else 0
    batch: list[T] = []
    longest = 0
    for item in items:
        if batch and max(longest, bins(item)) * (len(batch) + 1) > most:
            yield tuple(batch)
            batch, longest = [], 0
        batch.append(item)
        longest = max(longest, bins(item), 1)
        if longest * (len(batch) + 1) > most:  # no item of this length is waited for in vain
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
    """Densities of several recordings, such as one of the `batches`, each as `density` gives it.

    Parameters
    ----------
    module, outputs, link, tile, tilings
        As in `density`.
    batch
        Features of the recordings.

    Examples
    --------
    >>> from bdl.encoders import Recurrent
    >>> module = Recurrent(width=4).build(inputs=1, outputs=2, calendar=False)
    >>> features = (np.zeros((n, 1), np.float32) for n in (5, 3))
    >>> short = [Binned(each, None, None, np.zeros(len(each), bool)) for each in features]
    >>> [values.shape for values in densities(module, short, outputs=2, link=torch.exp)]
    [(5, 2), (3, 2)]
    """
    together = len(batch) > 1 and getattr(module, "batchable", False)
    if not together or max(map(len, batch)) > tile:
        options = {"outputs": outputs, "tile": tile, "tilings": tilings}
        return [density(module, binned, link=link, **options) for binned in batch]
    return [linked(module, values, link) for values in _together(module, batch, outputs)]


def _together(module: nn.Module, batch: Sequence[Binned], outputs: int) -> list[Singles]:
    """Outputs of several short recordings, which are padded to the longest."""
    lengths = [len(binned) for binned in batch]
    longest = max(lengths)
    if longest == 0:
        return [np.zeros((0, outputs), dtype=np.float32) for _ in batch]

    def padded(arrays: Iterable[NDArray[np.generic] | None]) -> NDArray[np.generic] | None:
        given = [array for array in arrays if array is not None]
        if not given:
            return None
        filled = np.zeros((len(batch), longest, *given[0].shape[1:]), dtype=given[0].dtype)
        for place, array in zip(filled, given, strict=True):
            place[: len(array)] = array
        return filled

    with evaluating(module, len(batch) * longest):
        values, hour, weekday = tensors(
            module,
            padded(binned.values for binned in batch),
            padded(binned.hour for binned in batch),
            padded(binned.weekday for binned in batch),
        )
        if getattr(module, "causal", False) and hasattr(module, "step"):
            # No bin sees what comes later, so padding needs no mask.
            output, _ = module.step(values, module.initial_state(len(batch)), hour, weekday)  # type: ignore[operator]
        else:
            bins = torch.arange(longest, device=values.device)
            mask = None
            if min(lengths) < longest:
                mask = bins < torch.tensor(lengths, device=values.device)[:, None]
            output = module(values, hour, weekday, mask)
        joined = check_output(output, values, outputs).float().cpu().numpy()
    return [item[:length].copy() for item, length in zip(joined, lengths, strict=True)]
