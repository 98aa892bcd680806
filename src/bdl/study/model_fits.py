"""Trainings of a study: one model on some recordings with one learning rate and seed.

The learning rate follows one cosine over the full number of epochs; a checkpoint is a point on
this schedule, in the selection and in the final training, so that "epoch 10" means the same in
both.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from bdl.config import Value
from bdl.datasets import Benchmark
from bdl.decoding import Decoder
from bdl.density import Density
from bdl.errors import DensityError, TrainingError
from bdl.recording import Recordings
from bdl.study.label_vault import LabelVault
from bdl.study.row_models import RowModel
from bdl.study.steps import StepData

if TYPE_CHECKING:
    from bdl import Detector

Tune = Callable[[Sequence[Density]], tuple[Decoder, float]]


class CheckpointScore(Value):
    """Score of the weights of one epoch, with the decoder that reached it."""

    epoch: int
    score: float
    decoder: Decoder


class FitResult(Value):
    """Result of a step that trains.

    Parameters
    ----------
    failed
        Why the training failed; None if it did not.
    epoch
        Epoch of the weights that are used.
    score
        Their mAP on the recordings for selection; None if the step selects nothing.
    decoders
        Decoder of each stage, if the step selects them.
    tried
        All checkpoints that were scored.
    losses
        Mean loss of each epoch. Its duration is not recorded: a result does not depend on time.
    """

    failed: str | None = None
    epoch: int = 0
    score: float | None = None
    decoders: dict[str, Decoder] = Field(default_factory=dict)
    tried: tuple[CheckpointScore, ...] = ()
    losses: tuple[float, ...] = ()


class ModelFit(Value):
    """One training.

    Parameters
    ----------
    model
        What is trained.
    learning_rate, seed
        Of this training.
    data
        Recordings to train on, with their labels.
    """

    model: RowModel
    learning_rate: float
    seed: int
    data: StepData

    def train(
        self, vault: LabelVault, benchmark: Benchmark, checkpoints: Sequence[int]
    ) -> TrainedModel:
        """Train up to the last checkpoint."""
        from bdl import Detector

        settings, signals = self.model.settings, vault.signals(self.data.ids)
        window = settings.window
        if window is not None and settings.encoder.fixed_bins is None:
            window = min(window, max(info.duration for info in signals.infos))
        training = settings.training.replace(
            learning_rate=self.learning_rate,
            seed=self.seed,
            checkpoint_epochs=tuple(checkpoints),
            stop_after=max(checkpoints),
        )
        detector = Detector(**dict(settings.replace(window=window, training=training)))
        with _no_warnings():
            detector.fit(
                signals,
                vault.labels(self.data.ids),
                intervals=benchmark.intervals,
                types=self.model.types,
            )
        return TrainedModel(detector)


class TrainedModel:
    """A trained detector with its checkpoints."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector

    @property
    def losses(self) -> tuple[float, ...]:
        """Mean loss of each epoch."""
        return tuple(float(epoch.loss) for epoch in self._detector.history_)

    def densities(self, epoch: int, recordings: Recordings) -> list[Density]:
        """Densities of recordings by the weights of a checkpoint.

        Raises
        ------
        TrainingError
            If the weights are finite but so large that their densities are not.
        """
        try:
            with _no_warnings():
                return [*self._detector.checkpoint(epoch).densities(recordings)]
        except DensityError as error:
            raise TrainingError(f"diverged by epoch {epoch}: {error}") from error

    def weights(self, epoch: int) -> bytes:
        """Content of the model file of a checkpoint."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.safetensors"
            self._detector.checkpoint(epoch).save(path)
            return path.read_bytes()

    def score_checkpoints(
        self, epochs: Sequence[int], recordings: Recordings, tune: Tune
    ) -> tuple[CheckpointScore, ...]:
        """Score every checkpoint with the decoder that ``tune`` gives for its densities."""
        scores = []
        for epoch in epochs:
            decoder, score = tune(self.densities(epoch, recordings))
            scores.append(CheckpointScore(epoch=epoch, score=score, decoder=decoder))
        return tuple(scores)


def best_checkpoint(scores: Sequence[CheckpointScore]) -> CheckpointScore:
    """The checkpoint with the highest score; of equal ones the earliest.

    Examples
    --------
    >>> scores = [CheckpointScore(epoch=e, score=0.5, decoder="peaks") for e in (5, 10)]
    >>> best_checkpoint(scores).epoch
    5
    """
    return max(scores, key=lambda checkpoint: checkpoint.score)


@contextmanager
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning)
        yield
