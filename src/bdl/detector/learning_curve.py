"""Learning curves: the score in held-out recordings over the number of labelled ones.

A share of the groups is held out. Of the others, growing numbers of recordings are learned from,
each set containing the smaller ones, whole groups as far as the number allows. Confidence intervals
are those of a bootstrap over the held-out groups. They show how much a score varies with the test
recordings; ``repeats`` draws other training recordings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from bdl.detector.holdouts import holdouts
from bdl.errors import ConfigError
from bdl.evaluation import BootstrapResult, Estimate, Matches, bootstrap, match
from bdl.evaluation.matching import EventFree
from bdl.evaluation.scored_parts import scored_parts
from bdl.events import Events
from bdl.frames import Tabular
from bdl.recording import Recordings
from bdl.table_plots import Drawing

if TYPE_CHECKING:
    from bdl.detector.estimator import Detector

Train = Callable[[Recordings, Events], "Detector"]


@dataclass(frozen=True, eq=False)
class LearningCurve(Tabular):
    """Scores over the number of labelled recordings; made by `learning_curve`.

    Parameters
    ----------
    sizes
        Numbers of labelled recordings, increasing.
    scores
        mAP at each size, averaged over repeats, with its confidence interval.
    gain
        mAP with all recordings minus that at the size before, on the same held-out recordings.
    held_out
        Number of held-out recordings.
    """

    drawing = Drawing("recordings", "mAP", interval=("low", "high"))

    sizes: tuple[int, ...]
    scores: tuple[Estimate, ...]
    gain: Estimate | None
    held_out: int

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name."""
        return {
            "recordings": list(self.sizes),
            "mAP": [score.value for score in self.scores],
            "low": [score.low for score in self.scores],
            "high": [score.high for score in self.scores],
        }

    @property
    def verdict(self) -> str:
        """Whether more labels would help, in a sentence."""
        if self.gain is None:
            return "one size only: nothing can be said about more labels"
        last = f"from {self.sizes[-2]} to {self.sizes[-1]} recordings mAP changes by"
        if self.gain.has_interval and self.gain.low > 0:
            return f"{last} {self.gain}: more labels are likely to help"
        return f"{last} {self.gain}: no clear gain from more labels of this kind"

    def __repr__(self) -> str:
        rows = [
            f"  {size:>6,}  {score}" for size, score in zip(self.sizes, self.scores, strict=True)
        ]
        head = f"mAP in {self.held_out} held-out recordings, over the number of labelled ones"
        return "\n".join([head, *rows, self.verdict])


def learning_curve(
    train: Train,
    recordings: Recordings,
    events: Events,
    *,
    tolerances: Sequence[float],
    sizes: Sequence[int] = (),
    share: float = 0.2,
    repeats: int = 1,
    event_free: EventFree = "ignore",
    replicates: int = 1000,
    seed: int = 0,
) -> LearningCurve:
    """Train on growing numbers of recordings, and score each model in the same held-out ones.

    Parameters
    ----------
    train
        Returns a fitted detector for some recordings and their events, such as
        ``Detector(tolerances=(60.0,)).fit``, or ``model.fine_tune``.
    recordings, events
        Labelled recordings.
    tolerances
        Matching tolerances in seconds.
    sizes
        Numbers of recordings; by default 1, 2, 4, ... and all that are not held out.
    share
        Share of the groups that is held out.
    repeats
        Number of orders in which recordings are added; scores are averaged.
    event_free
        Whether held-out recordings without events count.
    replicates
        Bootstrap replicates.
    seed
        Seed of the division, of the orders and of the bootstrap.
    """
    parts = holdouts(recordings, events, folds=1, share=share, seed=seed)
    if not parts:
        raise ConfigError("a learning curve needs two or more groups: one is held out")
    [(pool, held)] = parts
    chosen = _sizes(sizes, len(pool))
    test = recordings.select(held)
    truth = events.select(recordings=held)
    matches: dict[int, list[Matches]] = {size: [] for size in chosen}
    for repeat in range(repeats):
        order = _order(recordings, pool, seed + repeat)
        for size in chosen:
            ids = order[:size]
            detector = train(recordings.select(ids), events.select(recordings=ids))
            scored = match(
                truth,
                detector.detect(test),
                tolerances,
                event_free=event_free,
                unknown="ignore",
                **scored_parts(test.infos),
            )
            matches[size].append(scored)
    return LearningCurve(
        tuple(chosen),
        *_estimates(matches, {id: test.groups[id] for id in held}, replicates, seed),
        len(held),
    )


def _sizes(sizes: Sequence[int], total: int) -> list[int]:
    """Sizes in order, each at most ``total``; by default powers of 2, and all."""
    if not sizes:
        return sorted({*(2**i for i in range(total.bit_length())), total})
    wrong = [size for size in sizes if not 1 <= size <= total]
    if wrong:
        raise ConfigError(
            f"sizes: from 1 to {total} recordings expected (the others are held out), "
            f"got {wrong[0]}"
        )
    return sorted({*sizes})


def _order(recordings: Recordings, pool: Sequence[str], seed: int) -> list[str]:
    """Recordings of the pool, group by group, in random order."""
    groups = recordings.groups
    names = sorted({groups[id] for id in pool})
    shuffled = np.random.default_rng(seed).permutation(len(names))
    place = {names[name]: rank for rank, name in enumerate(shuffled.tolist())}
    return sorted(pool, key=lambda id: place[groups[id]])


def _estimates(
    matches: dict[int, list[Matches]], groups: dict[str, str], replicates: int, seed: int
) -> tuple[tuple[Estimate, ...], Estimate | None]:
    """Score of each size, and the gain of the last."""
    scored = next(iter(matches.values()))[0].recordings
    clusters = {id: groups[id] for id in scored}
    if len({*clusters.values()}) < 2:
        means = [fmean(m.mean_average_precision() for m in of_size) for of_size in matches.values()]
        gain = Estimate(means[-1] - means[-2]) if len(means) > 1 else None
        return tuple(Estimate(mean) for mean in means), gain

    def resample(sizes: Iterable[int]) -> BootstrapResult:
        systems = {str(size): matches[size] for size in sizes}
        return bootstrap(systems, clusters=clusters, replicates=replicates, seed=seed)

    result = resample(matches)
    scores = tuple(result.systems[str(size)] for size in matches)
    if len(matches) < 2:
        return scores, None
    before, last = [*matches][-2:]
    return scores, resample([before, last]).differences[f"{last} - {before}"]
