"""Training: random windows, Lightning's loop, and runs that can be killed and go on.

Adam without weight decay, a warm-up and a cosine, a capped gradient, one random window of every
recording an epoch. The same seed gives the same bytes on the same machine, whether or not the run
was interrupted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bdl.training.batches import Batch, Batches, Prepared
from bdl.training.history import Epoch, Kept
from bdl.training.schedule import learning_rate
from bdl.training.settings import Training

if TYPE_CHECKING:
    from bdl.training.loop import train

__all__ = ["Batch", "Batches", "Epoch", "Kept", "Prepared", "Training", "learning_rate", "train"]


def __getattr__(name: str) -> Any:
    # Lightning takes seconds to import, and who loads a model to detect does not train.
    if name == "train":
        from bdl.training.loop import train

        return train
    raise AttributeError(f"module 'bdl.training' has no attribute {name!r}")
