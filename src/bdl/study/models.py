"""Models of a study: a row's description as plain data, and its training.

The description holds everything a training depends on but for its data, learning rate and seed,
with names replaced by values, so that its hash changes when a meaning does. The learning rate
follows one cosine over the full number of epochs; a checkpoint is a point on that way, in the
selection as in the final training, so that "epoch 10" means the same in both.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bdl import Detector
from bdl.datasets import Benchmark
from bdl.density import Density
from bdl.encoders import Encoder
from bdl.errors import ConfigError, DensityError, TrainingError
from bdl.objectives import Objective
from bdl.recording import Recordings
from bdl.scaling import Divisor
from bdl.study.protocol import Protocol, Row
from bdl.study.study_data import Vault
from bdl.windows import window_bins

Plain = dict[str, Any]


def describe(protocol: Protocol, row: Row, dataset: Benchmark) -> Plain:
    """A row's model as plain data.

    Parameters
    ----------
    protocol, row : what is asked for.
    dataset : its settings fill in kernel widths, stride, window and features.
    """
    settings, training = dataset.settings, protocol.training
    infos = dataset.recordings.infos
    stride = row.stride or settings.stride
    longest = max(info.duration for info in infos)
    window = min(training.window or settings.window, longest)
    bins = window_bins(window, period=infos[0].period, stride=stride)
    return {
        "objective": objective_of(row, dataset).model_dump(mode="json"),
        "encoder": row.encoder.with_bins(bins).model_dump(mode="json"),
        "stride": stride,
        "window": window,
        "calendar": settings.calendar,
        "divisor": settings.divisor,
        "jitter": settings.jitter,
        "epochs": training.epochs,
        "batch": row.batch or training.batch,
        "clip": training.clip,
        "types": list(settings.types),
        "tolerances": list(settings.tolerances),
        "options": training.options,
    }


def objective_of(row: Row, dataset: Benchmark) -> Objective:
    """The objective of a row, completed with the settings of the data set."""
    settings = dataset.settings
    if row.objective.needs_intervals and not dataset.intervals:
        raise ConfigError(
            f"row {row.name!r}: objective {row.objective.kind!r} needs intervals; the data set "
            "has none"
        )
    return row.objective.complete(
        sigma=settings.sigma,
        tolerances=settings.tolerances,
        reference_spacing=settings.reference_spacing,
    )


def train(
    model: Plain,
    vault: Vault,
    dataset: Benchmark,
    ids: Sequence[str],
    *,
    rate: float,
    seed: int,
    checkpoints: Sequence[int],
) -> Detector:
    """Train a described model on some recordings, to the last of the epochs that are kept."""
    detector = Detector(
        objective=Objective.parse(model["objective"], "objective"),
        encoder=Encoder.parse(model["encoder"], "encoder"),
        stride=model["stride"],
        window=_window(model, vault.signals(ids)),
        calendar=model["calendar"],
        scaling=None if model["divisor"] is None else Divisor(by=model["divisor"]),
        tolerances=model["tolerances"],
        epochs=model["epochs"],
        batch=model["batch"],
        learning_rate=rate,
        clip=model["clip"],
        jitter=model["jitter"],
        seed=seed,
        checkpoint_epochs=tuple(checkpoints),
        stop_after=max(checkpoints),
        **{"accelerator": "cpu", **model["options"]},
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning)
        detector.fit(
            vault.signals(ids),
            vault.labels(ids),
            intervals=dataset.intervals,
            types=tuple(model["types"]),
        )
    return detector


def densities(detector: Detector, epoch: int, recordings: Recordings) -> list[Density]:
    """Densities of recordings by the weights of a kept epoch.

    Finite weights can still be so large that what they give is not a number: a training that
    has diverged, and says so.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning)
        try:
            return [*detector.checkpoint(epoch).densities(recordings)]
        except DensityError as error:
            raise TrainingError(f"diverged by epoch {epoch}: {error}") from error


def weights(detector: Detector, epoch: int) -> bytes:
    """The model file of a kept epoch."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        detector.checkpoint(epoch).save(path)
        return path.read_bytes()


def _window(model: Plain, recordings: Recordings) -> float:
    """The window, cut to the longest recording unless the encoder's length is fixed."""
    if Encoder.parse(model["encoder"]).fixed_bins is not None:
        return float(model["window"])
    return float(min(model["window"], max(info.duration for info in recordings.infos)))
