"""The second stage: its settings, its training, and its application."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from bdl.boosting import TreeEnsemble, fit_trees
from bdl.config import Value
from bdl.decoding.candidates import ByType, Candidates
from bdl.errors import InputError
from bdl.evaluation import Matches
from bdl.rescoring.candidate_features import LOG_SCORE, TYPE

CALIBRATION = "calibration"
TREE_ARRAYS = tuple(array.name for array in fields(TreeEnsemble))
LEAST_SLOPE = 0.01
PENALTY = 0.1  # on the squared distance of a curve from the scores as they are


class Rescoring(Value):
    """Settings of the trees that score detections again.

    Scores are calibrated first: by type, a logistic curve of the logarithm of the score gives the
    share of the tolerances at which a detection hits an event. The trees are added to it.

    Parameters
    ----------
    trees
        Number of trees.
    leaves
        Largest number of leaves per tree.
    learning_rate
        Factor on the values of each tree.
    least_rows
        Smallest number of detections in a leaf.
    l2
        Penalty on the squared values of the leaves.

    Examples
    --------
    >>> Rescoring(trees=50).leaves
    8
    """

    trees: PositiveInt = 60
    leaves: Annotated[int, Field(ge=2)] = 8
    learning_rate: PositiveFloat = 0.05
    least_rows: PositiveInt = 20
    l2: NonNegativeFloat = 10.0

    def fit(
        self,
        tables: Sequence[NDArray[np.float32]],
        shares: Sequence[NDArray[np.float64]],
        seed: int,
    ) -> Rescorer:
        """Learn to score from detections in recordings that the first stage did not train on.

        Parameters
        ----------
        tables
            Features of the detections of each recording; see `bdl.rescoring.candidate_features`.
        shares
            Share of the tolerances at which each detection hits an event; see `hit_shares`.
        seed
            Seed of the trees.
        """
        table, target = np.concatenate(tables), np.concatenate(shares)
        calibrated = Rescorer(fit_calibration(table, target))
        (trees,) = fit_trees(
            table,
            target[:, None],
            np.ones(len(target)),
            loss="bernoulli",
            trees=self.trees,
            leaves=self.leaves,
            learning_rate=self.learning_rate,
            columns_per_tree=0.5,
            rows_per_tree=0.7,
            least_rows=self.least_rows,
            seed=seed,
            threads=1,
            l2=self.l2,
            start=calibrated.raw_scores(table),
        )
        return replace(calibrated, trees=trees)


@dataclass(frozen=True, eq=False)
class Rescorer:
    """The expected share of tolerances at which a detection hits an event.

    Parameters
    ----------
    calibration
        Intercept and slope of the logistic curve over the logarithm of the score, (types, 2).
    trees
        Added to it, before the logistic function; none of them if they do not help.
    """

    calibration: NDArray[np.float64]
    trees: TreeEnsemble = field(default_factory=TreeEnsemble.empty)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Rescorer:
        """Return the rescorer of these arrays; see `arrays`."""
        trees = TreeEnsemble(**{name: arrays[name] for name in TREE_ARRAYS})
        # Files of older models have trees alone.
        calibration = arrays.get(CALIBRATION, np.zeros((1, 2))).reshape(-1, 2)
        return cls(calibration, trees).check()

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that a file must keep, by name."""
        trees = {name: getattr(self.trees, name) for name in TREE_ARRAYS}
        return {CALIBRATION: self.calibration, **trees}

    def check(self) -> Rescorer:
        """Refuse damaged arrays."""
        good = self.calibration.dtype == np.float64 and len(self.calibration) > 0
        if not good or not np.all(np.isfinite(self.calibration)):
            raise InputError(f"the array {CALIBRATION!r} is not one of finite float64 pairs")
        self.trees.check()
        return self

    def without_trees(self) -> Rescorer:
        """Return the calibration alone, which keeps the order of the detections of a type."""
        return Rescorer(self.calibration)

    def raw_scores(self, table: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the logit of the score of each detection."""
        self.trees.check(table.shape[1])
        kind = np.minimum(table[:, TYPE].astype(np.int64), len(self.calibration) - 1)
        intercept, slope = self.calibration[kind].T
        raw: NDArray[np.float64] = intercept + slope * table[:, LOG_SCORE]
        return raw + self.trees.raw_scores(table)

    def scores(self, table: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the score of each detection, in (0, 1)."""
        if not len(table):
            return np.zeros(0)
        scores: NDArray[np.float64] = 1 / (1 + np.exp(-self.raw_scores(table)))
        return scores

    def apply(self, candidates: ByType, table: NDArray[np.float32]) -> ByType:
        """Return the detections with new scores; rows are by type, then by time."""
        scores, rescored, first = self.scores(table), {}, 0
        for event, part in candidates.items():
            rescored[event] = Candidates(part.time, scores[first : first + len(part.time)])
            first += len(part.time)
        return rescored


def fit_calibration(table: NDArray[np.float32], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fit a logistic curve of the logarithm of the score for each type.

    Parameters
    ----------
    table
        Features of detections, (rows, columns).
    share
        Share of the tolerances at which each hits an event.

    Returns
    -------
    ndarray
        Intercept and slope, (types, 2). Slopes are positive, so that the order of scores stays; a
        weak penalty draws them to one, the slope of scores that are calibrated already.

    Examples
    --------
    >>> table = np.log([[1.0, 0.1], [1.0, 0.9]] * 50).astype(np.float32)
    >>> fit_calibration(table, np.array([0.1, 0.9] * 50)).round(1).tolist()
    [[2.3, 2.0]]
    """
    from scipy.optimize import minimize

    kinds = table[:, TYPE].astype(np.int64)
    curves = []
    for kind in range(int(kinds.max(initial=0)) + 1):
        x, y = table[kinds == kind, LOG_SCORE].astype(np.float64), share[kinds == kind]

        def loss(
            curve: NDArray[np.float64],
            x: NDArray[np.float64] = x,
            y: NDArray[np.float64] = y,
        ) -> tuple[float, NDArray[np.float64]]:
            raw = curve[0] + curve[1] * x
            error = 1 / (1 + np.exp(-raw)) - y
            away = np.array([curve[0], curve[1] - 1])
            value = np.sum(np.logaddexp(0, raw) - y * raw) + PENALTY / 2 * away @ away
            return float(value), np.array([error.sum(), error @ x]) + PENALTY * away

        start, bounds = np.array([0.0, 1.0]), [(None, None), (LEAST_SLOPE, None)]
        curves.append(minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x)
    return np.array(curves)


def hit_shares(
    matches: Matches, candidates: Sequence[tuple[str, ByType]]
) -> list[NDArray[np.float64]]:
    """Return the share of the tolerances at which each detection hits an event.

    Parameters
    ----------
    matches
        Matches of exactly these detections.
    candidates
        Recording ids and their detections by type, each in order of time.

    Returns
    -------
    list of ndarray
        One array per recording, in the order of its types and then of time.

    Examples
    --------
    >>> from bdl.decoding.candidates import to_events
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> found = [("a", {"beat": Candidates(np.array([1.0, 5.0]), np.array([0.2, 0.9]))})]
    >>> truth = Events.of("a", "beat", [1.5, 9.0])
    >>> [shares.tolist() for shares in hit_shares(match(truth, to_events(found), [1, 9]), found)]
    [[1.0, 0.5]]
    """
    shares = np.zeros(len(matches.score))
    for event in matches.types:
        for tolerance in matches.tolerances:
            rows, _ = matches.hits(event, tolerance)
            shares[rows] += 1 / len(matches.tolerances)
    index = {id: place for place, id in enumerate(matches.recordings)}
    result = []
    for id, by_type in candidates:
        parts = []
        for event, part in by_type.items():
            j = matches.type_index(event)
            block = np.arange(matches.start[j], matches.start[j + 1])
            rows = block[matches.recording[block] == index[id]] if id in index else block[:0]
            # Matches are ordered by score, candidates by time.
            rows = rows[np.lexsort((-matches.score[rows], matches.time[rows]))]
            scores = np.zeros(len(part.time))
            scores[np.lexsort((-part.score, part.time))[: len(rows)]] = shares[rows]
            parts.append(scores)
        result.append(np.concatenate(parts) if parts else np.zeros(0))
    return result
