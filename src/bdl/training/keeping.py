"""What is kept of a training, on disk and in memory, and how it goes on after a kill.

A run directory holds ``run.json`` (what is trained on what, as a digest), ``last.ckpt`` (all that
the next epoch needs), ``epoch-N.safetensors`` (weights of a kept epoch) and ``history.csv`` (a
row an epoch). Each is written whole or not at all; ``last.ckpt`` comes last, so that whatever it
speaks of is there. Everything random follows from the seed and the epoch, so that a run taken up
from ``last.ckpt`` ends with the same bytes as one that was never stopped.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import lightning as L
import torch
from safetensors.torch import load_file, save
from torch import nn

from bdl.errors import ConfigError, InputError
from bdl.formats.files import atomic
from bdl.training.history import Epoch, Kept, Weights, best_epoch, history_csv
from bdl.training.module import Step
from bdl.training.settings import Training

Validate = Callable[[nn.Module], float]


class Keeper(L.Callback):
    """Writes the history, kept weights and the checkpoint after every epoch.

    Parameters
    ----------
    settings : says which epochs are kept.
    validate : score of the current weights on the validation part; larger is better.
    directory : run directory, or None to keep everything in memory only.
    """

    def __init__(
        self, settings: Training, validate: Validate | None, directory: Path | None
    ) -> None:
        self.settings = settings
        self.validate = validate
        self.directory = directory
        self.kept = Kept()
        self.begun = time.perf_counter()

    def on_train_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Start the epoch's clock."""
        self.begun = time.perf_counter()

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Score and keep what is due, then make the epoch final."""
        assert isinstance(pl_module, Step)
        pl_module.check_weights()
        epoch = trainer.current_epoch + 1
        losses = pl_module.epoch_losses
        due = epoch in self.settings.kept
        score = self.validate(pl_module.encoder) if due and self.validate else None
        row = Epoch(
            epoch,
            trainer.global_step,
            sum(losses) / len(losses),
            trainer.optimizers[0].param_groups[0]["lr"],
            time.perf_counter() - self.begun,
            score,
        )
        self.kept.history.append(row)
        if due:
            self.kept.checkpoints[epoch] = weights_of(pl_module.encoder)
            self.kept.best = best_epoch(self.kept.history, self.settings)
        told = {key: value for key, value in asdict(row).items() if value is not None}
        for logger in trainer.loggers:
            logger.log_metrics(told, step=trainer.global_step)
        if self.directory is None or not trainer.is_global_zero:
            return
        if due:
            _write(self.directory / weights_name(epoch), save(self.kept.checkpoints[epoch]))
        _write(self.directory / "history.csv", history_csv(self.kept.history))
        buffer = io.BytesIO()
        torch.save(trainer._checkpoint_connector.dump_checkpoint(False), buffer)
        _write(self.directory / "last.ckpt", buffer.getvalue())

    def state_dict(self) -> dict[str, Any]:
        """The history; weights of kept epochs have files of their own."""
        return {"history": [asdict(row) for row in self.kept.history]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take up the history and the weights that the directory holds."""
        self.kept.history = [Epoch(**row) for row in state_dict["history"]]
        assert self.directory is not None
        for row in self.kept.history:
            if row.epoch in self.settings.kept:
                file = self.directory / weights_name(row.epoch)
                self.kept.checkpoints[row.epoch] = load_file(file)
        self.kept.best = best_epoch(self.kept.history, self.settings)


def claim(directory: Path, identity: dict[str, Any]) -> Path | None:
    """Make a run directory ours; the checkpoint to go on from, or None for a fresh start.

    A directory that holds another training is refused: its weights would be mixed with ours.
    """
    record = directory / "run.json"
    if record.exists():
        try:
            there = json.loads(record.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{record}: not readable as JSON ({error}); remove it") from error
        if there != identity:
            differs = sorted(k for k in {*there, *identity} if there.get(k) != identity.get(k))
            raise ConfigError(
                f"{directory}: holds another training (it differs in {', '.join(differs)}); "
                "choose another directory, or remove this one"
            )
        last = directory / "last.ckpt"
        return last if last.exists() else None
    if directory.exists() and any(directory.iterdir()):
        raise ConfigError(f"{directory}: holds files that are no training of ours; choose another")
    directory.mkdir(parents=True, exist_ok=True)
    _write(record, json.dumps(identity, indent=1, sort_keys=True).encode())
    return None


def weights_of(encoder: nn.Module) -> Weights:
    """A copy of the weights on the CPU, in float32 whatever precision they were trained in."""
    return {
        name: value.detach()
        .to("cpu", torch.float32 if value.is_floating_point() else value.dtype, copy=True)
        .contiguous()
        for name, value in encoder.state_dict().items()
    }


def weights_name(epoch: int) -> str:
    """File name of a kept epoch's weights.

    >>> weights_name(5)
    'epoch-005.safetensors'
    """
    return f"epoch-{epoch:03d}.safetensors"


def _write(path: Path, content: bytes) -> None:
    with atomic(path) as temporary:
        temporary.write_bytes(content)
