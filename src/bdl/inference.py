"""Inference: the logits of every bin of a recording, in bounded memory.

The functions here process one recording; `bdl.batched_inference` processes short ones in batches.
Small work is done by one thread, see `bdl.encoders.fused.threads`.

- A causal encoder processes tiles of a fixed number of bins and carries its state from tile to
  tile: its output is exact for a recording of any length.
- Any other encoder processes a recording of at most ``tile`` bins at once. A longer recording is
  cut into tiles that overlap by half, and the output of a bin is taken from the tile whose edges
  are farthest from it: at least a quarter of a tile of context is on either side, and outputs
  differ from those of the whole recording by the influence of bins beyond that.
- An encoder of fixed length has tiles of that length; a shorter recording is padded and masked.

`density` can average over several tilings, whose borders are at different bins, for encoders that
depend on where a tile begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from operator import add

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bdl.arrays import Singles
from bdl.binning import Binned
from bdl.encoders.encoder import CARRIED, WHOLE
from bdl.encoders.fused.elementwise import elementwise
from bdl.encoders.fused.threads import suited
from bdl.encoders.networks.module import capabilities
from bdl.errors import ConfigError
from bdl.windows import stitch, tile_shifts, tiles


def density(
    module: nn.Module,
    binned: Binned,
    *,
    outputs: int,
    link: Callable[[Tensor], Tensor],
    tile: int = WHOLE,
    tilings: int = 1,
) -> Singles:
    """Density of one recording, (bins, outputs) float32, averaged over tilings.

    ``link`` turns logits into densities; it is not used for a module whose outputs are densities.
    Tiling ``k`` of ``n`` has its borders moved by ``k / n`` of the distance between tiles. A
    recording of one tile, and a causal encoder, have one tiling only.

    Examples
    --------
    >>> from bdl.encoders import Recurrent
    >>> module = Recurrent(width=4).build(inputs=1, outputs=2, calendar=False)
    >>> long = Binned(np.zeros((90, 1), np.float32), None, None, np.zeros(90, bool))
    >>> density(module, long, outputs=2, link=torch.exp, tile=20, tilings=3).shape
    (90, 2)
    """
    module_capabilities = capabilities(module)
    shifts = tile_shifts(len(binned), size=module_capabilities.fixed_bins or tile, tilings=tilings)
    if module_capabilities.carries_state:
        shifts = [0]
    tiling = partial(logits, module, binned, outputs=outputs, tile=tile)
    total = reduce(add, (linked(module, tiling(shift=shift), link) for shift in shifts))
    return total if len(shifts) == 1 else total / np.float32(len(shifts))


def logits(
    module: nn.Module, binned: Binned, *, outputs: int, tile: int = WHOLE, shift: int = 0
) -> Singles:
    """Logits of one recording, (bins, outputs); the module's mode is restored afterwards.

    An encoder that is neither causal nor of fixed length gets at most ``tile`` bins at once.
    """
    bins = len(binned)
    if bins == 0:
        return np.zeros((0, outputs), dtype=np.float32)
    if tile < 2:
        raise ConfigError(f"tile: at least 2 bins expected, got {tile}")
    module_capabilities = capabilities(module)
    with evaluating(module, bins):
        if module_capabilities.carries_state:
            return np.concatenate([*_carried(module, binned, outputs)])
        size = module_capabilities.fixed_bins or min(tile, bins)
        cover = tiles(bins, size=size, overlap=size // 2, shift=shift)
        parts = (
            (part, batch_outputs(module, [binned[part.first : part.stop]], size, outputs)[0])
            for part in cover
        )
        return stitch(parts, bins=bins, outputs=outputs)


@contextmanager
def evaluating(module: nn.Module, bins: int) -> Iterator[None]:
    """Evaluation mode without gradients, with threads that suit the work; restored afterwards."""
    mode = module.training
    if mode:  # otherwise all of a large module would be visited for every bin of a stream
        module.eval()
    operations = 0
    if torch.get_num_threads() > 1:
        operations = 2 * bins * sum(parameter.numel() for parameter in module.parameters())
    try:
        with torch.inference_mode(), suited(operations):
            yield
    finally:
        if mode:
            module.train()


def linked(module: nn.Module, values: Singles, link: Callable[[Tensor], Tensor]) -> Singles:
    """Densities from the outputs of a module."""
    if capabilities(module).gives_density:
        return values
    with torch.inference_mode():
        density: Singles = elementwise(link, torch.from_numpy(values)).numpy()
    return density


def check_logits(output: object, values: Tensor, outputs: int) -> Tensor:
    """The module's output, if it has the shape that training and decoding need."""
    expected = (*values.shape[:2], outputs)
    if not isinstance(output, Tensor):
        raise ConfigError(
            f"the encoder must return a tensor of shape {expected}, got {type(output).__name__}"
        )
    if tuple(output.shape) != expected:
        raise ConfigError(
            f"the encoder must return logits of shape {expected} (batch, bins, outputs) for values "
            f"of shape {tuple(values.shape)}, got {tuple(output.shape)}"
        )
    return output


def batch_outputs(
    module: nn.Module, batch: Sequence[Binned], bins: int, outputs: int
) -> list[Singles]:
    """Outputs of several recordings that pass through a module together, padded to ``bins``."""
    values, hour, weekday = (
        _padded([getattr(binned, name) for binned in batch], bins)
        for name in ("values", "hour", "weekday")
    )
    inputs, hours, weekdays = tensors(module, values, hour, weekday)
    lengths = torch.tensor([len(binned) for binned in batch], device=inputs.device)
    # No output of a causal module depends on later bins, so padding needs no mask.
    if capabilities(module).carries_state:
        output, _ = module.step(inputs, module.initial_state(len(batch)), hours, weekdays)  # type: ignore[operator]
    else:
        padded = bool((lengths < bins).any())
        mask = torch.arange(bins, device=inputs.device) < lengths[:, None] if padded else None
        output = module(inputs, hours, weekdays, mask)
    joined = check_logits(output, inputs, outputs).float().cpu().numpy()
    return [item[: len(binned)].copy() for item, binned in zip(joined, batch, strict=True)]


def _padded(arrays: Sequence[NDArray[np.generic] | None], bins: int) -> NDArray[np.generic] | None:
    """Arrays as one, with zeros beyond their ends; None if they are None."""
    present = [array for array in arrays if array is not None]
    if not present:
        return None
    joined = np.zeros((len(present), bins, *present[0].shape[1:]), dtype=present[0].dtype)
    for row, array in zip(joined, present, strict=True):
        row[: len(array)] = array
    return joined


def _carried(module: nn.Module, binned: Binned, outputs: int) -> Iterator[Singles]:
    state = module.initial_state(1)  # type: ignore[operator]
    for first in range(0, len(binned), CARRIED):
        part = binned[first : first + CARRIED]
        calendar = (None if array is None else array[None] for array in (part.hour, part.weekday))
        values, hour, weekday = tensors(module, part.values[None], *calendar)
        output, state = module.step(values, state, hour, weekday)  # type: ignore[operator]
        yield check_logits(output, values, outputs)[0].float().cpu().numpy()


def tensors(
    module: nn.Module,
    values: NDArray[np.generic] | None,
    hour: NDArray[np.generic] | None,
    weekday: NDArray[np.generic] | None,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Arrays of a batch as tensors on the module's device."""
    parameter = next(module.parameters(), torch.zeros(0))
    hours, weekdays = (
        None if array is None else torch.from_numpy(array).to(parameter.device)
        for array in (hour, weekday)
    )
    return torch.from_numpy(values).to(parameter.device, parameter.dtype), hours, weekdays
