"""The Lightning module: forward pass, loss, and checks that training has not diverged."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import lightning as L
import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from bdl.errors import TrainingError
from bdl.inference import check_logits
from bdl.training.batches import Batch
from bdl.training.hyperparameters import Training
from bdl.training.schedule import learning_rate

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]  # logits, target, mask → a number

# A loss that exceeds the first one by this factor has diverged.
DIVERGED = 1e4


class TrainableEncoder(L.LightningModule):
    """An encoder with its loss and optimizer, for a training of this many steps.

    The loss is a function of logits and target (batch, bins, outputs) and mask (batch, bins).
    """

    def __init__(
        self, encoder: nn.Module, loss: Loss, *, outputs: int, training: Training, steps: int
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.loss = loss
        self.outputs = outputs
        self.settings = training  # Lightning uses the name `training` itself
        self.steps = steps
        self.peak = training.peak_rate(steps)
        # A part of the module, so that it is in every checkpoint of the run.
        self.averaged: AveragedModel | None = None
        if training.average is not None:
            horizon = max(1.0, training.average * steps)
            self.averaged = AveragedModel(
                encoder,
                avg_fn=lambda mean, new, count: mean + (new - mean) / min(count + 1, horizon),
                use_buffers=True,  # statistics of batch norms belong to the weights
            ).requires_grad_(False)
        self.first_loss: float | None = None
        self.epoch_losses: list[float] = []

    def on_train_epoch_start(self) -> None:
        """Seed the dropout of the epoch from the seed and the epoch alone."""
        self.epoch_losses = []
        words = np.random.SeedSequence([self.settings.seed, self.current_epoch]).generate_state(2)
        torch.manual_seed(int(words[0]) << 32 | int(words[1]))

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> int | None:
        """End the last epoch early if all steps are done, for which Lightning expects -1."""
        # Lightning's own limit of steps resumes with other numbers.
        return -1 if self.global_step >= self.steps else None

    def training_step(self, batch: Batch, index: int) -> Tensor:
        """Return the loss of one batch."""
        assert batch.epoch == self.current_epoch
        output = self.encoder(batch.values, batch.hour, batch.weekday, batch.mask)
        logits = check_logits(output, batch.values, self.outputs)
        loss = self._shared(self.loss(logits, batch.target, batch.learned), batch.learned)
        value = float(self.trainer.strategy.reduce(loss.detach(), reduce_op="mean"))
        where = f"epoch {self.current_epoch + 1}, step {index + 1}"
        if not math.isfinite(value):
            raise TrainingError(
                f"the loss became {value} in {where}; a smaller learning rate than "
                f"{self.peak:g}, a smaller clip or scaled inputs usually help"
            )
        if self.first_loss is None:
            self.first_loss = value
        limit = self.first_loss + DIVERGED * max(abs(self.first_loss), 1e-3)
        if value > limit:
            raise TrainingError(
                f"the loss diverged in {where}: {value:.4g}, after {self.first_loss:.4g} at first; "
                f"a smaller learning rate than {self.peak:g} usually helps"
            )
        self.epoch_losses.append(value)
        if self.trainer.progress_bar_callback is not None:
            self.log("loss", value, prog_bar=True, logger=False)
        return loss

    def _shared(self, loss: Tensor, learned: Tensor) -> Tensor:
        """Weight the loss of this process so that the mean over processes is that of all bins."""
        processes = self.trainer.world_size
        if processes == 1:
            return loss
        bins = learned.sum().to(loss.dtype)
        total = self.trainer.strategy.reduce(bins.clone(), reduce_op="sum")
        assert isinstance(total, Tensor)
        return loss * (bins * processes / total.clamp(min=1))

    def on_train_batch_end(self, outputs: Any, batch: Batch, batch_idx: int) -> None:
        """Add the weights after a step to their average."""
        if self.averaged is not None:
            self.averaged.update_parameters(self.encoder)

    @property
    def result(self) -> nn.Module:
        """The encoder with the weights to validate and keep."""
        return self.encoder if self.averaged is None else self.averaged.module

    def check_weights(self) -> None:
        """Raise an error if weights are not finite, before they are written anywhere."""
        for name, weight in self.result.state_dict().items():
            if weight.is_floating_point() and not bool(torch.isfinite(weight).all()):
                raise TrainingError(
                    f"weights of {name} are not finite after epoch {self.current_epoch + 1}; "
                    f"a smaller learning rate than {self.peak:g} usually helps"
                )

    def configure_optimizers(self) -> Any:
        """Return Adam without weight decay, and the learning rate of every step."""
        peak = self.peak
        optimizer = torch.optim.Adam(self.encoder.parameters(), lr=peak, weight_decay=0.0)
        scheduler = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: learning_rate(step, self.steps, peak) / peak
        )
        return [optimizer], [{"scheduler": scheduler, "interval": "step"}]

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Save the first loss: a resumed run detects divergence by the same measure."""
        checkpoint["first_loss"] = self.first_loss

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore the first loss."""
        self.first_loss = checkpoint["first_loss"]
