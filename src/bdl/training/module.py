"""The Lightning module: one step is forward, loss, and a check that training still makes sense."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import lightning as L
import numpy as np
import torch
from torch import Tensor, nn

from bdl.errors import TrainingError
from bdl.inference import check_output
from bdl.training.batches import Batch
from bdl.training.schedule import learning_rate
from bdl.training.settings import Training

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]  # logits, target, mask → a number

# A loss this many times the first one, above it, has run away: training only ever lowers it.
RUNAWAY = 1e4


class Step(L.LightningModule):
    """An encoder with its loss and optimiser.

    Parameters
    ----------
    encoder : module of the calling convention of `bdl.encoders`.
    loss : of logits and target (batch, bins, outputs) and mask (batch, bins).
    outputs : channels that the encoder must give.
    settings : optimiser and budget.
    steps : steps of the whole training, for the learning rate.
    """

    def __init__(
        self, encoder: nn.Module, loss: Loss, *, outputs: int, settings: Training, steps: int
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.loss = loss
        self.outputs = outputs
        self.settings = settings
        self.steps = steps
        self.first_loss: float | None = None
        self.epoch_losses: list[float] = []

    def on_train_epoch_start(self) -> None:
        """Dropout of an epoch follows from the seed and the epoch alone."""
        self.epoch_losses = []
        words = np.random.SeedSequence([self.settings.seed, self.current_epoch]).generate_state(2)
        torch.manual_seed(int(words[0]) << 32 | int(words[1]))

    def training_step(self, batch: Batch, index: int) -> Tensor:
        """Loss of one batch."""
        assert batch.epoch == self.current_epoch
        given = self.encoder(batch.values, batch.hour, batch.weekday, batch.mask)
        logits = check_output(given, batch.values, self.outputs)
        loss = self.loss(logits, batch.target, batch.mask)
        value = float(loss.detach())
        where = f"epoch {self.current_epoch + 1}, step {index + 1}"
        if not math.isfinite(value):
            raise TrainingError(
                f"the loss became {value} in {where}; a smaller learning rate than "
                f"{self.settings.learning_rate:g}, a smaller clip or scaled inputs usually help"
            )
        if self.first_loss is None:
            self.first_loss = value
        limit = self.first_loss + RUNAWAY * max(abs(self.first_loss), 1e-3)
        if value > limit:
            raise TrainingError(
                f"the loss ran away in {where}: {value:.4g} after {self.first_loss:.4g} at first; "
                f"a smaller learning rate than {self.settings.learning_rate:g} usually helps"
            )
        self.epoch_losses.append(value)
        return loss

    def check_weights(self) -> None:
        """Refuse weights that are no numbers, before they are written anywhere."""
        for name, weight in self.encoder.state_dict().items():
            if weight.is_floating_point() and not bool(torch.isfinite(weight).all()):
                raise TrainingError(
                    f"weights of {name} are not finite after epoch {self.current_epoch + 1}; "
                    f"a smaller learning rate than {self.settings.learning_rate:g} usually helps"
                )

    def configure_optimizers(self) -> Any:
        """Adam without weight decay; the rate is set before every step."""
        peak = self.settings.learning_rate
        optimizer = torch.optim.Adam(self.encoder.parameters(), lr=peak, weight_decay=0.0)
        scheduler = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: learning_rate(step, self.steps, peak) / peak
        )
        return [optimizer], [{"scheduler": scheduler, "interval": "step"}]

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """The first loss goes along: a resumed run judges runaway by the same measure."""
        checkpoint["first_loss"] = self.first_loss

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Take up where the checkpoint stopped."""
        self.first_loss = checkpoint["first_loss"]
