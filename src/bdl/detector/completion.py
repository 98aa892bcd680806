"""Settings that were not given, filled in from the training data."""

from __future__ import annotations

from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.model_training import TrainingData, choose_window
from bdl.proposal import propose
from bdl.training import Training

# A training without epochs or updates passes about this many bins through the model, within limits
# on the number of updates: about a minute of one core for a GRU.
BINS, FEWEST, MOST = 5_000_000, 300, 1_000


def complete_settings(
    settings: DetectorSettings, data: TrainingData
) -> tuple[DetectorSettings, float]:
    """Fill in settings that were not given; also return the minimal separation of detections.

    Parameters
    ----------
    settings
        Settings in which stride, calendar, window, tolerances or the length of the training may
        not be given.
    data
        The training data.

    Returns
    -------
    tuple of DetectorSettings and float
        Complete settings, and the least time between two detections in seconds.
    """
    separation, sigma = 0.0, None
    if not settings.is_complete:
        events = data.events.select(types=data.types)
        proposal = propose(data.recordings, events, settings.tolerances)
        separation, sigma = proposal.separation.value, proposal.sigma.value
        features = settings.features
        if features.stride is None:
            features = features.replace(stride=proposal.stride.value)
        if features.calendar is None:
            features = features.replace(calendar=proposal.calendar.value)
        window = settings.window
        if window is None and settings.encoder.fixed_bins is None:
            window = proposal.window.value
        settings = settings.replace(
            features=features,
            window=window,
            tolerances=settings.tolerances or proposal.tolerances.value,
        )
    window_bins = choose_window(settings, data.recordings)
    training = with_length(settings.training, window_bins)
    complete = settings.replace(training=training).complete(sigma=sigma, separation=separation)
    return complete, dict(complete.decoder or {}).get("separation") or separation


def with_length(training: Training, window: int) -> Training:
    """Return training settings with a length, by default chosen by the bins of a window.

    Examples
    --------
    >>> with_length(Training(), window=1000).updates
    625
    """
    if (training.epochs, training.updates, training.budget) != (None, None, None):
        return training
    updates = round(BINS / (training.batch * window))
    return training.replace(updates=min(max(updates, FEWEST), MOST))
