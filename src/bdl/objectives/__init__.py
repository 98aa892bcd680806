r"""Objectives: what a model is trained on. Each is a value made of target, link and loss.

- *Target*: annotations of a crop as an array (bins, outputs), built after cropping.
- *Link*: logits to what the density means: expected events (kind ``events``) or the probability
  of lying in an interval (kind ``state``).
- *Loss*: a score of every bin and output, averaged over all that the mask leaves in the batch.
  The paper writes a sum; a mean has the same minimum, does not change with window length or
  padding, and keeps the gradient below the clip in ordinary training. `scores` gives the terms.

What depends on the training data (event frequency, class ratio) or on the clock (bin width) is
filled in once by `resolve`, from training labels only, and travels with the value:

>>> import numpy as np
>>> from bdl.labels import Labels
>>> day = Labels("a", period=5.0, samples=17280, events=(np.array([40, 9000]), np.array([7000])))
>>> objective = named("bdl-hard", reference_spacing=86400.0).resolve([day], stride=10)
>>> round(objective.rate, 6)
0.000579
>>> target = objective.target(day, stride=10, first=0, samples=17280)
>>> target.shape, target.sum(axis=0).tolist()
((1728, 2), [2.0, 1.0])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from bdl.errors import ConfigError
from bdl.kernels import Gaussian, Hard, Kernel, RightGaussian, Tolerance
from bdl.objectives.base import Base, estimated_spacing
from bdl.objectives.boundary import BDL, BoundaryBCE, LocalizedMSE
from bdl.objectives.state import EventClassifier, Segmentation

__all__ = [
    "BDL",
    "NAMES",
    "Base",
    "BoundaryBCE",
    "EventClassifier",
    "LocalizedMSE",
    "Objective",
    "Segmentation",
    "estimated_spacing",
    "named",
]

Objective = Annotated[
    BDL | BoundaryBCE | LocalizedMSE | Segmentation | EventClassifier, Field(discriminator="kind")
]

_SEGMENTATION: dict[str, Literal["none", "class", "focal"]] = {
    "ce": "none",
    "weighted": "class",
    "focal": "focal",
}
_BOUNDARY: dict[str, type[BDL | BoundaryBCE | LocalizedMSE]] = {
    "bdl": BDL,
    "bce": BoundaryBCE,
    "mse": LocalizedMSE,
}
NAMES = (
    *(f"{family}-{shape}" for family in _BOUNDARY for shape in ("hard", "gaussian", "tolerance")),
    "bdl-right",
    *(f"seg-{weighting}" for weighting in _SEGMENTATION),
    "classifier",
)


def named(
    name: str,
    *,
    sigma: float | None = None,
    tolerances: Sequence[float] | None = None,
    reference_spacing: float | None = None,
) -> Objective:
    """The objective a short name stands for; sugar for the values of this module.

    >>> named("bdl-gaussian", sigma=250.0).kernel
    Gaussian(kind='gaussian', sigma=250.0)
    >>> named("seg-weighted").weighting
    'class'
    >>> named("bdl-soft")
    Traceback (most recent call last):
    bdl.errors.ConfigError: no objective is named 'bdl-soft'; there are bdl-hard, ...
    """
    if name not in NAMES:
        raise ConfigError(f"no objective is named {name!r}; there are {', '.join(NAMES)}")
    if name == "classifier":
        return EventClassifier()
    family, shape = name.split("-")
    if family == "seg":
        return Segmentation(weighting=_SEGMENTATION[shape])
    kernel: Kernel = Hard()
    if shape in ("gaussian", "right"):
        if sigma is None:
            raise ConfigError(f"{name} needs sigma, the kernel's width in seconds")
        kernel = Gaussian(sigma=sigma) if shape == "gaussian" else RightGaussian(sigma=sigma)
    elif shape == "tolerance":
        if not tolerances:
            raise ConfigError(f"{name} needs the tolerances of the score in seconds")
        kernel = Tolerance(tolerances=tuple(tolerances))
    return _BOUNDARY[family](kernel=kernel, reference_spacing=reference_spacing)
