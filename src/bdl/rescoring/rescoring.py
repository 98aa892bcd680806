"""The second stage: its settings, its training, and its application."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat, PositiveInt

from bdl.boosting import TreeEnsemble, fit_trees
from bdl.config import Value
from bdl.decoding.candidates import ByType, Candidates
from bdl.evaluation import Matches


class Rescoring(Value):
    """Settings of the trees that score detections again.

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

    Examples
    --------
    >>> Rescoring(trees=50).leaves
    8
    """

    trees: PositiveInt = 100
    leaves: Annotated[int, Field(ge=2)] = 8
    learning_rate: PositiveFloat = 0.05
    least_rows: PositiveInt = 20

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
        )
        return Rescorer(trees)


@dataclass(frozen=True, eq=False)
class Rescorer:
    """Trees that give the expected share of tolerances at which a detection hits an event."""

    trees: TreeEnsemble

    def scores(self, table: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the score of each detection, in (0, 1)."""
        self.trees.check(table.shape[1])
        if not len(table):
            return np.zeros(0)
        scores: NDArray[np.float64] = 1 / (1 + np.exp(-self.trees.raw_scores(table)))
        return scores

    def apply(self, candidates: ByType, table: NDArray[np.float32]) -> ByType:
        """Return the detections with new scores; rows are by type, then by time."""
        scores, rescored, first = self.scores(table), {}, 0
        for event, part in candidates.items():
            rescored[event] = Candidates(part.time, scores[first : first + len(part.time)])
            first += len(part.time)
        return rescored


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
