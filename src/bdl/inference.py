"""Inference: the logits of every bin of one recording, in bounded memory.

Recordings pass through the model one at a time, so that no result depends on what shares a batch.

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

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bdl.encoders.encoder import WHOLE
from bdl.errors import ConfigError
from bdl.features import Binned
from bdl.windows import Tile, stitch, tiles

CARRIED = 1 << 13  # bins that a causal encoder processes at a time


def density(
    module: nn.Module,
    binned: Binned,
    *,
    outputs: int,
    link: Callable[[Tensor], Tensor],
    tile: int = WHOLE,
    tilings: int = 1,
) -> NDArray[np.float32]:
    """Density of one recording, averaged over tilings.

    Parameters
    ----------
    module, binned, outputs, tile
        As in `logits`.
    link
        Turns logits into densities; not used for a module that gives densities itself.
    tilings
        Number of tilings. Tiling ``k`` of ``n`` has its borders moved by ``k / n`` of the distance
        between tiles. A recording of one tile, and a causal encoder, have one tiling only.

    Returns
    -------
    ndarray
        (bins, outputs) float32.

    Examples
    --------
    >>> from bdl.encoders import Recurrent
    >>> module = Recurrent(width=4).build(inputs=1, outputs=2, calendar=False)
    >>> long = Binned(np.zeros((90, 1), np.float32), None, None, np.zeros(90, bool))
    >>> density(module, long, outputs=2, link=torch.exp, tile=20, tilings=3).shape
    (90, 2)
    """
    if tilings < 1:
        raise ConfigError(f"tilings: at least 1 expected, got {tilings}")
    size: int = getattr(module, "fixed_bins", None) or tile
    carried = getattr(module, "causal", False) and hasattr(module, "step")
    shifts = [0]
    if not carried and len(binned) > size:
        distance = size - size // 2
        shifts = sorted({k * distance // tilings for k in range(tilings)})
    total: NDArray[np.float32] | None = None
    for shift in shifts:
        values = logits(module, binned, outputs=outputs, tile=tile, shift=shift)
        if not getattr(module, "gives_density", False):
            with torch.inference_mode():
                values = link(torch.from_numpy(values)).numpy()
        total = values if total is None else total + values
    assert total is not None
    return total if len(shifts) == 1 else total / np.float32(len(shifts))


def logits(
    module: nn.Module, binned: Binned, *, outputs: int, tile: int = WHOLE, shift: int = 0
) -> NDArray[np.float32]:
    """Logits of one recording, (bins, outputs); the module's mode is restored afterwards.

    An encoder that is neither causal nor of fixed length gets at most ``tile`` bins at once.
    """
    bins = len(binned)
    if bins == 0:
        return np.zeros((0, outputs), dtype=np.float32)
    if tile < 2:
        raise ConfigError(f"tile: at least 2 bins expected, got {tile}")
    mode = module.training
    module.eval()
    try:
        with torch.inference_mode():
            if getattr(module, "causal", False) and hasattr(module, "step"):
                return np.concatenate([*_carried(module, binned, outputs)])
            fixed: int | None = getattr(module, "fixed_bins", None)
            size = fixed or min(tile, bins)
            cover = tiles(bins, size=size, overlap=size // 2, shift=shift)
            parts = ((part, _tile(module, binned, part, fixed, outputs)) for part in cover)
            return stitch(parts, bins=bins, outputs=outputs)
    finally:
        module.train(mode)


def check_output(output: object, values: Tensor, outputs: int) -> Tensor:
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


def _tile(
    module: nn.Module, binned: Binned, tile: Tile, fixed: int | None, outputs: int
) -> NDArray[np.float32]:
    values, hour, weekday = _slice(module, binned, tile.first, tile.stop)
    length = tile.stop - tile.first
    mask = None
    if fixed is not None and length < fixed:
        pad = fixed - length
        values = torch.nn.functional.pad(values, (0, 0, 0, pad))
        hour = None if hour is None else torch.nn.functional.pad(hour, (0, pad))
        weekday = None if weekday is None else torch.nn.functional.pad(weekday, (0, pad))
        mask = (torch.arange(fixed, device=values.device) < length)[None]
    output = check_output(module(values, hour, weekday, mask), values, outputs)
    return _numpy(output)[:length]


def _carried(module: nn.Module, binned: Binned, outputs: int) -> Iterator[NDArray[np.float32]]:
    state = module.initial_state(1)  # type: ignore[operator]
    for first in range(0, len(binned), CARRIED):
        values, hour, weekday = _slice(module, binned, first, first + CARRIED)
        output, state = module.step(values, state, hour, weekday)  # type: ignore[operator]
        yield _numpy(check_output(output, values, outputs))


def _slice(
    module: nn.Module, binned: Binned, first: int, stop: int
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """A batch of one, on the module's device."""
    like = next(module.parameters(), torch.zeros(0))

    def part(values: NDArray[np.generic] | None) -> Tensor | None:
        if values is None:
            return None
        return torch.from_numpy(values[first:stop][None]).to(like.device)

    values = part(binned.values)
    assert values is not None
    return values.to(like.dtype), part(binned.hour), part(binned.weekday)


def _numpy(output: Tensor) -> NDArray[np.float32]:
    values: NDArray[np.float32] = output[0].float().cpu().numpy()
    return values
