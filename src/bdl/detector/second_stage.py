"""Training of the second stage on detections in held-out recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bdl.binning import bin_features
from bdl.decoding import Decoder
from bdl.decoding.candidates import ByType, to_events
from bdl.density import Density
from bdl.detector.application import accept, describe
from bdl.detector.choices import HeldOut
from bdl.detector.model import Model
from bdl.evaluation import Matches
from bdl.recording import Recordings
from bdl.rescoring import Rescorer, Rescoring, hit_shares


@dataclass(frozen=True)
class SecondStage:
    """A rescorer, and what cross-fitted rescorers do on held-out recordings.

    Parameters
    ----------
    rescorer
        Trained on the detections of all held-out recordings.
    before, after
        Event mAP of these detections by their own scores, and by those of rescorers that were
        trained on the detections of the other parts.
    matches
        Matches of the latter.
    """

    rescorer: Rescorer
    before: float
    after: float
    matches: Matches


def train_second_stage(
    rescoring: Rescoring,
    parts: Sequence[tuple[Model, Recordings]],
    densities: Sequence[Density],
    decoder: Decoder,
    held: HeldOut,
    *,
    seed: int,
) -> SecondStage | None:
    """Train the second stage; None if too few detections are right or wrong to learn from.

    Parameters
    ----------
    rescoring
        Settings of the second stage.
    parts
        Models, each with the recordings that were held out of its training.
    densities
        Densities of all held-out recordings, in order.
    decoder
        Decoder of the detections.
    held
        Truth and matching of the held-out recordings.
    seed
        Seed of the trees.
    """
    ids = [density.recording for density in densities]
    remaining, detected, tables, part_of = iter(densities), list[tuple[str, ByType]](), [], []
    for number, (model, recordings) in enumerate(parts):
        for recording in recordings:
            density = next(remaining)
            accepted = accept(recording, model, resample=False)
            candidates = decoder.detect(density, held.intervals)
            detected.append((density.recording, candidates))
            tables.append(
                describe(density, candidates, bin_features(accepted, model.features), model)
            )
            part_of.append(number)
    matches = held.match(to_events(detected), ids)
    shares = hit_shares(matches, detected)
    counted = {*held.truth.recording} if held.event_free == "ignore" else {*ids}
    known = [i for i, id in enumerate(ids) if id in counted]

    def fit(rows: Sequence[int]) -> Rescorer | None:
        hits = sum(float(shares[i].sum()) for i in rows)
        if not 0 < hits < sum(len(tables[i]) for i in rows):
            return None
        return rescoring.fit([tables[i] for i in rows], [shares[i] for i in rows], seed)

    crossed: list[tuple[str, ByType]] = []
    for number in range(len(parts)):
        rescorer = fit([i for i in known if part_of[i] != number])
        if rescorer is None:
            return None
        crossed += [
            (id, rescorer.apply(candidates, tables[i]))
            for i, (id, candidates) in enumerate(detected)
            if part_of[i] == number
        ]
    final = fit(known)
    after = held.match(to_events(crossed), ids)
    if final is None:
        return None
    return SecondStage(
        final, matches.mean_average_precision(), after.mean_average_precision(), after
    )
