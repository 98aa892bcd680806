"""The base class of the package's modules: inputs, mask, and the state of a causal encoder.

An encoder maps features of the bins to one logit per bin and output channel. Shapes are
(batch, bins, ...). ``mask`` is True where a bin holds data; padding is at the end of an item and
never changes the outputs of the bins before it. A causal encoder also runs tile by tile: ``step``
takes the state that ``initial_state`` or the previous step returned. The tiles together are equal
to one ``forward`` over the whole recording: a recurrent encoder's bit for bit, a Transformer's up
to rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import NamedTuple

import torch
from torch import Tensor, nn

from bdl.errors import ConfigError, InputError

State = tuple[Tensor, ...]
Maybe = Tensor | None
HOURS = 24
CALENDAR_WIDTH = 4


class DeclaredModule(nn.Module):
    """Base of the modules of this package, which declare more than a user's own module does."""

    causal: bool = False
    #: Whether outputs are densities; otherwise they are logits, for the objective to interpret.
    gives_density: bool = False
    fixed_bins: int | None = None

    @property
    def batchable(self) -> bool:
        """Whether the outputs of an item are the same, bit for bit, alone and in a padded batch."""
        return False


class EncoderModule(DeclaredModule, ABC):
    """Base of the package's modules: each defines ``encode``; a causal one, its state as well.

    Parameters
    ----------
    inputs
        Numbers per bin in ``values``.
    calendar
        Whether hour of day and weekday are given; they are embedded by tables of 24 rows of 4
        numbers each (weekday uses 7 of its rows, as published).

    Examples
    --------
    >>> from bdl.encoders import Recurrent
    >>> module = Recurrent().build(inputs=8, outputs=2, calendar=True)
    >>> module.features, module.causal, module.fixed_bins
    (16, False, None)
    """

    def __init__(self, inputs: int, calendar: bool) -> None:
        super().__init__()
        if inputs < 1:
            raise ConfigError(f"encoder: at least one input per bin expected, got {inputs}")
        self.inputs = inputs
        self.hour = nn.Embedding(HOURS, CALENDAR_WIDTH) if calendar else None
        self.weekday = nn.Embedding(HOURS, CALENDAR_WIDTH) if calendar else None

    @property
    def features(self) -> int:
        """Numbers per bin after the calendar is embedded."""
        return self.inputs + (2 * CALENDAR_WIDTH if self.hour is not None else 0)

    def embed(self, values: Tensor, hour: Tensor | None, weekday: Tensor | None) -> Tensor:
        """(batch, bins, inputs) and the calendar → (batch, bins, features)."""
        if values.ndim != 3 or values.shape[2] != self.inputs:
            raise InputError(
                f"encoder: values of shape (batch, bins, {self.inputs}) expected, "
                f"got {tuple(values.shape)}"
            )
        if self.fixed_bins is not None and values.shape[1] != self.fixed_bins:
            raise InputError(
                f"encoder: windows of exactly {self.fixed_bins} bins expected, "
                f"got {values.shape[1]}: pad or tile them"
            )
        if self.hour is None or self.weekday is None:
            return values
        if hour is None or weekday is None:
            raise InputError("encoder: it was built with a calendar; hour and weekday are missing")
        return torch.cat([values, self.hour(hour), self.weekday(weekday)], dim=2)

    @abstractmethod
    def encode(self, x: Tensor, lengths: Tensor | None) -> Tensor:
        """Embedded bins (batch, bins, features) of these lengths → logits."""

    def blank(self, batch: int) -> State:
        """State of a causal encoder before the first bin; by default it carries nothing."""
        return ()

    def advance(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Embedded bins of the next tile → logits and the state after it."""
        return self.encode(x, None), state

    def forward(
        self, values: Tensor, hour: Maybe = None, weekday: Maybe = None, mask: Maybe = None
    ) -> Tensor:
        """Logits (batch, bins, outputs)."""
        return self.encode(self.embed(values, hour, weekday), lengths_of(mask))

    def initial_state(self, batch: int) -> State:
        """State before the first bin, for ``batch`` items."""
        if not self.causal:
            raise InputError(f"{type(self).__name__} looks ahead: it has no state to carry")
        return self.blank(batch)

    def step(
        self, values: Tensor, state: State, hour: Maybe = None, weekday: Maybe = None
    ) -> tuple[Tensor, State]:
        """Logits (batch, bins, outputs) of the next tile, and the state after it."""
        if not self.causal:
            raise InputError(f"{type(self).__name__} looks ahead: it cannot run tile by tile")
        return self.advance(self.embed(values, hour, weekday), state)


class Capabilities(NamedTuple):
    """What a module can do, and what its outputs are."""

    causal: bool
    carries_state: bool  # causal, and runs tile by tile by its methods initial_state and step
    fixed_bins: int | None
    batchable: bool
    gives_density: bool


def capabilities(module: nn.Module) -> Capabilities:
    """Return what a module can do.

    A user's own module may declare ``causal = True``, with or without the methods ``initial_state``
    and ``step``, and ``fixed_bins``. Under the same names it may also have layers or buffers, which
    declare nothing.

    Examples
    --------
    >>> capabilities(nn.Linear(2, 1)).causal
    False
    """
    causal = getattr(module, "causal", None) is True
    methods = (getattr(module, name, None) for name in ("initial_state", "step"))
    bins = getattr(module, "fixed_bins", None)
    return Capabilities(
        causal=causal,
        carries_state=causal and all(map(callable, methods)),
        fixed_bins=int(bins) if isinstance(bins, Integral) else None,
        batchable=isinstance(module, DeclaredModule) and module.batchable,
        gives_density=isinstance(module, DeclaredModule) and module.gives_density,
    )


def lengths_of(mask: Tensor | None) -> Tensor | None:
    """Bins per item up to the last one that holds data; None if no item is padded.

    A hole before the last valid bin stays inside the length: it is a gap, not padding.

    Examples
    --------
    >>> lengths_of(torch.tensor([[True, False, True], [True, False, False]])).tolist()
    [3, 1]
    >>> lengths_of(torch.ones(2, 3, dtype=torch.bool)) is None
    True
    """
    if mask is None or bool(mask[:, -1:].all()):
        return None
    places = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    return (mask * places).amax(dim=1)


def valid_of(lengths: Tensor | None, bins: int) -> Tensor | None:
    """Lengths → (batch, bins) bool, True before each item's end."""
    if lengths is None:
        return None
    return torch.arange(bins, device=lengths.device) < lengths[:, None]
