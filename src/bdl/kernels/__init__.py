"""Timing kernels: how the unit mass of one event is spread around its annotated time.

Each kernel is one class in one file of this package (see `bdl.registry`). A kernel is a value in
seconds. On a sample clock of a given period it becomes weights at whole sample distances ``r``
from the event's sample: nonnegative, with unit sum, largest at ``r = 0`` and never rising away
from it. A reach is inclusive (``|r| * period <= reach``); a reach that is a whole number of
samples up to rounding counts as whole. A kernel narrower than one sample equals `Hard`.
`bdl.targets` cuts kernels at the edges of a crop and renormalises them.

Examples
--------
>>> from bdl.kernels import Gaussian, Kernel
>>> Kernel.parse("gaussian").complete(sigma=30.0) == Gaussian(sigma=30.0)
True
"""

from __future__ import annotations

from bdl.kernels.kernel import Kernel, cumulative
from bdl.registry import exports

__all__ = ["Kernel", "cumulative"]

__getattr__, __dir__ = exports(Kernel)
