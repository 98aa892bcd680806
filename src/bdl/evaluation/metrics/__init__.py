"""Metrics: numbers that a bootstrap, a calibration or a study computes, by name or as values.

Each metric is one class in one file of this package (see `bdl.registry`). Its text form is
``NAME[@TOLERANCE][>=THRESHOLD][:TYPE]``: ``mAP``, ``mF1``; ``AP@60``, ``F1@60`` (mean over types at
one tolerance); ``sensitivity@60>=0.5``, ``precision@60>=0.5``, ``F1@60>=0.5``,
``false_alarms_per_day@60>=0.5`` (detections with score >= 0.5, types together); ``bias@60``,
``median@60``, ``p95@60`` (timing error of hits, with or without a threshold). ``:onset`` at the end
selects one event type.

Examples
--------
>>> from bdl.evaluation.metrics import AveragePrecision, Metric
>>> Metric.parse("AP@60:onset") == AveragePrecision(tolerance=60.0, type="onset")
True
"""

from __future__ import annotations

from bdl.evaluation.metrics.metric import Metric
from bdl.registry import exports

__all__ = ["Metric"]

__getattr__, __dir__ = exports(Metric)
