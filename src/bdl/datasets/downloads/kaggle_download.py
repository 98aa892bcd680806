"""Downloads from Kaggle, by Kaggle's own client.

Kaggle requires an account and the acceptance of a data set's rules. Its client finds the user's
own credentials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bdl.datasets.downloads.download import Download, FileProgress, matches
from bdl.errors import ConfigError, InputError, require


@dataclass(frozen=True)
class Kaggle(Download):
    """A competition (of which some files are needed) or a data set on Kaggle, by Kaggle's name."""

    competition: str | None = None
    dataset: str | None = None
    files: tuple[str, ...] = ()

    def fetch(
        self, folder: Path, *, only: Sequence[str], url: str | None, progress: FileProgress
    ) -> list[Path]:
        """Download the files; the client shows its own progress."""
        page = self.competition or self.dataset
        if url is not None:
            raise ConfigError(f"{page} comes from Kaggle, which has no mirrors; leave out --url")
        if only and self.competition is None:
            raise ConfigError(f"{page} is downloaded from Kaggle as a whole; leave out --only")
        kagglehub = require("kagglehub", "fetch")
        folder.mkdir(parents=True, exist_ok=True)
        try:
            if self.competition is not None:
                for name in self.files:
                    if matches(name, only):
                        kagglehub.competition_download(
                            self.competition, path=name, output_dir=str(folder)
                        )
            else:
                kagglehub.dataset_download(self.dataset, output_dir=str(folder))
        except Exception as error:  # the client raises errors of its own and of its libraries
            reason = " ".join(str(error).split())[:300]
            raise InputError(
                f"Kaggle, {page}: {type(error).__name__}: {reason}; check that Kaggle's client "
                "has an API token and that you have accepted the rules on the page"
            ) from error
        return sorted(file for file in folder.rglob("*") if file.is_file())
