"""A progress display on standard error: what, how far, how long still."""

from __future__ import annotations

from typing import Any

import lightning as L
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from bdl.training.module import Step


class Display(L.Callback):
    """Counts steps and shows the last loss."""

    def __init__(self) -> None:
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[loss]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True, highlight=False),
        )
        self.task = self.bar.add_task("training", total=None, loss="")

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Show the bar, at the step where a resumed run stands."""
        assert isinstance(pl_module, Step)
        self.bar.start()
        total = pl_module.steps * pl_module.settings.last // pl_module.settings.epochs
        self.bar.update(self.task, total=total, completed=trainer.global_step)

    def on_train_batch_end(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        """One step further."""
        assert isinstance(pl_module, Step)
        epoch = f"training, epoch {trainer.current_epoch + 1} of {trainer.max_epochs}"
        loss = f"loss {pl_module.epoch_losses[-1]:.4g}"
        self.bar.update(self.task, description=epoch, completed=trainer.global_step, loss=loss)

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Leave the finished bar."""
        self.bar.stop()

    def on_exception(
        self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException
    ) -> None:
        """Give the terminal back."""
        self.bar.stop()
