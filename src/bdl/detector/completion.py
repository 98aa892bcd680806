"""Settings that were not given, filled in from the training data."""

from __future__ import annotations

from bdl.binning import bin_features
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.model_training import TrainingData, choose_window
from bdl.features import Features
from bdl.proposal import propose
from bdl.recording import Recordings
from bdl.training import Training

# A training without epochs or updates passes about this many bins through the model, within limits
# on the number of updates: about a minute of one core for a GRU.
BINS, FEWEST, MOST = 5_000_000, 300, 1_000
# Share of bins without any sample above which the share of missing samples is an input.
MISSING = 0.01


def complete_settings(
    settings: DetectorSettings, data: TrainingData
) -> tuple[DetectorSettings, float]:
    """Fill in settings that were not given; also return the minimal separation of detections.

    Parameters
    ----------
    settings
        Settings in which stride, calendar, window, tolerances, the share of missing samples as an
        input, the width of kernels or the length of the training may not be given.
    data
        The training data.

    Returns
    -------
    tuple of DetectorSettings and float
        Complete settings, and the least time between two detections in seconds.
    """
    events = data.events.select(types=data.types)
    # Kernel width and separation follow the data even if all other settings are given.
    proposal = propose(data.recordings, events, settings.tolerances)
    features, window = settings.features, settings.window
    features = features.replace(
        stride=features.stride or proposal.stride.value,
        calendar=proposal.calendar.value if features.calendar is None else features.calendar,
    )
    if "missing" not in settings.features.model_fields_set:  # a copy has set every field
        features = features.replace(missing=missing_share(data.recordings, features) > MISSING)
    if window is None and settings.encoder.fixed_bins is None:
        window = proposal.window.value
    settings = settings.replace(
        features=features,
        window=window,
        tolerances=settings.tolerances or proposal.tolerances.value,
    )
    window_bins = choose_window(settings, data.recordings)
    training = with_length(settings.training, window_bins)
    complete = settings.replace(training=training).complete(
        sigma=proposal.sigma.value, separation=proposal.separation.value
    )
    return complete, dict(complete.decoder or {}).get("separation") or proposal.separation.value


def missing_share(recordings: Recordings, features: Features) -> float:
    """Return the share of the bins of all recordings that have no sample.

    Examples
    --------
    >>> import numpy as np
    >>> from bdl.recording import Recording
    >>> gap = Recording.of(np.array([1.0, np.nan, np.nan, np.nan]), id="a", period=1.0)
    >>> missing_share(Recordings.of([gap]), Features(stride=2))
    0.5
    """
    plain = features.replace(scaling="none", statistics=("mean",), calendar=False)
    missing = bins = 0
    for recording in recordings:  # counted at once: all bins together may not fit the memory
        binned = bin_features(recording, plain)
        missing += int(binned.missing.sum())
        bins += len(binned.missing)
    return missing / max(1, bins)


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
