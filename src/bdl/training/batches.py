"""Batches: one random window of every recording per epoch, with its target, padded and masked.

Features are binned once and stay in memory (float32) or, if they are larger, in a mapped file
(`bdl.training.feature_file`), so that a window is a slice. The window of a recording is drawn from
the seed, the epoch and the recording's index, and the order of the recordings from the seed and the
epoch. Nothing depends on earlier draws, so that training may stop after any epoch and resume. A
thread prepares the next batch while the model works on the current one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bdl.arrays import Flags, Longs, Singles
from bdl.binning import Binned
from bdl.features import Features
from bdl.labels import Labels
from bdl.objectives import Objective
from bdl.targets import Crop
from bdl.training.hyperparameters import Training
from bdl.windows import random_start, span


@dataclass(frozen=True, eq=False)
class TrainingRecording:
    """A training recording: the features of its bins, and its annotations in samples."""

    binned: Binned
    labels: Labels
    annotated: Flags | None = None  # bins to learn from; None for all
    # Bins by which outputs are late; the features have as many blank bins at their end.
    lag: int = 0

    @property
    def bins(self) -> int:
        """Bins of the recording, without the blank ones."""
        return len(self.binned) - self.lag

    def rows(self, start: int, size: int, *, reversed: bool) -> Longs:
        """Rows of the features that a window reads; -1 before the start is a blank bin.

        A window of ``size`` bins from bin ``start`` is followed by the ``lag`` bins after which
        the outputs of its last bin are due; where time runs backwards, by those before it.
        """
        if not reversed:
            return np.arange(start, start + size + self.lag)
        return np.maximum(np.arange(start + size - 1, start - self.lag - 1, -1), -1)


class Batch(NamedTuple):
    """Windows of several recordings; shapes (batch, bins, ...).

    With a lag, a window has ``lag`` more bins, and the target of its first bin is at bin ``lag``.

    ``values`` and ``target`` are float32, ``mask`` is True where a bin belongs to the recording,
    ``learned`` is True where it is also annotated, ``hour`` and ``weekday`` are int64 or None, and
    ``epoch`` is the epoch it was drawn for.
    """

    values: Tensor
    target: Tensor
    mask: Tensor
    learned: Tensor
    hour: Tensor | None
    weekday: Tensor | None
    epoch: int


class Batches:
    """The batches of the current epoch, drawn again at every iteration.

    Windows have at most ``window`` bins; with ``fixed`` they are padded to as many, for encoders of
    fixed length. ``steps`` are those of the whole training, for objectives that change during
    training. ``epoch`` returns the current epoch, from 0, and ``rank`` the index of this process
    and the number of processes.
    """

    def __init__(
        self,
        recordings: Sequence[TrainingRecording],
        objective: Objective,
        *,
        training: Training,
        features: Features,
        window: int,
        fixed: bool,
        steps: int,
        epoch: Callable[[], int],
        rank: Callable[[], tuple[int, int]] = lambda: (0, 1),
    ) -> None:
        self.recordings = recordings
        self.objective = objective
        self.training = training
        self.features = features
        self.stride = features.bin_samples
        self.window = window
        self.fixed = fixed
        self.steps = steps
        self.draws = draws(recordings, training, window)
        training.augmentation.check([recording.labels for recording in recordings])
        self.epoch = epoch
        self.rank = rank
        self.waited = 0.0  # seconds that the model waited for batches
        self.prefetched: tuple[int, Future[Batch]] | None = None
        # Kept between epochs: an interrupt during the clean-up of a generator would be lost.
        self.worker = ThreadPoolExecutor(1, thread_name_prefix="batches")

    def __len__(self) -> int:
        return -(-len(self.draws) // self.training.batch)

    def __iter__(self) -> Iterator[Batch]:
        epoch = self.epoch()
        shares = self.shares(epoch)
        prefetched_epoch, upcoming = self.prefetched or (None, None)
        if upcoming is None or prefetched_epoch != epoch:
            upcoming = self.worker.submit(self.make, epoch, shares[0])
        for index in range(len(shares)):
            start = time.perf_counter()
            batch = upcoming.result()
            self.waited += time.perf_counter() - start
            if index + 1 < len(shares):
                upcoming = self.worker.submit(self.make, epoch, shares[index + 1])
            else:  # the first batch of the next epoch
                first = self.shares(epoch + 1)[0]
                self.prefetched = (epoch + 1, self.worker.submit(self.make, epoch + 1, first))
            yield batch

    def shares(self, epoch: int) -> list[Longs]:
        """Return the indices of the draws of each batch of an epoch, for this process."""
        rank, ranks = self.rank()
        order = np.random.default_rng([self.training.seed, epoch]).permutation(len(self.draws))
        size = self.training.batch
        batches = [order[first : first + size] for first in range(0, len(order), size)]
        return [batch[rank::ranks] for batch in batches]

    def make(self, epoch: int, indices: Sequence[int] | Longs) -> Batch:
        """Return the batch of the draws with the given indices.

        A process without a share of a small last batch gets a window of which nothing is learned.
        """
        draws = [self.draws[index] for index in indices] or self.draws[:1]
        bins = [min(self.window, self.recordings[i].bins) for i, _ in draws]
        objective = self.objective.at(epoch * len(self) / self.steps)
        lag = self.recordings[0].lag
        shape = (len(bins), self.window if self.fixed else max(bins) + lag)
        first = self.recordings[0].binned
        values = np.zeros((*shape, first.values.shape[1]), dtype=np.float32)
        mask = np.zeros(shape, dtype=np.bool_)
        learned = np.zeros(shape, dtype=np.bool_)
        hour = None if first.hour is None else np.zeros(shape, dtype=np.int64)
        weekday = None if first.weekday is None else np.zeros(shape, dtype=np.int64)
        target: Singles | None = None
        for row, ((i, repeat), size) in enumerate(zip(draws, bins, strict=True)):
            binned = self.recordings[i].binned
            rng = np.random.default_rng(
                [self.training.seed, epoch, i, *([repeat] if repeat else [])]
            )
            start = random_start(self.recordings[i].bins, size, rng)
            labels = self.recordings[i].labels.jittered(self.training.jitter, rng)
            begin, samples = span(start, size, stride=self.stride, samples=labels.samples)
            crop = Crop(begin, samples, self.stride)
            # Whole bins: a last, partial one becomes the first.
            backwards = self.training.augmentation.reverses(rng)
            if backwards:
                labels = labels.reversed(begin, size * self.stride)
                crop = Crop(0, labels.samples, self.stride)
            window_target = objective.target(labels, crop)
            if target is None:
                target = np.zeros((*shape, window_target.shape[1]), dtype=np.float32)
            rows = self.recordings[i].rows(start, size, reversed=backwards)
            used, outputs = slice(0, len(rows)), slice(lag, len(rows))
            target[row, outputs] = window_target
            values[row, used] = binned.values[rows]
            self.features.clear(values[row, used], rows < 0)
            self.training.augmentation.change(values[row, used], self.features, rng)
            mask[row, used] = True
            annotated = self.recordings[i].annotated
            learned[row, outputs] = (
                True if annotated is None else annotated[rows[: len(rows) - lag]]
            )
            for category, source in ((hour, binned.hour), (weekday, binned.weekday)):
                if category is not None and source is not None:
                    category[row, used] = source[rows]
        assert target is not None
        if not len(indices):
            learned[:] = False
        return Batch(
            torch.from_numpy(values),
            torch.from_numpy(target),
            torch.from_numpy(mask),
            torch.from_numpy(learned),
            None if hour is None else torch.from_numpy(hour),
            None if weekday is None else torch.from_numpy(weekday),
            epoch,
        )


def draws(
    recordings: Sequence[TrainingRecording], training: Training, window: int
) -> list[tuple[int, int]]:
    """Return every window of an epoch as (index of the recording, repeat)."""
    repeats = [
        max(1, round(recording.bins / window)) if training.draws_by_length else 1
        for recording in recordings
    ]
    return [(i, repeat) for i, count in enumerate(repeats) for repeat in range(count)]


def batch_count(recordings: Sequence[TrainingRecording], training: Training, window: int) -> int:
    """Return the batches per epoch."""
    return -(-len(draws(recordings, training, window)) // training.batch)
