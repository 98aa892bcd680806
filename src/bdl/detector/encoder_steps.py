"""Torch modules stepped for one stream, or for many streams together.

If the encoder is ``batchable``, no density depends on which streams share a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from bdl.arrays import Longs, Singles
from bdl.detector.stream_steps import State, Steps
from bdl.inference import check_logits, evaluating, linked, tensors


class EncoderSteps(Steps):
    """A causal module that runs bin by bin.

    Parameters
    ----------
    module
        Module with the methods ``initial_state`` and ``step``.
    link
        Turns logits into densities; not used for a module that gives densities itself.
    outputs
        Number of its outputs.
    """

    def __init__(
        self, module: nn.Module, link: Callable[[Tensor], Tensor], *, outputs: int
    ) -> None:
        self.module, self.link, self.outputs = module, link, outputs
        self._shape = module.initial_state(1)  # type: ignore[operator]
        pairs = zip(_flat(self._shape), _flat(module.initial_state(2)), strict=True)  # type: ignore[operator]
        # The axis of the batch is the one that grows with it.
        self._axes = [
            next(axis for axis, size in enumerate(first.shape) if second.shape[axis] != size)
            for first, second in pairs
        ]

    def initial_state(self) -> State:
        return self._arrays(self._shape)

    def step(
        self, values: Singles, hour: Longs | None, weekday: Longs | None, state: State
    ) -> tuple[Singles, State]:
        inputs, hours, weekdays = tensors(self.module, values, hour, weekday)
        before = (
            torch.from_numpy(part).to(inputs.device).movedim(0, axis)
            for part, axis in zip(state, self._axes, strict=True)
        )
        with evaluating(self.module, inputs.shape[0] * inputs.shape[1]):
            output, after = self.module.step(  # type: ignore[operator]
                inputs, _nested(self._shape, before), hours, weekdays
            )
            logits = check_logits(output, inputs, self.outputs).float().cpu().numpy()
            arrays = self._arrays(after)
        return linked(self.module, logits, self.link), arrays

    def _arrays(self, state: Any) -> State:
        pairs = zip(_flat(state), self._axes, strict=True)
        return [part.movedim(axis, 0).cpu().numpy() for part, axis in pairs]


def _flat(state: Any) -> Iterator[Tensor]:
    """The tensors of nested tuples, in order."""
    if isinstance(state, Tensor):
        yield state
    else:
        for part in state:
            yield from _flat(part)


def _nested(shape: Any, tensors: Iterator[Tensor]) -> Any:
    """Tensors in nested tuples of this shape."""
    if isinstance(shape, Tensor):
        return next(tensors)
    return tuple(_nested(part, tensors) for part in shape)
