"""What a detector chooses on recordings that it did not train on."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, NonNegativeInt, model_validator

from bdl.config import Value
from bdl.rescoring import Rescoring

SHARE = 0.2


class Selection(Value):
    """How training recordings are held out, and what is chosen on them.

    Whole groups are held out. The decoder and the operating point are always chosen on the
    held-out recordings, the kernel if it is `bdl.kernels.AutomaticKernel`, weights of ensemble
    members and rescoring on request. The detector is the mean of the models that the choices were
    made with, or is trained again on all recordings with everything that was chosen.

    Parameters
    ----------
    folds
        Parts into which the groups are divided, each held out once. 1 holds out one part only, of
        the size ``share``; 0 holds out and chooses nothing.
    share
        Share of the groups that is held out if there is one selection fold.
    refit
        Whether to train again on all recordings; without it the detector is the mean of those
        that were trained on the others of each part, which costs one training less and takes as
        many times as long to apply as there are parts.
    weights
        Whether to choose the weights of the members of an ensemble, by kind of encoder. Members
        that do not help are left out.
    calibrated
        Whether scores of detections are calibrated on the held-out recordings, so that a score is
        the expected share of the tolerances at which a detection hits an event; see
        `bdl.rescoring.ScoreCalibration`. Otherwise they are those of the decoder.
    rescoring
        Second stage that scores detections again, used if it helps on held-out recordings; none
        for no second stage. It needs ``folds`` of 2 or more.

    Examples
    --------
    >>> Selection(folds=3, rescoring={}).rescoring.trees
    60
    >>> Selection(folds=0, refit=True)
    Traceback (most recent call last):
    bdl.errors.ConfigError: Selection: without folds there is one training: refit has no effect
    """

    folds: NonNegativeInt = 3
    share: Annotated[float, Field(gt=0, lt=1)] = SHARE
    refit: bool = False
    weights: bool = True
    calibrated: bool = True
    rescoring: Rescoring | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.refit and self.folds == 0:
            raise ValueError("without folds there is one training: refit has no effect")
        if self.share != SHARE and self.folds != 1:
            raise ValueError(
                f"share has no effect with folds {self.folds}: give folds 1 (--selection-folds)"
            )
        if self.rescoring is not None and self.folds < 2:
            raise ValueError(f"rescoring needs at least 2 folds, got {self.folds}")
        if self.rescoring is not None and not self.calibrated:
            raise ValueError("rescoring corrects calibrated scores: calibrated must be true")
        return self
