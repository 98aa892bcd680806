"""Fine-tuning: a short training that starts at the weights of a fitted model.

Features with their scaling, objective, decoder and threshold do not change; only weights that are
trained by gradient descent do. By default the training has a tenth of the model's steps, and a
tenth of its learning rate.
"""

from __future__ import annotations

import copy
from typing import Any

from bdl.detector.model import Model
from bdl.detector.model_training import FittedModel, Reporting, provenance_of
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.recording import Recordings
from bdl.sampling import bin_count
from bdl.training import Training, preparation
from bdl.training.hyperparameters import UPDATES
from bdl.training.task import TrainingTask
from bdl.units import in_units

STEPS = 0.1  # of the first training
RATE = 0.1  # of its learning rate


def fine_tune(
    fitted: FittedModel,
    recordings: Recordings,
    events: Events,
    training: Training,
    reporting: Reporting,
) -> FittedModel:
    """Train a copy of a fitted model further.

    Parameters
    ----------
    fitted
        The model to start at; it is not changed.
    recordings
        Recordings with the channels and the period of the model.
    events
        Their annotations, of event types that the model knows.
    training
        Optimizer, budget and device of this training.
    reporting
        Where files are kept, and what is shown.
    """
    model = fitted.model
    _check_types(model, events.types)
    recordings = in_units(recordings, model.units_by_channel, "the model")
    for info in recordings.infos:
        preparation.check_like(info, model.channels, model.period, "the model")
    stride = model.features.bin_samples
    prepared = preparation.prepare(
        recordings,
        events,
        model.features,
        types=model.types,
        intervals=model.intervals,
        lag=model.lag,
    )
    preparation.check_labels([recording.labels for recording in prepared], model.types)
    longest = max(bin_count(info.samples, stride) for info in recordings.infos)
    module = copy.deepcopy(fitted.module).train()
    provenance = provenance_of(prepared, before=model.provenance)
    task = TrainingTask(
        model.objective,
        prepared,
        training,
        model.features,
        model.settings.encoder.fixed_bins or min(model.window, longest),
        len(model.outputs),
        directory=reporting.directory,
        identity={
            "from": model.model_dump(mode="json"),
            "training": training.model_dump(mode="json"),
            "data": provenance.digest,
        },
        tensorboard=reporting.tensorboard,
        progress=reporting.progress,
    )
    result = model.settings.encoder.fine_tune(module, task)
    assert result.best is not None
    module.load_state_dict(result.checkpoints[result.best])
    tuned = model.replace(
        epoch=result.best,
        settings=model.settings.replace(training=training),
        choices=None,  # what was measured belongs to the weights before
        cross_validation=None,
        provenance=provenance,
    )
    return FittedModel(tuned, module.eval(), fitted.rescorer, result.history, result.checkpoints)


def shorter_training(model: Model, **changes: Any) -> Training:
    """The training of a model, shortened for fine-tuning.

    Parameters
    ----------
    model
        The fitted model.
    **changes
        Fields of `bdl.training.Training` that differ.
    """
    if changes.get("budget") is not None:
        raise ConfigError(
            f"budget {changes['budget']}: a budget is measured for a whole fit; say how long to "
            "fine-tune by updates or epochs (--updates or --epochs)"
        )
    first = model.settings.training
    steps: dict[str, Any] = {"epochs": None, "updates": None}
    if first.epochs is not None:
        steps["epochs"] = max(1, round(STEPS * first.epochs))
        rate = first.learning_rate or 0.003
    else:
        before = first.updates or UPDATES
        steps["updates"] = max(1, round(STEPS * before))
        rate = first.peak_rate(before)
    if steps.keys() & changes.keys():
        steps = dict.fromkeys(steps)
    unset = {"checkpoint_epochs": (), "checkpoints": None, "stop_after": None}
    return first.replace(**{**unset, "learning_rate": RATE * rate, **steps, **changes})


def _check_types(model: Model, types: tuple[str, ...]) -> None:
    """Raise an error for event types that the model does not know: its outputs are fixed."""
    unknown = [name for name in types if name not in model.types]
    if unknown:
        raise InputError(
            f"the model has no event type {unknown[0]!r}; it knows {', '.join(model.types)}: "
            "leave the others out, or fit a new model"
        )
