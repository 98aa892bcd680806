"""Training of any encoder: by gradient, by fitting trees, or member by member."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import nn

from bdl.encoders import Encoder
from bdl.encoders.ensemble import Ensemble
from bdl.encoders.networks.ensemble import EnsembleEncoder
from bdl.encoders.networks.trees import TreeEncoder
from bdl.features import Features
from bdl.objectives import Objective
from bdl.training.batches import TrainingRecording
from bdl.training.history import Epoch, TrainingResult, Validate, best_epoch
from bdl.training.hyperparameters import Training


def train_encoder(
    encoder: Encoder,
    module: nn.Module,
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
    """Train the module of an encoder in place; see `bdl.training.loop.train`.

    Member ``j`` of an ensemble is trained with the seed plus ``j``, in the folder ``member-j`` of
    the directory; validation scores are those of the whole ensemble.
    """
    if isinstance(module, TreeEncoder):
        return fit_trees_of(module, objective, recordings, training, features.stride, validate)
    if not isinstance(encoder, Ensemble):
        from bdl.training.loop import train  # here, because Lightning takes seconds to import

        return train(
            module,
            objective,
            recordings,
            training=training,
            features=features,
            window=window,
            outputs=outputs,
            validate=validate,
            directory=directory,
            identity=identity,
            tensorboard=tensorboard,
            progress=progress,
        )
    assert isinstance(module, EnsembleEncoder)
    results = [
        train_encoder(
            member,
            module.members[j],
            objective,
            recordings,
            training=training.replace(seed=training.seed + j),
            features=features,
            window=window,
            outputs=outputs,
            directory=None if directory is None else directory / f"member-{j}",
            identity={**(identity or {}), "member": j},
            tensorboard=tensorboard,
            progress=progress,
        )
        for j, member in enumerate(encoder.members)
    ]
    return combine(module, results, training, validate)


def fit_trees_of(
    module: TreeEncoder,
    objective: Objective,
    recordings: Sequence[TrainingRecording],
    training: Training,
    stride: int,
    validate: Validate | None,
) -> TrainingResult:
    """Fit boosted trees; they take seconds, so that nothing is kept for a resumed run."""
    from bdl.training.tree_fitting import fit_tree_encoder  # here, because it needs LightGBM

    return fit_tree_encoder(
        module, objective, recordings, training=training, stride=stride, validate=validate
    )


def combine(
    module: EnsembleEncoder,
    results: Sequence[TrainingResult],
    training: Training,
    validate: Validate | None,
) -> TrainingResult:
    """Join the members' results: the weights of all at each kept epoch, scored together."""
    combined = TrainingResult()
    for epoch in training.kept:
        weights = {
            f"members.{j}.{name}": value
            for j, result in enumerate(results)
            for name, value in result.checkpoints[epoch].items()
        }
        module.load_state_dict(weights)
        rows = [row for result in results for row in result.history if row.epoch == epoch]
        combined.checkpoints[epoch] = weights
        combined.history.append(
            Epoch(
                epoch=epoch,
                steps=sum(row.steps for row in rows),
                loss=sum(row.loss for row in rows) / len(rows),
                learning_rate=rows[0].learning_rate,
                seconds=sum(row.seconds for row in rows),
                score=validate(module) if validate else None,
            )
        )
    combined.best = best_epoch(combined.history, training)
    return combined
