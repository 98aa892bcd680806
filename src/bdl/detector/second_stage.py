"""Training of the second stage on detections in held-out recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

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
        Trained on the detections of all held-out recordings; without trees if they do not help.
    before, after
        Event mAP of these detections, calibrated alone and rescored, by rescorers that were trained
        on the detections of the other parts: the mean over parts, because each part has a rescorer
        of its own.
    matches
        Matches of the detections as such rescorers score them, with or without trees.
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

    calibrated, rescored = list[tuple[str, ByType]](), list[tuple[str, ByType]]()
    for number in range(len(parts)):
        rescorer = fit([i for i in known if part_of[i] != number])
        if rescorer is None:
            return None
        for i, (id, candidates) in enumerate(detected):
            if part_of[i] == number:
                calibrated.append((id, rescorer.without_trees().apply(candidates, tables[i])))
                rescored.append((id, rescorer.apply(candidates, tables[i])))
    final = fit(known)
    if final is None:
        return None

    def mean_ap(scored: Sequence[tuple[str, ByType]]) -> float:
        means = []
        for _, recordings in parts:
            part = [(id, candidates) for id, candidates in scored if id in recordings]
            truth = held.truth.select(recordings=recordings.ids)
            if len(truth):
                matches = replace(held, truth=truth).match(to_events(part), recordings.ids)
                means.append(matches.mean_average_precision())
        return float(np.mean(means))

    before, after = mean_ap(calibrated), mean_ap(rescored)
    helps = after > before
    return SecondStage(
        final if helps else final.without_trees(),
        before,
        after,
        held.match(to_events(rescored if helps else calibrated), ids),
    )
