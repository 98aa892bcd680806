"""Training: random windows, Lightning's loop, and runs that can be killed and go on.

Adam without weight decay, a warm-up and a cosine, a capped gradient, one random window of every
recording an epoch. The same seed gives the same bytes on the same machine, whether or not the run
was interrupted.
"""

from bdl.training.batches import Batch, Batches, Prepared
from bdl.training.keeping import Epoch, Kept
from bdl.training.loop import train
from bdl.training.schedule import learning_rate
from bdl.training.settings import Training

__all__ = ["Batch", "Batches", "Epoch", "Kept", "Prepared", "Training", "learning_rate", "train"]
