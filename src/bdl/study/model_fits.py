"""Trainings of a study: one model on some recordings with one learning rate and seed.

The learning rate follows one cosine over the full number of epochs; a checkpoint is a point on
this schedule, in the selection and in the final training, so that "epoch 10" means the same in
both.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from bdl.config import Value
from bdl.datasets import Benchmark
from bdl.decoding import Decoder
from bdl.density import Density
from bdl.errors import DensityError, TrainingError
from bdl.events import Events
from bdl.recording import Recordings
from bdl.runs.run_reader import RunReader, StepId
from bdl.study.label_vault import LabelVault
from bdl.study.row_models import RowModel
from bdl.study.steps import StepData

if TYPE_CHECKING:
    from bdl import Detector


class CheckpointScore(Value):
    """Score of the weights of one epoch, with the decoder that reached it."""

    epoch: int
    score: float
    decoder: Decoder


class FitResult(Value):
    """Result of a step that trains; without durations, so that equal trainings are equal."""

    failed: str | None = None  # why the training failed; None if it did not
    epoch: int = 0  # of the weights that are used
    score: float | None = None  # mAP on the recordings for selection; None without selection
    decoders: dict[str, Decoder] = Field(default_factory=dict)  # by stage, if they were selected
    tried: tuple[CheckpointScore, ...] = ()
    losses: tuple[float, ...] = ()  # mean loss of each epoch
    chosen: dict[str, Any] = Field(default_factory=dict)  # by a detector with a preset itself


def fitted_detector(
    model: RowModel, vault: LabelVault, benchmark: Benchmark, ids: Sequence[str], **training: Any
) -> Detector:
    """A detector that is trained on some recordings, with windows that fit into the longest.

    ``training`` are fields of `bdl.training.Training` that replace those of the model.
    """
    from bdl import Detector

    settings, signals = model.settings, vault.signals(ids)
    if settings.window is not None and settings.encoder.fixed_bins is None:
        longest = max(info.duration for info in signals.infos)
        settings = settings.replace(window=min(settings.window, longest))
    detector = Detector(**dict(settings.replace(training=settings.training.replace(**training))))
    chooses = settings.selection.folds > 0
    with no_warnings():
        detector.fit(
            signals,
            vault.labels(ids),
            intervals=benchmark.intervals,
            types=model.types,
            event_free=benchmark.settings.event_free if chooses else "ignore",
        )
    return detector


class ModelFit(Value):
    """One training: of a model, at a learning rate, with a seed, on labelled recordings."""

    model: RowModel
    learning_rate: float
    seed: int
    data: StepData

    def train(
        self, vault: LabelVault, benchmark: Benchmark, checkpoints: Sequence[int]
    ) -> Detector:
        """A detector that is trained up to the last checkpoint."""
        return fitted_detector(
            self.model,
            vault,
            benchmark,
            self.data.ids,
            learning_rate=self.learning_rate,
            seed=self.seed,
            checkpoint_epochs=tuple(checkpoints),
            stop_after=max(checkpoints),
        )

    def train_and_score(
        self,
        benchmark: Benchmark,
        selection: StepData,
        checkpoints: Sequence[int],
        tune: Callable[[Sequence[Density], Events], tuple[Decoder, float]],
    ) -> ScoredFit:
        """Train, and score every checkpoint on the recordings for selection.

        ``tune`` gives a decoder and its score for densities and labels. Of checkpoints with equal
        scores the earliest is the best.
        """
        vault = LabelVault(benchmark, [*self.data.ids, *selection.ids])
        detector = self.train(vault, benchmark, checkpoints)
        signals, labels = vault.signals(selection.ids), vault.labels(selection.ids)
        tried = []
        for epoch in checkpoints:
            decoder, score = tune(densities_at(detector, epoch, signals), labels)
            tried.append(CheckpointScore(epoch=epoch, score=score, decoder=decoder))
        best = max(tried, key=lambda checkpoint: checkpoint.score)
        result = FitResult(
            epoch=best.epoch, score=best.score, tried=tuple(tried), losses=losses(detector)
        )
        densities = densities_at(detector, best.epoch, signals)
        return ScoredFit(detector, result, best.decoder, densities, labels)


class ScoredFit(NamedTuple):
    """A training whose checkpoints were scored, with the best one on the selection recordings."""

    detector: Detector
    result: FitResult  # without the decoders of stages
    decoder: Decoder
    densities: list[Density]
    labels: Events


def losses(detector: Detector) -> tuple[float, ...]:
    """Mean loss of each epoch."""
    return tuple(float(epoch.loss) for epoch in detector.history_)


def densities_at(detector: Detector, epoch: int, recordings: Recordings) -> list[Density]:
    """Densities of recordings by the weights of a checkpoint.

    Weights that are finite, but so large that their densities are not, are a `TrainingError`.
    """
    try:
        with no_warnings():
            return [*detector.checkpoint(epoch).densities(recordings)]
    except DensityError as error:
        raise TrainingError(f"diverged by epoch {epoch}: {error}") from error


def select_rate(
    run: RunReader, candidates: Mapping[float, Sequence[StepId]]
) -> tuple[float | None, list[FitResult], list[str]]:
    """The learning rate with the highest mean score; of equal ones the first.

    ``candidates`` are the finished steps of each learning rate. Returns the learning rate, None if
    all failed; the results of its steps; and why others failed.
    """
    best: float | None = None
    best_score, best_fits, failures = -math.inf, list[FitResult](), []
    for rate, steps in candidates.items():
        fits = [FitResult(**run.result(step)) for step in steps]
        reasons = [fit.failed for fit in fits if fit.failed]
        if reasons:
            failures.append(f"learning rate {rate:g}: {reasons[0]}")
            continue
        score = sum(fit.score or 0.0 for fit in fits) / len(fits)
        if score > best_score:
            best, best_score, best_fits = rate, score, fits
    return best, best_fits, failures


def model_file(detector: Detector) -> bytes:
    """Content of the file of a detector."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        detector.save(path)
        return path.read_bytes()


@contextmanager
def no_warnings() -> Iterator[None]:
    """Ignore warnings about the data, which every training of a study would repeat."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning)
        yield
