"""Training: random windows, Lightning's loop, and runs that can be killed and resumed.

Adam without weight decay, a warm-up followed by a cosine, a clipped gradient, and one random window
of every recording per epoch. The same seed gives the same bytes on the same machine, whether or not
the run was interrupted.

`Training` holds all settings; `bdl.training.loop.train` does the work.
"""

from bdl.training.hyperparameters import Training

__all__ = ["Training"]
