"""The interface of a site from which raw files are downloaded."""

from __future__ import annotations

import fnmatch
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

FileProgress = Callable[[str, int, int], None]


class Download(ABC):
    """A site that publishes raw files."""

    @abstractmethod
    def fetch(
        self, folder: Path, *, only: Sequence[str], url: str | None, progress: FileProgress
    ) -> list[Path]:
        """Download the files; the arguments are those of `bdl.datasets.Dataset.fetch`."""


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name matches one of the patterns; without patterns every name does."""
    return not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
