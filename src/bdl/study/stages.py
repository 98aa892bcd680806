"""Names of stages: the decoder of some detections, or what a score that is not theirs belongs to.

A stage is part of the name of a file of detections and of every score, so that the grids, decoders
and further tolerances of a protocol, each a stage of its own, have other names.
"""

from __future__ import annotations

# Decoders; see `bdl.study.decoder_stages` for the first two.
TUNED = "tuned"  # of a row with a preset, the ranking of all its detections
DEFAULT = "default"
CROSS_FITTED = "cross-fitted"  # validation regime: selected for each fold on the others
OPERATING_POINT = "operating point"  # detections above the threshold that a preset has chosen
# Scores of other kinds.
ADAPTED = "adapted"  # scores of detections rescaled by the adapter of counts
SELECTION = "selection"  # what was selected in each fold, and its score
VALID = "valid"  # validation regime: the best checkpoint of each fold, with the untuned decoder

SELECTED = ("mAP", "learning rate", "epoch", "threshold")  # what can be selected, as metrics
RESERVED = (TUNED, DEFAULT, CROSS_FITTED, OPERATING_POINT, ADAPTED, SELECTION, VALID)
