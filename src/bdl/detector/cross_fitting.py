"""Choosing on held-out recordings, and training again with what was chosen.

Each part of the training recordings is held out once, and a model is trained on the others. The
densities of all held-out recordings together, each by a model that has not seen its group, decide
kernel, weights, decoder, rescoring and operating point (see `bdl.detector.choices`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from statistics import median_low

import numpy as np

from bdl.density import Density
from bdl.detector.application import member_densities
from bdl.detector.choices import (
    MARGIN,
    Choices,
    HeldOut,
    choose_weights,
    weighted_mean,
    with_weights,
)
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.held_out_detections import HeldOutDetections
from bdl.detector.mean_model import mean_model, with_common_inputs
from bdl.detector.model_training import FittedModel, Reporting, TrainingData, train_model
from bdl.detector.operating_curve import OperatingCurve
from bdl.detector.second_stage import train_second_stage
from bdl.encoders.ensemble import Ensemble
from bdl.encoders.networks.ensemble import EnsembleEncoder

Part = tuple[TrainingData, TrainingData]  # to train on, and held out
PartFit = tuple[FittedModel, list[list[Density]]]  # by member, for each held-out recording


def cross_fit(
    settings: DetectorSettings,
    data: TrainingData,
    parts: Sequence[Part],
    held: HeldOut,
    reporting: Reporting,
    *,
    refit: bool,
    fixed_decoder: bool,
) -> FittedModel:
    """Train on each part, choose on what it holds out, and train on everything.

    Parameters
    ----------
    settings, data, reporting
        As in `train_model`, of all training data.
    parts
        Pairs of data to train on and data held out.
    held
        What the choices are made on.
    refit
        Whether to train again on all data; otherwise the model is the mean of those of the parts.
    fixed_decoder
        Whether the decoder of the settings is used instead of the best.
    """
    shared = settings
    if not refit and len(parts) > 1:
        shared = with_common_inputs(settings, data, [train for train, _ in parts])
    alone = not refit and len(parts) == 1
    chosen, first, kernels = _choose_kernel(shared, parts[0], held, reporting, alone)
    settings = settings.replace(objective=settings.objective.candidates[chosen])
    shared = shared.replace(objective=shared.objective.candidates[chosen])
    part_fits = [first]
    for number, part in enumerate(parts[1:], start=1):
        part_fits.append(_fit_part(shared, part, reporting.inside(f"part-{number}"), alone))
    fits = [fitted for fitted, _ in part_fits]
    members = [densities for _, held_out in part_fits for densities in held_out]
    assert settings.decoder is not None
    weights, tried = (
        choose_weights(members, settings.encoder, settings.decoder, held)
        if settings.selection.weights
        else (settings.encoder.shares, [])
    )
    densities = [weighted_mean(by_member, weights) for by_member in members]
    calibrations = [] if fixed_decoder else held.calibrate(densities)
    ranking = max(calibrations, key=lambda calibration: calibration.score, default=None)
    decoder = settings.decoder if ranking is None else ranking.decoder
    score = held.mean_ap(densities, decoder) if ranking is None else ranking.score
    decoders = [calibration.decoder for calibration in calibrations] or [decoder]
    detections = [
        HeldOutDetections.of(densities, tried_decoder, held, settings.selection.calibrated)
        for tried_decoder in decoders
    ]
    ranked = detections[decoders.index(decoder)]
    stage = None
    if settings.selection.rescoring is not None and densities[0].kind == "events":
        models = [fitted.model for fitted in fits]
        held_out = [others.recordings for _, others in parts]
        stage = train_second_stage(
            settings.selection.rescoring,
            [*zip(models, held_out, strict=True)],
            densities,
            ranked,
            held,
            seed=settings.training.seed,
        )
    rescorer = stage.rescorer if stage else None
    choices = Choices(
        groups=len({id for _, others in parts for id in others.recordings.groups.values()}),
        recordings=len(densities),
        kernels=kernels,
        weights=tuple(tried),
        decoders={calibration.decoder.kind: calibration.score for calibration in calibrations},
        rescoring=None if stage is None else (stage.before, stage.after),
        score=stage.after if stage and rescorer else score,
    )
    points = [(detected.operating_point(), detected.matches) for detected in detections]
    if stage and rescorer:
        rescored = replace(ranked, matches=stage.matches)
        points.append((rescored.operating_point().replace(rescored=True), stage.matches))
    point, matches = max(points, key=lambda point_and_matches: point_and_matches[0].f1)
    point = point.replace(curve=OperatingCurve.of(matches, including=[point.threshold]))
    fitted = fits[0]
    if refit:
        final = settings.replace(encoder=with_weights(settings.encoder, weights))
        epoch = median_low(part_fit.model.epoch for part_fit in fits)
        fitted = train_model(final.stopping_at(epoch), data, reporting.inside("all"))
    elif len(fits) > 1:
        fitted = mean_model(fits, settings, weights, data)
    elif isinstance(settings.encoder, Ensemble):
        assert isinstance(fitted.module, EnsembleEncoder)
        fitted.module.weights = [weight / sum(weights) for weight in weights]
        encoder = settings.encoder.replace(weights=weights)
        fitted = replace(
            fitted, model=fitted.model.replace(settings=settings.replace(encoder=encoder))
        )
    model = fitted.model.replace(
        decoder=decoder, calibration=ranked.calibration, operating_point=point, choices=choices
    )
    return replace(fitted, model=model, rescorer=rescorer)


def _fit_part(settings: DetectorSettings, part: Part, reporting: Reporting, alone: bool) -> PartFit:
    """Train on a part; if an epoch is chosen, checkpoints are scored on the held-out data.

    ``alone`` is whether the model of this part is the detector.
    """
    train, others = part
    longest = max(info.duration for info in train.recordings.infos)
    if settings.window is not None and not alone:
        settings = settings.replace(window=min(settings.window, longest))
    validation = others if settings.chooses_epoch else None
    with warnings.catch_warnings():
        if not alone:  # all data together are warned about at the end
            warnings.simplefilter("ignore", UserWarning)
        fitted = train_model(settings, train, reporting, validation)
    return fitted, [
        member_densities(fitted.module, fitted.model, recording) for recording in others.recordings
    ]


def _choose_kernel(
    settings: DetectorSettings, part: Part, held: HeldOut, reporting: Reporting, alone: bool
) -> tuple[int, PartFit, dict[str, float]]:
    """Train on the first part with each kernel that the objective leaves open.

    Of several equal members of an ensemble one is trained with each kernel, and all with the best.

    Returns the number of the best, its fit on the part, and all scores by kernel. The first
    kernel is used unless another is better by a margin.
    """
    candidates = settings.objective.candidates
    if len(candidates) == 1:
        return 0, _fit_part(settings, part, reporting.inside("part-0"), alone), {}
    tried = settings.replace(encoder=settings.encoder.distinct)
    on_part = replace(held, truth=part[1].events.select(types=held.types))
    trials = list[PartFit]()
    scores = list[float]()
    for number, objective in enumerate(candidates):
        trial = tried.replace(objective=objective)
        folder = reporting.inside(f"part-0-objective-{number}")
        fitted, members = _fit_part(trial, part, folder, alone)
        mean = [weighted_mean(by_member, trial.encoder.shares) for by_member in members]
        assert trial.decoder is not None
        scores.append(on_part.mean_ap(mean, trial.decoder))
        trials.append((fitted, members))
    highest = int(np.argmax(scores))
    chosen = highest if scores[highest] > scores[0] + MARGIN else 0
    score_by_kernel = {
        getattr(objective, "kernel", objective).kind: score
        for objective, score in zip(candidates, scores, strict=True)
    }
    if len(tried.encoder.parts) == len(settings.encoder.parts):
        return chosen, trials[chosen], score_by_kernel
    best = settings.replace(objective=candidates[chosen])
    return chosen, _fit_part(best, part, reporting.inside("part-0"), alone), score_by_kernel
