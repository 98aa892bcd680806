"""The report: one self-contained HTML page that shows what a detector does and how well.

`write_report` takes a `Content` (the truth and one or more `System`) and writes the page.
"""

from __future__ import annotations

from bdl.report.content import Content, System
from bdl.report.page import render, write_report

__all__ = ["Content", "System", "render", "write_report"]
