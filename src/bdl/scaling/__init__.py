"""Scaling: how the values of channels are brought to a common size before training.

Each scaling is one class in one file of this package (see `bdl.registry`). A scaling is affine per
channel: ``(x - shift) / scale``, where ``x`` is the value or its logarithm. Its parameters are
learned from the training recordings only.

Examples
--------
>>> from bdl.scaling import Robust, Scaling
>>> Scaling.parse("robust") == Robust()
True
"""

from __future__ import annotations

from bdl.registry import exports
from bdl.scaling.scaling import Scaling

__all__ = ["Scaling"]

__getattr__, __dir__ = exports(Scaling)
