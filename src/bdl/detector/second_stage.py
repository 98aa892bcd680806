"""Training of the second stage on detections in held-out recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bdl.binning import bin_features
from bdl.decoding.candidates import ByType, to_events
from bdl.density import Density
from bdl.detector.application import accept, describe
from bdl.detector.choices import HeldOut
from bdl.detector.held_out_detections import HeldOutDetections
from bdl.detector.model import Model
from bdl.evaluation import Matches
from bdl.recording import Recordings
from bdl.rescoring import Rescorer, Rescoring, ScoreCalibration


@dataclass(frozen=True)
class SecondStage:
    """A rescorer, and the scores of cross-fitted rescorers on held-out recordings.

    Parameters
    ----------
    rescorer
        Trained on the detections of all held-out recordings; None if it does not help.
    before, after
        Event mAP of these detections, calibrated alone and rescored, by calibrations and rescorers
        that were trained on the detections of the other parts: the mean over parts, because each
        part has a rescorer of its own.
    matches
        Matches of the detections as such rescorers score them.
    """

    rescorer: Rescorer | None
    before: float
    after: float
    matches: Matches


def train_second_stage(
    rescoring: Rescoring,
    parts: Sequence[tuple[Model, Recordings]],
    densities: Sequence[Density],
    detections: HeldOutDetections,
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
    detections
        Detections in these recordings.
    held
        Events and matching of the held-out recordings.
    seed
        Seed of the trees.
    """
    remaining = iter(zip(densities, detections.candidates, strict=True))
    tables, part_of = [], []
    for number, (model, recordings) in enumerate(parts):
        for recording in recordings:
            density, candidates = next(remaining)
            binned = bin_features(accept(recording, model, resample=False), model.features)
            tables.append(describe(density, candidates, binned, model))
            part_of.append(number)

    def fit(places: Sequence[int]) -> tuple[ScoreCalibration, Rescorer] | None:
        shares = [detections.shares[i] for i in places]
        if not 0 < np.nanmean(np.concatenate([[np.nan], *shares])) < 1:
            return None
        candidates = [detections.candidates[i] for i in places]
        calibration = ScoreCalibration.fit(candidates, shares)
        assert calibration is not None
        chosen = [tables[i] for i in places]
        return calibration, rescoring.fit(chosen, shares, candidates, calibration, seed)

    everything = range(len(tables))
    calibrated, rescored = list[tuple[str, ByType]](), list[tuple[str, ByType]]()
    for number in range(len(parts)):
        fitted = fit([i for i in everything if part_of[i] != number])
        if fitted is None:
            return None
        calibration, rescorer = fitted
        for i in everything:
            if part_of[i] == number:
                id, candidates = detections.ids[i], detections.candidates[i]
                calibrated.append((id, calibration.apply(candidates)))
                rescored.append((id, rescorer.apply(candidates, tables[i], calibration)))
    final = fit(everything)
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
    matches = held.match(to_events(rescored), detections.ids)
    return SecondStage(final[1] if after > before else None, before, after, matches)
