"""Objectives: what a model is trained on. Each is a value made of target, link and loss.

Each objective is one class in one file of this package (see `bdl.registry`).

- *Target*: the annotations of a crop as an array (bins, outputs), built after cropping.
- *Link*: from logits to the meaning of the density: expected events per bin (kind ``events``) or
  the probability of being inside an interval (kind ``state``).
- *Loss*: a score of every bin and output, averaged over all that the mask leaves in the batch.
  The paper writes a sum. A mean has the same minimum, does not change with window length or
  padding, and keeps the gradient below the clipping threshold in ordinary training.

An objective becomes ready for training in two steps. `Objective.complete` fills in fields that
were left None from settings (kernel width, tolerances, reference spacing). `Objective.resolve`
fills in what depends on training labels or the clock (event frequency, class ratio, bin width).

Names are shorthand for values. For every registered kernel there are ``bdl-``, ``bce-`` and
``mse-`` names:

Examples
--------
>>> import numpy as np
>>> from bdl.labels import Labels
>>> from bdl.objectives import BDL, Objective
>>> from bdl.targets import Crop
>>> Objective.parse("bdl-gaussian").complete(sigma=250.0).kernel
Gaussian(kind='gaussian', sigma=250.0)
>>> day = Labels("a", period=5.0, samples=17280, events=(np.array([40, 9000]), np.array([7000])))
>>> objective = BDL(reference_spacing=86400.0).resolve([day], stride=10)
>>> round(objective.rate, 6)
0.000579
>>> target = objective.target(day, Crop(first=0, samples=17280, stride=10))
>>> target.shape, target.sum(axis=0).tolist()
((1728, 2), [2.0, 1.0])
"""

from __future__ import annotations

from bdl.objectives.objective import Objective
from bdl.registry import exports

__all__ = ["Objective"]

__getattr__, __dir__ = exports(Objective)
