"""The Lightning callback that scores, keeps and writes weights after every epoch.

All random numbers follow from the seed and the epoch, so that a run resumed from its last
checkpoint ends with the same bytes as one that was never stopped.
"""

from __future__ import annotations

import hashlib
import io
import time
from dataclasses import asdict
from typing import Any

import lightning as L
import torch
from safetensors.torch import load, save
from torch import Tensor, nn

from bdl.errors import InputError
from bdl.formats.files import existing
from bdl.training.history import Epoch, TrainingResult, history_csv
from bdl.training.lightning_module import TrainableEncoder
from bdl.training.task import LAST, TrainingTask, weights_name, write


class Checkpointing(L.Callback):
    """Writes the history, kept weights and the last checkpoint of a task after every epoch."""

    def __init__(self, task: TrainingTask) -> None:
        self.kept = task.length.kept
        self.validate = task.validate
        self.directory = task.directory
        self.result = TrainingResult()
        self.hashes: dict[int, str] = {}  # of the files with weights, by epoch
        self.started = time.perf_counter()

    def on_train_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Start the clock of the epoch."""
        self.started = time.perf_counter()

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Score and keep the weights if the epoch is kept, and write everything."""
        assert isinstance(pl_module, TrainableEncoder)
        pl_module.check_weights()
        epoch = trainer.current_epoch + 1
        losses = pl_module.epoch_losses
        is_kept = epoch in self.kept
        row = Epoch(
            epoch=epoch,
            steps=trainer.global_step,
            loss=sum(losses) / len(losses),
            learning_rate=trainer.optimizers[0].param_groups[0]["lr"],
            score=self.validate(pl_module.result) if is_kept and self.validate else None,
            seconds=time.perf_counter() - self.started,
        )
        self.result.history.append(row)
        if is_kept:
            self.result.checkpoints[epoch] = weights_of(pl_module.result)
        metrics = {key: value for key, value in asdict(row).items() if value is not None}
        for logger in trainer.loggers:
            logger.log_metrics(metrics, step=trainer.global_step)
        if self.directory is None or not trainer.is_global_zero:
            return
        if is_kept:
            content = save(self.result.checkpoints[epoch])
            self.hashes[epoch] = hashlib.sha256(content).hexdigest()
            write(self.directory / weights_name(epoch), content)
        write(self.directory / "history.csv", history_csv(self.result.history))
        buffer = io.BytesIO()
        torch.save(trainer._checkpoint_connector.dump_checkpoint(False), buffer)
        write(self.directory / LAST, buffer.getvalue())

    def state_dict(self) -> dict[str, Any]:
        """Return the history; weights of kept epochs have files of their own, named by hashes."""
        return {"history": [asdict(row) for row in self.result.history], "weights": self.hashes}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the history, and the weights that the directory contains."""
        history = [Epoch(**row) for row in state_dict["history"]]
        self.hashes = dict(state_dict["weights"])
        checkpoints = {epoch: self._kept_weights(epoch) for epoch in self.hashes}
        self.result = TrainingResult(history, checkpoints)

    def _kept_weights(self, epoch: int) -> dict[str, Tensor]:
        assert self.directory is not None
        file = self.directory / weights_name(epoch)
        content = existing(file).read_bytes()
        if hashlib.sha256(content).hexdigest() != self.hashes[epoch]:
            raise InputError(f"{file}: altered since it was written; remove {self.directory}")
        return load(content)


def weights_of(encoder: nn.Module) -> dict[str, Tensor]:
    """Return a copy of the weights on the CPU, in float32 for any training precision."""
    return {
        name: value.detach()
        .to("cpu", torch.float32 if value.is_floating_point() else value.dtype, copy=True)
        .contiguous()
        for name, value in encoder.state_dict().items()
    }
