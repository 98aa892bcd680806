"""The second stage: its settings, its training, and its application."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from bdl.boosting import ARRAYS, TreeEnsemble, fit_trees
from bdl.config import Value
from bdl.decoding.candidates import ByType
from bdl.evaluation import Matches
from bdl.rescoring.score_calibration import ScoreCalibration


class Rescoring(Value):
    """Settings of the trees that score detections again.

    The trees correct calibrated scores (see `bdl.rescoring.ScoreCalibration`): they are added to
    their logits.

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
        candidates: Sequence[ByType],
        calibration: ScoreCalibration,
        seed: int,
    ) -> Rescorer:
        """Learn to score from detections in recordings that the first stage did not train on.

        Parameters
        ----------
        tables
            Features of the detections of each recording; see `bdl.rescoring.candidate_features`.
        shares
            Share of the tolerances at which each detection hits an event, NaN where that is not
            known; see `hit_shares`.
        candidates
            The detections of each recording by type.
        calibration
            Calibration that the trees correct.
        seed
            Seed of the trees.
        """
        target = np.concatenate(shares)
        defined = np.isfinite(target)
        start = np.concatenate([calibration.logits(by_type) for by_type in candidates])
        (trees,) = fit_trees(
            np.concatenate(tables)[defined],
            target[defined][:, None],
            np.ones(int(defined.sum())),
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
            start=start[defined],
        )
        return Rescorer(trees)


@dataclass(frozen=True, eq=False)
class Rescorer:
    """Trees that correct the calibrated scores of detections.

    Parameters
    ----------
    trees
        Added to the logits of the scores.
    """

    trees: TreeEnsemble

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Rescorer:
        """Return the rescorer of these arrays, which are checked; see `arrays`."""
        trees = TreeEnsemble(**{name: arrays[name] for name in ARRAYS})
        trees.check()
        return cls(trees)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that a file must keep, by name."""
        return {name: getattr(self.trees, name) for name in ARRAYS}

    def apply(
        self, candidates: ByType, table: NDArray[np.float32], calibration: ScoreCalibration
    ) -> ByType:
        """Return the detections with new scores.

        Parameters
        ----------
        candidates
            Detections of one recording by type.
        table
            Their features, one row per detection, by type and then by time.
        calibration
            Calibration of their scores.
        """
        self.trees.check(table.shape[1])
        return calibration.apply(candidates, self.trees.raw_scores(table))


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
        One array per recording, in the order of its types and then of time; NaN for detections
        that are not scored, outside annotated spans.

    Examples
    --------
    >>> from bdl.decoding.candidates import Candidates, to_events
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> detected = [("a", {"beat": Candidates(np.array([1.0, 5.0]), np.array([0.2, 0.9]))})]
    >>> matches = match(Events.of("a", "beat", [1.5, 9.0]), to_events(detected), [1, 9])
    >>> [shares.tolist() for shares in hit_shares(matches, detected)]
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
            # Matches are ordered by score, candidates by time; some may not be scored.
            rows = rows[np.lexsort((-matches.score[rows], matches.time[rows]))]
            order = np.lexsort((-part.score, part.time))
            share = np.full(len(part.time), np.nan)
            share[order[np.isin(part.time[order], matches.time[rows])]] = shares[rows]
            parts.append(share)
        result.append(np.concatenate(parts) if parts else np.zeros(0))
    return result
