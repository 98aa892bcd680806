"""The application to look at recordings, correct labels and work through a review queue.

`open_session` opens recordings and their tables, `serve` shows them to the browsers of this
machine, and `export` writes the corrected table.
"""

from __future__ import annotations

from bdl.explore.export import export
from bdl.explore.opening import open_session
from bdl.explore.serving import serve
from bdl.explore.session import DensityFolder, Session

__all__ = ["DensityFolder", "Session", "export", "open_session", "serve"]
