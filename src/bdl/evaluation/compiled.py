"""Former place of `bdl.compiled`."""

from __future__ import annotations

from bdl.compiled import compiled

__all__ = ["compiled"]
