"""The graph of an exported model, computed by onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Longs, Singles
from bdl.binning import Binned
from bdl.detector.model import Model
from bdl.detector.stream_steps import State, Steps
from bdl.encoders.encoder import CARRIED
from bdl.errors import require
from bdl.onnx_graph import NEXT
from bdl.windows import stitch, tile_shifts, tiles

_KINDS: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
}


class OnnxEncoder(Steps):
    """The graph of an exported model, from features to densities, on one thread.

    Parameters
    ----------
    content
        The bytes of the file.
    """

    def __init__(self, content: bytes) -> None:
        runtime = require("onnxruntime", "run")
        options = runtime.SessionOptions()
        # One thread, so that results do not depend on their number.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = runtime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {node.name: node for node in self._session.get_inputs()}
        shapes = {node.name: node.shape for node in self._session.get_outputs()}
        self.outputs = int(shapes["density"][-1])
        self._states = [name for name in self._inputs if name + NEXT in shapes]
        self._results = ["density", *(name + NEXT for name in self._states)]
        # Inputs of the binning, which is not used here: features are computed before.
        channels = self._inputs["samples"].shape[-1]
        self._unused: dict[str, NDArray[Any]] = {}
        if "shift" in self._inputs:
            self._unused = {"shift": np.zeros(channels), "scale": np.ones(channels)}
        self._channels = channels

    @property
    def metadata(self) -> Mapping[str, str]:
        """The metadata of the file."""
        entries: Mapping[str, str] = self._session.get_modelmeta().custom_metadata_map
        return entries

    def initial_state(self) -> State:
        """State before the first bin: zeros, with a batch of one."""
        inputs = [self._inputs[name] for name in self._states]
        return [np.zeros((1, *node.shape[1:]), dtype=_KINDS[node.type]) for node in inputs]

    def step(
        self, values: Singles, hour: Longs | None, weekday: Longs | None, state: State
    ) -> tuple[Singles, State]:
        arrays = {
            "samples": np.zeros((len(values), 0, 1, self._channels), np.float32),
            "values": values,
            "hour": hour,
            "weekday": weekday,
            **self._unused,
            **dict(zip(self._states, state, strict=True)),
        }
        inputs = {name: array for name, array in arrays.items() if name in self._inputs}
        density, *after = self._session.run(self._results, inputs)
        return density, after

    def _part(self, binned: Binned, state: State) -> tuple[Singles, State]:
        """Density (bins, outputs) of the next bins of one recording, and the state after them."""
        hour = None if binned.hour is None else binned.hour[None]
        weekday = None if binned.weekday is None else binned.weekday[None]
        density, after = self.step(binned.values[None], hour, weekday, state)
        return density[0], after

    def density(self, binned: Binned, model: Model) -> Singles:
        """Density (bins, outputs) of one recording; see `bdl.inference.density`."""
        bins = len(binned)
        state = self.initial_state()
        if model.settings.encoder.causal:
            blocks = [np.zeros((0, self.outputs), np.float32)]
            for first in range(0, bins, CARRIED):
                density, state = self._part(binned[first : first + CARRIED], state)
                blocks.append(density)
            return np.concatenate(blocks)
        total = np.zeros((bins, self.outputs), np.float32)
        if bins == 0:
            return total
        size = min(model.tile, bins)
        shifts = tile_shifts(bins, size=model.tile, tilings=model.settings.tilings)
        for shift in shifts:
            cover = tiles(bins, size=size, overlap=size // 2, shift=shift)
            parts = ((t, self._part(binned[t.first : t.stop], state)[0]) for t in cover)
            total += stitch(parts, bins=bins, outputs=self.outputs)
        return total / np.float32(len(shifts))
