"""Batches: one random window of every recording an epoch, with its target, padded and masked.

Features are binned once and stay in memory (float32), so that a window is a slice. The window of
a recording is drawn from the seed, the epoch and the recording's place, and the order of the
recordings from the seed and the epoch: nothing depends on what was drawn before, so that training
may stop after any epoch and go on. The next batch is made by a thread while the model works on
the current one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bdl.features import Binned
from bdl.labels import Labels
from bdl.objectives import Objective
from bdl.windows import random_start, span


@dataclass(frozen=True, eq=False)
class Prepared:
    """A training recording: the features of its bins, and its annotations in samples."""

    binned: Binned
    labels: Labels


class Batch(NamedTuple):
    """Windows of several recordings; shapes (batch, bins, ...).

    ``values`` float32, ``target`` float32, ``mask`` True where a bin is the recording's,
    ``hour`` and ``weekday`` int64 or None, ``epoch`` the epoch it was drawn for.
    """

    values: Tensor
    target: Tensor
    mask: Tensor
    hour: Tensor | None
    weekday: Tensor | None
    epoch: int


class Batches:
    """The batches of the current epoch, anew at every iteration.

    Parameters
    ----------
    prepared : the recordings.
    objective : makes the target of a window.
    stride : samples a bin.
    window : longest window in bins.
    fixed : every window is padded to the full length (encoders of fixed length).
    size : windows a batch, over all devices together.
    jitter : largest random shift of a label in samples.
    seed : all that is random follows from it.
    epoch : tells the current epoch, from 0.
    place : this process and the number of processes.
    """

    def __init__(
        self,
        prepared: Sequence[Prepared],
        objective: Objective,
        *,
        stride: int,
        window: int,
        fixed: bool,
        size: int,
        jitter: int,
        seed: int,
        epoch: Callable[[], int],
        place: Callable[[], tuple[int, int]] = lambda: (0, 1),
    ) -> None:
        self.prepared = prepared
        self.objective = objective
        self.stride = stride
        self.window = window
        self.fixed = fixed
        self.size = size
        self.jitter = jitter
        self.seed = seed
        self.epoch = epoch
        self.place = place
        self.waited = 0.0
        self.ahead: tuple[int, Future[Batch]] | None = None
        # Kept over epochs: an interrupt that met a generator's clean-up would be lost.
        self.worker = ThreadPoolExecutor(1, thread_name_prefix="batches")

    def __len__(self) -> int:
        return -(-len(self.prepared) // self.size)

    def __iter__(self) -> Iterator[Batch]:
        epoch = self.epoch()
        shares = self.shares(epoch)
        known, ahead = self.ahead or (None, None)
        if ahead is None or known != epoch:
            ahead = self.worker.submit(self.make, epoch, shares[0])
        for place in range(len(shares)):
            begin = time.perf_counter()
            batch = ahead.result()
            self.waited += time.perf_counter() - begin
            if place + 1 < len(shares):
                ahead = self.worker.submit(self.make, epoch, shares[place + 1])
            else:  # the next epoch's first one
                first = self.shares(epoch + 1)[0]
                self.ahead = (epoch + 1, self.worker.submit(self.make, epoch + 1, first))
            yield batch

    def shares(self, epoch: int) -> list[NDArray[np.int64]]:
        """Places of the recordings of each batch of an epoch, for this process."""
        rank, ranks = self.place()
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.prepared))
        plans = [order[first : first + self.size] for first in range(0, len(order), self.size)]
        # A process without a share of a small last batch repeats its first window.
        return [plan[rank::ranks] if len(plan) > rank else plan[:1] for plan in plans]

    def make(self, epoch: int, chosen: Sequence[int] | NDArray[np.int64]) -> Batch:
        """The batch of the given recordings, by place."""
        bins = [min(self.window, len(self.prepared[i].binned)) for i in chosen]
        length = self.window if self.fixed else max(bins)
        shape = (len(bins), length)
        first = self.prepared[0].binned
        values = np.zeros((*shape, first.values.shape[1]), dtype=np.float32)
        mask = np.zeros(shape, dtype=np.bool_)
        calendar = first.hour is not None
        hours = np.zeros((2, *shape), dtype=np.int64) if calendar else None
        target: NDArray[np.float32] | None = None
        for row, (i, size) in enumerate(zip(chosen, bins, strict=True)):
            one = self.prepared[i]
            rng = np.random.default_rng([self.seed, epoch, int(i)])
            start = random_start(len(one.binned), size, rng)
            labels = one.labels.jittered(self.jitter, rng)
            begin, samples = span(start, size, stride=self.stride, samples=labels.samples)
            made = self.objective.target(labels, stride=self.stride, first=begin, samples=samples)
            if target is None:
                target = np.zeros((*shape, made.shape[1]), dtype=np.float32)
            target[row, :size] = made
            values[row, :size] = one.binned.values[start : start + size]
            mask[row, :size] = True
            if hours is not None and one.binned.hour is not None and one.binned.weekday is not None:
                hours[0, row, :size] = one.binned.hour[start : start + size]
                hours[1, row, :size] = one.binned.weekday[start : start + size]
        assert target is not None
        return Batch(
            torch.from_numpy(values),
            torch.from_numpy(target),
            torch.from_numpy(mask),
            None if hours is None else torch.from_numpy(hours[0]),
            None if hours is None else torch.from_numpy(hours[1]),
            epoch,
        )
