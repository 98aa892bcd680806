"""The training of one module: its data, its settings and its run directory.

A run directory contains ``run.json`` (what is trained on what data, as digests), ``last.ckpt``
(everything that the next epoch needs), ``epoch-N.safetensors`` (weights of a kept epoch) and
``history.csv`` (one row per epoch). Each file is written completely or not at all; ``last.ckpt`` is
written last, so that all files it refers to exist.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from bdl.config import mapping
from bdl.errors import ConfigError, InputError, TrainingError
from bdl.features import Features
from bdl.formats.atomic_files import atomic
from bdl.formats.files import reading
from bdl.formats.outputs import remove_leftovers
from bdl.objectives import Objective
from bdl.plain_data import parse_json
from bdl.training.batches import TrainingRecording, batch_count
from bdl.training.history import Epoch, TrainingResult, Validate, history_csv
from bdl.training.hyperparameters import Training, TrainingLength

LAST = "last.ckpt"


@dataclass(frozen=True, eq=False)
class TrainingTask:
    """The training of one module, as `bdl.encoders.Encoder.train` runs it.

    Parameters
    ----------
    objective
        A resolved objective (see `bdl.objectives`).
    recordings
        Training recordings.
    training
        Optimizer, budget and device.
    features
        Features per bin of the recordings.
    window
        Bins per training window.
    outputs
        Number of outputs that the module must have.
    validate
        Score of a module on validation recordings; larger is better.
    directory
        Run directory. An unfinished run of the same identity in it is resumed.
    identity
        What is trained on what data, as plain data; equal for two runs that are the same.
    tensorboard
        Also log for TensorBoard, to the folder ``tensorboard`` of the directory.
    progress
        Show a progress bar on standard error.
    """

    objective: Objective
    recordings: Sequence[TrainingRecording]
    training: Training
    features: Features
    window: int
    outputs: int
    validate: Validate | None = None
    directory: Path | None = None
    identity: Mapping[str, Any] = field(default_factory=dict)
    tensorboard: bool = False
    progress: bool = False

    def __post_init__(self) -> None:
        if not self.recordings:
            raise InputError("training needs at least one recording, got none")
        if self.tensorboard and self.directory is None:
            raise ConfigError("tensorboard needs a directory to log to")

    @cached_property
    def length(self) -> TrainingLength:
        """Epochs and steps of the training."""
        return self.training.length(batch_count(self.recordings, self.training, self.window))

    def by_gradient(self, module: nn.Module) -> TrainingResult:
        """Train a module in place by gradient descent; see `bdl.training.loop`."""
        from bdl.training.loop import train  # here, because Lightning takes seconds to import

        return train(module, self)

    def member(self, place: int) -> TrainingTask:
        """Return the task of one member of an ensemble, with a seed and a folder of its own.

        It is not validated: scores are those of the whole ensemble.
        """
        return replace(
            self,
            training=self.training.replace(seed=self.training.seed + place),
            validate=None,
            directory=None if self.directory is None else self.directory / f"member-{place}",
            identity={**self.identity, "member": place},
        )

    def run_all(self, trainings: Sequence[Callable[[], TrainingResult]]) -> list[TrainingResult]:
        """Run independent trainings in up to `Training.workers` worker processes.

        Results are the same for any number of processes.
        """
        workers = min(self.training.workers, len(trainings))
        if workers == 1:
            return [train() for train in trainings]
        from bdl.workers import WorkerDeath, Workers, run_all

        pool = Workers(jobs=workers, threads=max(1, (os.cpu_count() or 1) // workers))
        results: dict[int, TrainingResult] = {}
        for (place, _), result in run_all(_run_numbered, [*enumerate(trainings)], pool):
            if isinstance(result, WorkerDeath):
                raise TrainingError(f"training of member {place}: {result}")
            results[place] = result
        return [results[place] for place in range(len(trainings))]

    def start(self) -> TrainingResult:
        """Claim the run directory and return an empty result; for trainings without resume."""
        self.claim()
        return TrainingResult()

    def claim(self) -> Path | None:
        """Create the run directory, or continue in it; return the checkpoint to resume from.

        A directory of another training is an error, because weights of both would be mixed. Without
        a checkpoint, the result is None.
        """
        directory, identity = self.directory, dict(self.identity)
        if directory is None:
            return None
        remove_leftovers(directory)
        record = directory / "run.json"
        if record.exists():
            with reading(record, "the record of a training"):
                recorded = mapping(parse_json(record.read_bytes(), record), str(record))
            if recorded != identity:
                keys = {*recorded, *identity}
                differs = sorted(key for key in keys if recorded.get(key) != identity.get(key))
                raise ConfigError(
                    f"{directory}: contains another training (it differs in {', '.join(differs)}); "
                    "choose another directory, or remove this one"
                )
            last = directory / LAST
            return last if last.exists() else None
        if directory.exists() and any(directory.iterdir()):
            raise ConfigError(f"{directory}: contains files, but no training run; choose another")
        directory.mkdir(parents=True, exist_ok=True)
        write(record, json.dumps(identity, indent=1, sort_keys=True).encode())
        return None

    def keep(
        self, result: TrainingResult, module: nn.Module, *, weights: dict[str, Tensor], **row: Any
    ) -> None:
        """Score a module, and add it to a result and to the history in the directory.

        Parameters
        ----------
        result
            Result that the epoch is added to.
        module
            The module with its weights of this epoch.
        weights
            Copies of these weights.
        **row
            Fields of `bdl.training.history.Epoch`, except the score.
        """
        epoch = Epoch(**row, score=self.validate(module) if self.validate else None)
        result.history.append(epoch)
        result.checkpoints[epoch.epoch] = weights
        if self.directory is not None:
            write(self.directory / "history.csv", history_csv(result.history))


def _run_numbered(numbered: tuple[int, Callable[[], TrainingResult]]) -> TrainingResult:
    """Run a training that was sent to a worker process with its number."""
    return numbered[1]()


def weights_name(epoch: int) -> str:
    """Return the file name of the weights of a kept epoch.

    Examples
    --------
    >>> weights_name(5)
    'epoch-005.safetensors'
    """
    return f"epoch-{epoch:03d}.safetensors"


def write(path: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    with atomic(path) as temporary:
        temporary.write_bytes(content)
