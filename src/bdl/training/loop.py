"""The training loop: Lightning around one module, with checkpoints after every epoch."""

from __future__ import annotations

import logging
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import lightning as L
import torch
from torch import nn

from bdl.encoders.allocator import keep_buffers
from bdl.encoders.networks.module import capabilities
from bdl.errors import BdlError, InputError
from bdl.training.batches import Batches
from bdl.training.checkpointing import Checkpointing
from bdl.training.history import TrainingResult
from bdl.training.lightning_module import TrainableEncoder
from bdl.training.task import TrainingTask

LOGGERS = ("lightning.pytorch", "lightning.fabric", "lightning")


def train(encoder: nn.Module, task: TrainingTask) -> TrainingResult:
    """Train an encoder in place, from its weights on; at the end it has those of the last epoch.

    With `Training.average` these are averaged weights.
    """
    keep_buffers()
    training, length = task.training, task.length
    resume = task.claim()
    fixed = capabilities(encoder).fixed_bins
    batches = Batches(
        task.recordings,
        task.objective,
        training=training,
        features=task.features,
        window=fixed or task.window,
        fixed=fixed is not None,
        steps=length.steps,
        epoch=lambda: trainer.current_epoch,
        rank=lambda: (trainer.global_rank, trainer.world_size),
    )
    module = TrainableEncoder(
        encoder, task.objective.loss, outputs=task.outputs, training=training, steps=length.steps
    )
    checkpointing = Checkpointing(task)
    with _quiet(), _interruptible(), torch.random.fork_rng():
        trainer = _trainer(task, checkpointing)
        try:
            trainer.fit(module, batches, ckpt_path=resume, weights_only=True)
        except (BdlError, KeyboardInterrupt):
            raise
        except Exception as error:
            if resume is not None and not checkpointing.result.history:
                raise InputError(
                    f"{resume}: cannot be resumed from ({type(error).__name__}: {error}); "
                    "remove the directory to start again"
                ) from error
            raise
    encoder.load_state_dict(module.result.state_dict())
    encoder.cpu().float()
    return checkpointing.result


def _trainer(task: TrainingTask, checkpointing: Checkpointing) -> L.Trainer:
    training = task.training
    logger: Any = False
    if task.tensorboard:
        from lightning.pytorch.loggers import TensorBoardLogger

        assert task.directory is not None
        logger = TensorBoardLogger(task.directory, name="tensorboard", version="")
    callbacks: list[L.Callback] = [checkpointing]
    if task.progress:
        from lightning.pytorch.callbacks import RichProgressBar

        callbacks.append(RichProgressBar(console_kwargs={"stderr": True}))
    devices = training.devices
    return L.Trainer(
        accelerator=training.accelerator,
        devices=[*devices] if isinstance(devices, tuple) else devices,
        precision=training.precision,
        max_epochs=task.length.last,
        gradient_clip_val=training.clip,
        gradient_clip_algorithm="norm",
        callbacks=callbacks,
        logger=logger,
        log_every_n_steps=1,
        enable_checkpointing=False,
        enable_progress_bar=task.progress,
        enable_model_summary=False,
        use_distributed_sampler=False,
        num_sanity_val_steps=0,
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the log messages and warnings of Lightning inside the block."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"lightning.*")
        warnings.filterwarnings("ignore", message=r".*lr_scheduler\.step.*")
        warnings.filterwarnings("ignore", message=r".*isinstance\(treespec, LeafSpec\).*")
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Keep Ctrl-C a KeyboardInterrupt: Lightning turns it into an exit and mutes the signal."""
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if main else None
    try:
        yield
    except SystemExit as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise
    finally:
        if main and handler is not None:
            signal.signal(signal.SIGINT, handler)
