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

from bdl import decoding
from bdl.decoding import Decoder
from bdl.density import Density
from bdl.detector.application import member_densities
from bdl.detector.choices import (
    MARGIN,
    Choices,
    HeldOut,
    OperatingPoint,
    best_threshold,
    choose_weights,
    weighted_mean,
    with_weights,
)
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.model_training import FittedModel, Reporting, TrainingData, train_model
from bdl.detector.second_stage import train_second_stage
from bdl.encoders.ensemble import Ensemble
from bdl.encoders.networks.ensemble import EnsembleEncoder
from bdl.kernels import Kernel

Parts = Sequence[tuple[TrainingData, TrainingData]]


def cross_fit(
    settings: DetectorSettings,
    data: TrainingData,
    parts: Parts,
    held: HeldOut,
    reporting: Reporting,
    *,
    refit: bool,
    fixed_decoder: bool,
) -> FittedModel:
    """Train on each part, choose on what it holds out, and train on everything.

    Parameters
    ----------
    settings
        Complete settings.
    data
        All training data.
    parts
        Pairs of data to train on and data held out.
    held
        What the choices are made on.
    reporting
        Where files are kept, and what is shown.
    refit
        Whether to train again on all data; otherwise the model of the only part is returned.
    fixed_decoder
        Whether the decoder of the settings is used instead of the best.
    """
    settings, kernels = _choose_kernel(settings, parts, held, reporting)
    fits, members = list[FittedModel](), list[list[Density]]()
    for number, (train, others) in enumerate(parts):
        fitted = _train_part(settings, train, others, reporting.inside(f"part-{number}"), refit)
        fits.append(fitted)
        members += [
            member_densities(fitted.module, fitted.model, recording)
            for recording in others.recordings
        ]
    assert settings.decoder is not None
    weights, tried = (
        choose_weights(members, settings.encoder, settings.decoder, held)
        if settings.selection.weights
        else (_given_weights(settings), [])
    )
    densities = [weighted_mean(each, weights) for each in members]
    calibrations = [] if fixed_decoder else held.calibrate(densities)
    ranking = max(calibrations, key=lambda each: each.score, default=None)
    decoder = settings.decoder if ranking is None else ranking.decoder
    score = held.mean_ap(densities, decoder) if ranking is None else ranking.score
    stage = None
    if settings.selection.rescoring is not None and densities[0].kind == "events":
        models = [fitted.model for fitted in fits]
        held_out = [others.recordings for _, others in parts]
        stage = train_second_stage(
            settings.selection.rescoring,
            [*zip(models, held_out, strict=True)],
            densities,
            decoder,
            held,
            seed=settings.training.seed,
        )
    helpful = stage if stage is not None and stage.after > stage.before + MARGIN else None
    choices = Choices(
        groups=len({id for _, others in parts for id in others.recordings.groups.values()}),
        recordings=len(densities),
        kernels=kernels,
        weights=tuple(tried),
        decoders={each.decoder.kind: each.score for each in calibrations},
        rescoring=None if stage is None else (stage.before, stage.after),
        score=helpful.after if helpful else score,
    )
    decoders = [each.decoder for each in calibrations] or [decoder]
    points = [_operating_point(densities, each, held) for each in decoders]
    if helpful:
        threshold, f1 = best_threshold(helpful.matches)
        points.append(OperatingPoint(decoder=decoder, rescored=True, threshold=threshold, f1=f1))
    point = max(points, key=lambda each: each.f1)
    fitted = fits[0]
    if refit:
        final = settings.replace(encoder=with_weights(settings.encoder, weights))
        epoch = median_low(part_fit.model.epoch for part_fit in fits)
        fitted = train_model(final.stopping_at(epoch), data, reporting.inside("all"))
    elif isinstance(settings.encoder, Ensemble):
        assert isinstance(fitted.module, EnsembleEncoder)
        fitted.module.weights = [weight / sum(weights) for weight in weights]
        encoder = settings.encoder.replace(weights=weights)
        fitted = replace(
            fitted, model=fitted.model.replace(settings=settings.replace(encoder=encoder))
        )
    model = fitted.model.replace(decoder=decoder, operating_point=point, choices=choices)
    return replace(fitted, model=model, rescorer=helpful.rescorer if helpful else None)


def _given_weights(settings: DetectorSettings) -> tuple[float, ...]:
    encoder = settings.encoder
    if not isinstance(encoder, Ensemble):
        return (1.0,)
    return encoder.weights or (1.0,) * len(encoder.members)


def _train_part(
    settings: DetectorSettings,
    train: TrainingData,
    others: TrainingData,
    reporting: Reporting,
    refit: bool,
) -> FittedModel:
    """Train on a part; its kept epochs, if there are any, are scored on what is held out."""
    longest = max(info.duration for info in train.recordings.infos)
    if settings.window is not None and refit:
        settings = settings.replace(window=min(settings.window, longest))
    validation = others if settings.chooses_epoch else None
    with warnings.catch_warnings():
        if refit:  # the last training warns about the same data
            warnings.simplefilter("ignore", UserWarning)
        return train_model(settings, train, reporting, validation)


def _choose_kernel(
    settings: DetectorSettings, parts: Parts, held: HeldOut, reporting: Reporting
) -> tuple[DetectorSettings, dict[str, float]]:
    """Choose the kernel by training the first encoder with each, on the first part."""
    kernels = settings.selection.kernels
    if not kernels or "kernel" not in type(settings.objective).model_fields:
        return settings, {}
    encoder = settings.encoder
    first = encoder.members[0] if isinstance(encoder, Ensemble) else encoder
    train, others = parts[0]
    part = replace(held, truth=others.events.select(types=held.types))
    scores: dict[str, float] = {}
    completed: dict[str, Kernel] = {}
    assert settings.decoder is not None
    # The width that was chosen for the data; the kernel of the settings may have none.
    sigma = getattr(settings.objective.kernel, "sigma", None)  # type: ignore[attr-defined]
    for number, kernel in enumerate(kernels):
        objective = settings.objective.replace(kernel=kernel)
        trial = settings.replace(objective=objective, encoder=first).complete(sigma=sigma)
        folder = reporting.inside(f"kernel-{number}")
        fitted = _train_part(trial, train, others, folder, True)
        densities = [
            member_densities(fitted.module, fitted.model, recording)[0]
            for recording in others.recordings
        ]
        scores[kernel.kind] = part.mean_ap(densities, settings.decoder)
        completed[kernel.kind] = trial.objective.kernel  # type: ignore[attr-defined]
    best = max(scores, key=lambda kind: scores[kind])
    objective = settings.objective.replace(kernel=completed[best])
    return settings.replace(objective=objective), scores


def _operating_point(
    densities: Sequence[Density], decoder: Decoder, held: HeldOut
) -> OperatingPoint:
    detections = decoding.decode(densities, decoder, held.intervals)
    threshold, f1 = best_threshold(
        held.match(detections, [density.recording for density in densities])
    )
    return OperatingPoint(decoder=decoder, threshold=threshold, f1=f1)
