"""One model of several: the mean density of models that were trained on parts of the data.

Models can be averaged if they have the same inputs and the same meaning of outputs. Scaling and
prior rate are therefore those of all training data, and the window fits into every part. The prior
rate, at which the output of a network starts, is the only number that a model has from the labels
of its held-out part.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from bdl.detector.choices import with_weights
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.model_training import FittedModel, TrainingData, untrained_model
from bdl.encoders.ensemble import Ensemble
from bdl.encoders.networks.ensemble import EnsembleEncoder, members_of
from bdl.labels import label


def with_common_inputs(
    settings: DetectorSettings, data: TrainingData, parts: Sequence[TrainingData]
) -> DetectorSettings:
    """Return settings with which models of all parts can be averaged.

    Parameters
    ----------
    settings
        Complete settings.
    data
        All training data.
    parts
        The data that each model is trained on.
    """
    if settings.window is not None:
        longest = [max(info.duration for info in part.recordings.infos) for part in parts]
        settings = settings.replace(window=min(settings.window, *longest))
    features = settings.features.fit(data.recordings)
    labels = label(data.events, data.recordings.infos, types=data.types, intervals=data.intervals)
    objective = settings.objective.resolve(labels.values(), stride=features.bin_samples)
    return settings.replace(features=features, objective=objective)


def mean_model(
    fits: Sequence[FittedModel],
    settings: DetectorSettings,
    weights: Sequence[float],
    data: TrainingData,
) -> FittedModel:
    """Return the mean of models as one model.

    Parameters
    ----------
    fits
        Models of one encoder, trained on parts of the data.
    settings
        Complete settings, with the objective that was chosen.
    weights
        Weight of each part of the encoder; those of weight 0 are left out.
    data
        All training data.
    """
    modules: list[nn.Module] = []
    for fitted in fits:
        members = members_of(fitted.module)
        modules += [module for module, w in zip(members, weights, strict=True) if w > 0]
    encoder = with_weights(
        Ensemble(members=settings.encoder.parts * len(fits)), [*weights] * len(fits)
    )
    model, _ = untrained_model(settings.replace(encoder=encoder), data)
    first = fits[0].model
    model = model.replace(window=first.window, tile=first.tile, epoch=first.epoch)
    built = model.build()
    assert isinstance(built, EnsembleEncoder)
    for module, trained in zip(built.members, modules, strict=True):
        module.load_state_dict(trained.state_dict())
    return FittedModel(model, built.eval(), None, fits[0].history)
