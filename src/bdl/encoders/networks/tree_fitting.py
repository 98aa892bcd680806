"""Fitting boosted trees: which bins they are fitted on, and the trees of every kept epoch."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import torch

from bdl.arrays import Flags, Floats, Longs, Singles
from bdl.boosting import ARRAYS, TreeEnsemble, fit_trees
from bdl.encoders.networks.trees import CHUNK, TreeEncoder
from bdl.errors import ConfigError
from bdl.targets import Crop

if TYPE_CHECKING:
    from bdl.training.history import TrainingResult
    from bdl.training.task import TrainingTask

# Of the rows to fit on, at most this share are bins near events; the others are drawn.
NEAR_SHARE = 0.5
# Bins with mass are all taken up to this multiple of the rows; of more a sample is drawn.
MOST_NEAR = 16


def fit_tree_encoder(encoder: TreeEncoder, task: TrainingTask) -> TrainingResult:
    """Fit the trees of an encoder in place; at the end it has the trees of the last epoch.

    Of the task's training, the seed and the epochs are used: after epoch ``e`` of ``n`` the encoder
    has the first ``e / n`` of its trees.
    """
    loss = task.objective.tree_loss
    if loss is None:
        raise ConfigError(
            f"boosted trees have no loss like that of {task.objective.kind!r}; use bdl or bce"
        )
    result = task.start()
    started = time.perf_counter()
    settings, seed = encoder.settings, task.training.seed
    table, target, weight = training_rows(encoder, task)
    # The exponential of a sum of trees has no limit of its own: rare rows would outrank all events.
    largest = max(1.0, float(target.max(initial=0.0)))
    ensembles = fit_trees(
        table,
        target,
        weight,
        loss=loss,
        trees=settings.trees,
        leaves=settings.leaves,
        learning_rate=settings.learning_rate,
        columns_per_tree=settings.columns_per_tree,
        rows_per_tree=settings.rows_per_tree,
        least_rows=settings.least_rows,
        seed=seed % (1 << 31),
        threads=torch.get_num_threads(),
    )
    for epoch in task.length.kept:
        trees = max(1, round(settings.trees * epoch / task.length.epochs))
        encoder.set_trees(
            [first(ensemble, trees) for ensemble in ensembles],
            bernoulli=loss == "bernoulli",
            largest=largest,
        )
        task.keep(
            result,
            encoder,
            weights={name: value.clone() for name, value in encoder.state_dict().items()},
            epoch=epoch,
            steps=trees,
            loss=_loss(encoder, table, target, weight),
            learning_rate=settings.learning_rate,
            seconds=time.perf_counter() - started,
        )
    return result


def training_rows(encoder: TreeEncoder, task: TrainingTask) -> tuple[Singles, Floats, Floats]:
    """Return table, target and weight of the bins to fit on.

    Bins with mass are all taken, even if they are more than the rows, up to 16 times as many; their
    neighbours within the widest window as far as about half of the rows, the nearest first. Of the
    others, and of more bins with mass, there is a random sample, weighted by the inverse of its
    share, so that sums over rows estimate sums over all bins.
    """
    recordings, stride = task.recordings, task.features.bin_samples
    targets = [
        task.objective.target(recording.labels, Crop(0, recording.labels.samples, stride))
        for recording in recordings
    ]
    distances = [_distance(target.sum(axis=1) > 0) for target in targets]
    distance = np.concatenate(distances)
    reach = max(encoder.settings.widths)
    near_rows = int(NEAR_SHARE * encoder.settings.rows)
    nearest = np.sort(distance[distance <= reach])
    radius = nearest[min(near_rows, len(nearest)) - 1] if len(nearest) else -1
    others = int((distance > radius).sum())
    near_share = min(1.0, MOST_NEAR * encoder.settings.rows / max(len(distance) - others, 1))
    share = min(1.0, max(encoder.settings.rows - near_rows, 1) / max(others, 1))
    rng = np.random.default_rng(task.training.seed)
    tables, chosen_targets, weights = [], [], []
    for recording, target, gap in zip(recordings, targets, distances, strict=True):
        near = gap <= radius
        drawn = np.where(near, near_share, share)  # share of the bins that are taken
        keep = rng.random(len(gap)) < drawn
        if recording.annotated is not None:
            keep &= recording.annotated
        binned = recording.binned
        rows = encoder.table(binned.values, binned.hour, binned.weekday)
        for begin in range(0, len(gap), CHUNK):
            part = slice(begin, begin + CHUNK)
            if keep[part].any():
                # The target of a bin is learned from the table of the bin ``lag`` later.
                stop = min(begin + CHUNK, len(gap))
                tables.append(rows(begin + recording.lag, stop + recording.lag)[keep[part]])
        chosen_targets.append(target[keep])
        weights.append(1.0 / drawn[keep])
    masses = np.concatenate(chosen_targets).astype(np.float64)
    return np.concatenate(tables), masses, np.concatenate(weights)


def first(ensemble: TreeEnsemble, trees: int) -> TreeEnsemble:
    """Return the ensemble of the first trees."""
    if trees >= len(ensemble.root):
        return ensemble
    end = int(ensemble.root[trees])
    arrays = {name: getattr(ensemble, name)[:end] for name in ARRAYS}
    return TreeEnsemble(**{**arrays, "root": ensemble.root[:trees]})


def _distance(marked: Flags) -> Longs:
    """Bins from each bin to the nearest marked one; a large number if there is none.

    >>> _distance(np.array([False, True, False, False])).tolist()
    [1, 0, 1, 2]
    """
    places = np.flatnonzero(marked)
    if not len(places):
        return np.full(len(marked), np.iinfo(np.int64).max)
    bins = np.arange(len(marked))
    after = np.searchsorted(places, bins)
    right = places[np.minimum(after, len(places) - 1)]
    left = places[np.maximum(after - 1, 0)]
    nearest: Longs = np.minimum(np.abs(right - bins), np.abs(bins - left))
    return nearest


def _loss(encoder: TreeEncoder, table: Singles, target: Floats, weight: Floats) -> float:
    """Weighted mean loss per bin and output on the rows that were fitted on."""
    total = 0.0
    for j in range(encoder.outputs):
        raw, y = encoder.trees(j).raw_scores(table), target[:, j]
        bernoulli = bool(encoder.probability)
        scores = np.logaddexp(0, raw) - y * raw if bernoulli else np.exp(raw) - y * raw
        total += float(np.average(scores, weights=weight))
    return total / encoder.outputs
