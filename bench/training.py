"""Training speed: the overhead over a plain torch loop, and the time spent waiting for data.

Both train the same module on the same recordings with the same optimiser, clipping and schedule.
The plain loop has its batch ready in memory and does nothing else; ours draws, crops and builds
targets for every batch, checks every loss, and keeps weights and history.

    python -m bench.training
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import torch

from bdl.binning import Binned
from bdl.encoders import Recurrent
from bdl.encoders.allocator import keep_buffers
from bdl.features import Features
from bdl.labels import Labels
from bdl.objectives import BDL
from bdl.training import Training, loop
from bdl.training.batches import Batch, Batches, TrainingRecording
from bdl.training.schedule import learning_rate
from bdl.training.task import TrainingTask
from bench.row import Row, table

STRIDE = 10
FEATURES = Features(stride=STRIDE, scaling="none")
DAYS = 1728  # bins


def recordings(count: int, bins: int) -> list[TrainingRecording]:
    """Features of noise with a calendar, and two events per day, as in sleep."""
    rng = np.random.default_rng(0)
    prepared = []
    for i in range(count):
        total = bins + bins // 2
        hours = np.arange(total) // 72 % 24
        values = rng.normal(size=(total, 8)).astype(np.float32)
        places = [np.arange(shift, total * STRIDE, DAYS * STRIDE) for shift in (100, 6000)]
        binned = Binned(values, hours, hours % 7, np.zeros(total, dtype=np.bool_))
        labels = Labels(str(i), 5.0, total * STRIDE, tuple(places))
        prepared.append(TrainingRecording(binned, labels))
    return prepared


def run(batch: int = 32, bins: int = 12_096, steps: int = 8) -> list[Row]:
    """Seconds per step of ours and of the plain loop, and the share of time spent waiting."""
    keep_buffers()
    data = recordings(batch, bins)
    labels = [recording.labels for recording in data]
    objective = BDL(reference_spacing=86400.0).resolve(labels, stride=STRIDE)
    instances: list[Batches] = []
    marks: list[tuple[float, float]] = []

    class Counted(Batches):
        """Batches that record when each epoch, here one step, begins."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            instances.append(self)

        def __iter__(self) -> Iterator[Batch]:
            marks.append((time.perf_counter(), time.process_time()))
            return super().__iter__()

    def module() -> torch.nn.Module:
        torch.manual_seed(0)
        built: torch.nn.Module = Recurrent().build(inputs=8, outputs=2, calendar=True)
        return built

    training = Training(epochs=steps, batch=batch, accelerator="cpu")
    with mock.patch.object(loop, "Batches", Counted):
        task = TrainingTask(objective, data, training, FEATURES, bins, 2)
        result = loop.train(module(), task)
    ours, ours_cpu = np.diff(np.array(marks[1:]), axis=0).min(axis=0)
    waited = instances[0].waited / sum(epoch.seconds for epoch in result.history)

    encoder = module()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=3e-3)
    ready = instances[0].make(0, range(batch))
    marks.clear()
    for step in range(steps):
        marks.append((time.perf_counter(), time.process_time()))
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps, 3e-3)
        optimizer.zero_grad()
        logits = encoder(ready.values, ready.hour, ready.weekday, ready.mask)
        objective.loss(logits, ready.target, ready.mask).backward()
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 0.1)
        optimizer.step()
    plain, plain_cpu = np.diff(np.array(marks[1:]), axis=0).min(axis=0)
    name = f"sleep GRU step, {batch} x {bins:,} bins"
    over = f"overhead {ours / plain - 1:+.1%}, of processor time {ours_cpu / plain_cpu - 1:+.1%}"
    over += " (goal: at most 5 %)"
    share = f"share of time waiting for data {waited:.2%} (goal: at most 5 %)"
    return [Row(name, float(ours), float(plain), note=f"{over}; {share}")]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--bins", type=int, default=12_096)
    parser.add_argument("--steps", type=int, default=8)
    args = parser.parse_args()
    print(table(run(args.batch, args.bins, args.steps)))


if __name__ == "__main__":
    main()
