"""The report: one self-contained HTML page with the detections of a system and their scores.

`write_report` takes a `Content` (annotated events and one or more `System`) and writes the page.
"""

from __future__ import annotations

from bdl.report.content import Content, System
from bdl.report.page import render, write_report

__all__ = ["Content", "System", "render", "write_report"]
