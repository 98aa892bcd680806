"""The application to look at recordings, correct labels and work through a review queue.

`open_session` opens recordings and their tables, `serve` shows them to the browsers of this
machine, and `export` writes the corrected table.
"""

from __future__ import annotations

from bdl.explore.label_export import export
from bdl.explore.label_session import DensityFolder, LabelSession
from bdl.explore.launch import serve
from bdl.explore.opening import open_session

__all__ = ["DensityFolder", "LabelSession", "export", "open_session", "serve"]
