"""The training data of a model, and its scores on recordings that it was not trained on."""

from __future__ import annotations

from bdl.config import Value
from bdl.detector.cross_validation import CrossValidated


class UnseenScores(Value):
    """Scores on recordings of groups that were neither trained nor chosen on.

    Parameters
    ----------
    groups, recordings
        Names of the groups, and number of their recordings.
    scores
        Scores by name, with 95 % confidence intervals of a bootstrap over groups.
    """

    groups: tuple[str, ...]
    recordings: int
    scores: dict[str, CrossValidated]


class Provenance(Value):
    """What a model was trained on.

    Parameters
    ----------
    recordings, hours, events
        How much: number of recordings, their total length, number of events.
    digest
        SHA-256 digest of the features and labels of the training, in hexadecimal.
    data, licence
        Name of the data set and terms of its use, as far as they are known.
    unseen
        Scores on recordings that the model never saw; None if they are not known.
    before
        What the model was trained on before it was fine-tuned on this; None if it was not.

    Examples
    --------
    >>> Provenance(recordings=2, hours=24.0, events=7, digest="0a", data="mitdb").licence
    ''
    """

    recordings: int
    hours: float
    events: int
    digest: str
    data: str = ""
    licence: str = ""
    unseen: UnseenScores | None = None
    before: Provenance | None = None
