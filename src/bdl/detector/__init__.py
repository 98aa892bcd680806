"""The detector: fitting, applying, and keeping a model in one file."""

from bdl.detector.estimator import Detector

__all__ = ["Detector"]
