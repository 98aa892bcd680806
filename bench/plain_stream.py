"""A stream without the package's own code: numpy, torch's layers, a peak rule.

A stream keeps the state of the layers. Each bin is summarised by numpy, stepped through torch's
layers, and compared with the last densities: the highest of its neighbours is a detection.
"""

from __future__ import annotations

import json
from collections import deque
from time import process_time
from typing import Any

import numpy as np
import torch

from bdl import Detector
from bdl.encoders.fused.setting import use_fused
from bench.row import best

NEIGHBOURS = 5  # bins on either side of a peak
LEAST = 0.05


class PlainStream:
    """One stream, one bin at a time."""

    def __init__(self, detector: Detector) -> None:
        module: Any = detector.module_
        self.module = module
        scaling: Any = detector.model_.features.scaling
        self.median, self.spread = np.array(scaling.median), np.array(scaling.spread)
        self.state = self.module.initial_state(1)
        self.recent: deque[float] = deque(maxlen=2 * NEIGHBOURS + 1)
        self.bins = 0

    def push(self, rows: np.ndarray) -> list[tuple[int, float]]:
        """Take the samples of one bin (samples, channels); the peak that is now known, if any."""
        scaled = (rows - self.median) / self.spread
        columns = [scaled.mean(axis=0), scaled.max(axis=0), scaled.min(axis=0), scaled.std(axis=0)]
        features = torch.from_numpy(np.stack(columns, axis=1).reshape(1, 1, -1)).float()
        with torch.inference_mode():
            logits, self.state = self.module.step(features, self.state)
            density = float(torch.nn.functional.softplus(logits)[0, 0, 0])
        self.recent.append(density)
        self.bins += 1
        if len(self.recent) < 2 * NEIGHBOURS + 1:
            return []
        middle = self.recent[NEIGHBOURS]
        if middle < LEAST or middle < max(self.recent):
            return []
        return [(self.bins - 1 - NEIGHBOURS, middle)]


def plain_seconds(detector: Detector, streams: int, stride: int, channels: int) -> dict[str, float]:
    """Processor seconds per stream and bin: encoder ``alone``, ``loop``, and ``json`` with it."""
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(streams, stride, channels)).round(4)
    messages = ["\n".join(json.dumps({"values": row}) for row in rows) for rows in samples.tolist()]
    plain = [PlainStream(detector) for _ in range(streams)]
    features = torch.zeros(1, 1, 4 * channels)

    def alone() -> None:
        with torch.inference_mode():
            for stream in plain:
                _, stream.state = stream.module.step(features, stream.state)

    def loop() -> None:
        for stream, rows in zip(plain, samples, strict=True):
            stream.push(rows)

    def from_json() -> None:
        for stream, message in zip(plain, messages, strict=True):
            stream.push(np.array([json.loads(line)["values"] for line in message.split("\n")]))

    use_fused(False)
    try:
        measured = {"alone": alone, "loop": loop, "json": from_json}
        return {name: best(work, 5, process_time) / streams for name, work in measured.items()}
    finally:
        use_fused(True)
