"""What scores mean: their calibration, and a second stage that corrects them from the context.

A decoder scores a detection by the density near it. Further features separate true detections from
false ones: the other detections of the recording, the shape of the density around the detection,
and the signal there. Boosted trees learn from detections in recordings that the first stage was not
trained on. Times do not change.
"""

from bdl.rescoring.rescoring import Rescorer, Rescoring, hit_shares
from bdl.rescoring.score_calibration import ScoreCalibration

__all__ = ["Rescorer", "Rescoring", "ScoreCalibration", "hit_shares"]
