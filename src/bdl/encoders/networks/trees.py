"""Boosted trees as a torch module, so that they are stored and applied like every encoder."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from bdl.arrays import Longs, Singles
from bdl.boosting import ARRAYS, TreeEnsemble
from bdl.encoders.networks.module import EncoderModule, Maybe, State, lengths_of
from bdl.errors import ConfigError, InputError
from bdl.window_statistics import Carried, WindowStatistics, statistics_per_channel

if TYPE_CHECKING:
    from bdl.encoders.trees import Trees

# Bins whose statistics are in memory at a time.
CHUNK = 1 << 14


class TreeEncoder(EncoderModule):
    """Module of `bdl.encoders.Trees`: its outputs are densities, not logits.

    The trees of output ``j`` are the buffers ``root_j``, ``column_j`` and so on; a module without
    trees gives a density of one event per bin.
    """

    gives_density = True

    def __init__(self, settings: Trees, inputs: int, outputs: int, calendar: bool) -> None:
        super().__init__(inputs, calendar=False)
        if settings.statistics is None:
            raise ConfigError("trees: the statistics per channel are not known yet: call complete")
        self.settings = settings
        self.outputs = outputs
        self.calendar = calendar
        self.causal = settings.causal
        self.channels = inputs // len(settings.statistics)
        self.others = inputs % len(settings.statistics)  # columns that belong to no channel
        self.register_buffer("probability", torch.zeros(1, dtype=torch.bool))
        self.register_buffer("largest", torch.full((1,), torch.inf, dtype=torch.float64))
        for j in range(outputs):
            for name, array in vars(TreeEnsemble.empty()).items():
                self.register_buffer(f"{name}_{j}", torch.from_numpy(array))

    @property
    def columns(self) -> int:
        """Columns of the table that the trees read."""
        per_channel = statistics_per_channel(len(self.settings.widths), causal=self.settings.causal)
        return self.channels * per_channel + self.others + (2 if self.calendar else 0)

    def set_trees(
        self, ensembles: list[TreeEnsemble], *, bernoulli: bool, largest: float = math.inf
    ) -> None:
        """Use these ensembles, one per output, for densities up to the largest."""
        self.probability = torch.tensor([bernoulli])
        self.largest = torch.tensor([largest], dtype=torch.float64)
        for j, ensemble in enumerate(ensembles):
            for name in ARRAYS:
                setattr(self, f"{name}_{j}", torch.from_numpy(np.array(getattr(ensemble, name))))

    def trees(self, output: int) -> TreeEnsemble:
        """The ensemble of one output."""
        arrays = {name: getattr(self, f"{name}_{output}").numpy() for name in ARRAYS}
        return TreeEnsemble(**arrays)

    def _statistics(self, values: Singles, carried: Carried | None = None) -> WindowStatistics:
        names = self.settings.statistics
        assert names is not None
        used = self.channels * len(names)
        by_channel = values[:, :used].reshape(len(values), self.channels, len(names))
        means, spreads = (by_channel[:, :, names.index(name)] for name in ("mean", "std"))
        widths, causal = self.settings.widths, self.settings.causal
        return WindowStatistics(means, spreads, widths, causal=causal, carried=carried)

    def table(
        self,
        values: Singles,
        hour: Longs | None,
        weekday: Longs | None,
        statistics: WindowStatistics | None = None,
    ) -> Callable[[int, int], Singles]:
        """Function (first, stop) → table of these bins, for one recording."""
        windows = statistics or self._statistics(values)
        used = self.inputs - self.others

        def rows(first: int, stop: int) -> Singles:
            table = windows.rows(first, stop)
            if self.others:
                table = np.concatenate([table, values[first:stop, used:]], axis=1)
            if not self.calendar:
                return table
            assert hour is not None
            assert weekday is not None
            calendar = np.stack([hour[first:stop], weekday[first:stop]], axis=1)
            return np.concatenate([table, calendar.astype(np.float32)], axis=1)

        return rows

    def forward(
        self, values: Tensor, hour: Maybe = None, weekday: Maybe = None, mask: Maybe = None
    ) -> Tensor:
        """Densities (batch, bins, outputs); zero where padded."""
        lengths = lengths_of(mask)
        sizes = [values.shape[1]] * len(values) if lengths is None else lengths.tolist()
        density, _ = self._density(values, self.blank(len(values)), hour, weekday, sizes)
        return density

    @property
    def batchable(self) -> bool:
        return True  # items are computed one by one

    def blank(self, batch: int) -> State:
        """No bins yet (batch, 0, channels, 2), and running sums of zero (batch, 1, channels, 2)."""
        shape = (self.channels, 2)
        return torch.zeros(batch, 0, *shape), torch.zeros(batch, 1, *shape, dtype=torch.float64)

    def step(
        self, values: Tensor, state: State, hour: Maybe = None, weekday: Maybe = None
    ) -> tuple[Tensor, State]:
        """Densities (batch, bins, outputs) of the next tile, and the state after it."""
        if not self.causal:
            raise InputError("TreeEncoder looks ahead: it cannot run tile by tile")
        lengths = [values.shape[1]] * len(values)
        density, carried = self._density(values, state, hour, weekday, lengths)
        last_bins, sums = map(np.stack, zip(*carried, strict=True))
        return density, (torch.from_numpy(last_bins), torch.from_numpy(sums))

    def _density(
        self, values: Tensor, state: State, hour: Maybe, weekday: Maybe, lengths: Sequence[int]
    ) -> tuple[Tensor, list[Carried]]:
        batch, bins, _ = values.shape
        density = torch.zeros(batch, bins, self.outputs)
        ensembles = [self.trees(j) for j in range(self.outputs)]
        carried: list[Carried] = []
        for item, length in enumerate(lengths):
            array = values[item, :length].numpy()
            statistics = self._statistics(array, (state[0][item].numpy(), state[1][item].numpy()))
            hours = None if hour is None else hour[item].numpy()
            weekdays = None if weekday is None else weekday[item].numpy()
            table = self.table(array, hours, weekdays, statistics)
            for first in range(0, length, CHUNK):
                stop = min(first + CHUNK, length)
                rows = table(first, stop)
                for j, ensemble in enumerate(ensembles):
                    raw = ensemble.raw_scores(rows)
                    part = 1 / (1 + np.exp(-raw)) if bool(self.probability) else np.exp(raw)
                    part = np.minimum(part, self.largest.item())
                    density[item, first:stop, j] = torch.from_numpy(part.astype(np.float32))
            carried.append(statistics.carry())
        return density, carried

    def encode(self, x: Tensor, lengths: Tensor | None) -> Tensor:
        return self.forward(x)

    def _load_from_state_dict(self, state: Mapping[str, Any], prefix: str, *rest: Any) -> None:
        # Files of older models have no limit.
        state = {f"{prefix}largest": torch.full_like(self.largest, torch.inf), **state}
        # Ensembles differ in size, so the buffers take the size of what is loaded.
        for j in range(self.outputs):
            for name in ARRAYS:
                key = f"{prefix}{name}_{j}"
                if key in state:
                    setattr(self, f"{name}_{j}", torch.empty_like(state[key]))
        super()._load_from_state_dict(state, prefix, *rest)
        for j in range(self.outputs):
            self.trees(j).check(self.columns)
