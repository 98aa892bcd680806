"""The training loop: Lightning around one module, with checkpoints after every epoch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightning as L
import torch
from torch import nn

from bdl.encoders.allocator import keep_buffers
from bdl.errors import BdlError, ConfigError, InputError
from bdl.features import Features
from bdl.objectives import Objective
from bdl.training.batches import Batches, TrainingRecording
from bdl.training.checkpointing import Checkpointing
from bdl.training.history import TrainingResult, Validate
from bdl.training.hyperparameters import Training
from bdl.training.lightning_context import interruptible, quiet
from bdl.training.lightning_module import TrainableEncoder
from bdl.training.training_run import claim


def train(
    encoder: nn.Module,
    objective: Objective,
    recordings: Sequence[TrainingRecording],
    *,
    training: Training,
    features: Features,
    window: int,
    outputs: int,
    validate: Validate | None = None,
    directory: Path | None = None,
    identity: dict[str, Any] | None = None,
    tensorboard: bool = False,
    progress: bool = False,
) -> TrainingResult:
    """Train an encoder in place; at the end it has the weights of the last epoch,
    or their average if the training asks for one.

    Parameters
    ----------
    encoder
        The module; training starts from its weights.
    objective
        A resolved objective (see `bdl.objectives`).
    recordings
        Training recordings.
    training
        Optimizer, budget and device.
    features
        What the bins of the recordings hold.
    window
        Bins per training window.
    outputs
        Number of outputs that the encoder must have.
    validate
        Score of the encoder on validation recordings; larger is better.
    directory
        Run directory. An unfinished run of the same identity in it is resumed.
    identity
        What is trained on what data, as plain data; equal for two runs that are the same.
    tensorboard
        Also log for TensorBoard, to the folder ``tensorboard`` of the directory.
    progress
        Show a progress bar on standard error.

    Returns
    -------
    TrainingResult
        History, kept weights and the best epoch.
    """
    if not recordings:
        raise InputError("training needs at least one recording, got none")
    keep_buffers()
    if tensorboard and directory is None:
        raise ConfigError("tensorboard needs a directory to log to")
    resume = None if directory is None else claim(directory, identity or {})
    fixed = getattr(encoder, "fixed_bins", None)
    batches = Batches(
        recordings,
        objective,
        features=features,
        window=fixed or window,
        fixed=fixed is not None,
        size=training.batch,
        epochs=training.epochs,
        per_length=training.per_length,
        jitter=training.jitter,
        augmentation=training.augmentation,
        seed=training.seed,
        epoch=lambda: trainer.current_epoch,
        rank=lambda: (trainer.global_rank, trainer.world_size),
    )
    module = TrainableEncoder(
        encoder,
        objective.loss,
        outputs=outputs,
        training=training,
        steps=training.epochs * len(batches),
    )
    checkpointing = Checkpointing(training, validate, directory)
    with quiet(), interruptible(), torch.random.fork_rng():
        trainer = _trainer(training, checkpointing, directory if tensorboard else None, progress)
        try:
            trainer.fit(module, batches, ckpt_path=resume, weights_only=True)
        except (BdlError, KeyboardInterrupt):
            raise
        except Exception as error:
            if resume is not None and not checkpointing.result.history:
                raise InputError(
                    f"{resume}: cannot be resumed from ({type(error).__name__}: {error}); "
                    "remove the directory to start anew"
                ) from error
            raise
    encoder.load_state_dict(module.result.state_dict())
    encoder.cpu().float()
    return checkpointing.result


def _trainer(
    training: Training, checkpointing: Checkpointing, tensorboard: Path | None, progress: bool
) -> L.Trainer:
    logger: Any = False
    if tensorboard is not None:
        from lightning.pytorch.loggers import TensorBoardLogger

        logger = TensorBoardLogger(tensorboard, name="tensorboard", version="")
    callbacks: list[L.Callback] = [checkpointing]
    if progress:
        from lightning.pytorch.callbacks import RichProgressBar

        callbacks.append(RichProgressBar(console_kwargs={"stderr": True}))
    devices = training.devices
    return L.Trainer(
        accelerator=training.accelerator,
        devices=[*devices] if isinstance(devices, tuple) else devices,
        precision=training.precision,
        max_epochs=training.last,
        gradient_clip_val=training.clip,
        gradient_clip_algorithm="norm",
        callbacks=callbacks,
        logger=logger,
        log_every_n_steps=1,
        enable_checkpointing=False,
        enable_progress_bar=progress,
        enable_model_summary=False,
        use_distributed_sampler=False,
        num_sanity_val_steps=0,
    )
