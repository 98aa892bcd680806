"""What scores mean: their calibration, and a second stage that corrects them from the context.

A decoder scores a detection by the density near it. What else is known about it, such as how it
compares with the other detections of its recording, how the density is shaped around it and what
the signal does there, tells true detections from false ones. Boosted trees learn it from
detections in recordings that the first stage did not train on. Times do not change.
"""

from bdl.rescoring.rescoring import Rescorer, Rescoring, hit_shares
from bdl.rescoring.score_calibration import ScoreCalibration

__all__ = ["Rescorer", "Rescoring", "ScoreCalibration", "hit_shares"]
