"""The training loop: Lightning around one step, with what is kept after every epoch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightning as L
import torch
from torch import nn

from bdl.encoders.memory import keep_buffers
from bdl.errors import BdlError, ConfigError, InputError
from bdl.objectives import Objective
from bdl.training.batches import Batches, Prepared
from bdl.training.history import Kept
from bdl.training.keeping import Keeper, Validate, claim
from bdl.training.module import Step
from bdl.training.progress import Display
from bdl.training.quiet import interruptible, quiet
from bdl.training.settings import Training


def train(
    encoder: nn.Module,
    objective: Objective,
    prepared: Sequence[Prepared],
    *,
    settings: Training,
    stride: int,
    window: int,
    outputs: int,
    validate: Validate | None = None,
    directory: Path | None = None,
    identity: dict[str, Any] | None = None,
    tensorboard: bool = False,
    progress: bool = False,
) -> Kept:
    """Train an encoder in place, and give what was kept on the way.

    Parameters
    ----------
    encoder : its weights at the call are where training starts.
    objective : resolved (see `bdl.objectives`).
    prepared : training recordings.
    settings : optimiser, budget and device.
    stride : samples a bin.
    window : window length in bins.
    outputs : channels that the encoder must give.
    validate : score of the encoder on a validation part, larger is better.
    directory : run directory; where it holds an unfinished run of the same identity, that goes on.
    identity : what is trained on what, as plain data; two runs with the same one are the same.
    tensorboard : also log for TensorBoard, to the directory's ``tensorboard`` folder.
    progress : show a progress bar on standard error.

    At the end the encoder holds the weights of the last epoch.
    """
    if not prepared:
        raise InputError("training needs at least one recording, got none")
    keep_buffers()
    if tensorboard and directory is None:
        raise ConfigError("tensorboard needs a directory to log to")
    resume = None if directory is None else claim(directory, identity or {})
    fixed = getattr(encoder, "fixed_bins", None)
    batches = Batches(
        prepared,
        objective,
        stride=stride,
        window=fixed or window,
        fixed=fixed is not None,
        size=settings.batch,
        jitter=settings.jitter,
        seed=settings.seed,
        epoch=lambda: trainer.current_epoch,
        place=lambda: (trainer.global_rank, trainer.world_size),
    )
    step = Step(
        encoder,
        objective.loss,
        outputs=outputs,
        settings=settings,
        steps=settings.epochs * len(batches),
    )
    keeper = Keeper(settings, validate, directory)
    with quiet(), interruptible(), torch.random.fork_rng():
        trainer = _trainer(settings, keeper, directory if tensorboard else None, progress)
        try:
            trainer.fit(step, batches, ckpt_path=resume, weights_only=True)
        except (BdlError, KeyboardInterrupt):
            raise
        except Exception as error:
            if resume is not None and not keeper.kept.history:
                raise InputError(
                    f"{resume}: cannot be resumed from ({type(error).__name__}: {error}); "
                    "remove the directory to start anew"
                ) from error
            raise
    encoder.cpu().float()
    return keeper.kept


def _trainer(
    settings: Training, keeper: Keeper, tensorboard: Path | None, progress: bool
) -> L.Trainer:
    logger: Any = False
    if tensorboard is not None:
        from lightning.pytorch.loggers import TensorBoardLogger

        logger = TensorBoardLogger(tensorboard, name="tensorboard", version="")
    devices = settings.devices
    return L.Trainer(
        accelerator=settings.accelerator,
        devices=[*devices] if isinstance(devices, tuple) else devices,
        precision=settings.precision,
        max_epochs=settings.last,
        gradient_clip_val=settings.clip,
        gradient_clip_algorithm="norm",
        callbacks=[keeper, *([Display()] if progress else [])],
        logger=logger,
        log_every_n_steps=1,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,
        num_sanity_val_steps=0,
    )
