"""A recording format: text files with one number per line."""

from typing import ClassVar

import numpy as np

from bdl.formats.recordings import RecordingFormat
from bdl.recording import Recording, Recordings


class Numbers(RecordingFormat):
    """Text files with one number per line.

    Parameters
    ----------
    pace
        Seconds from one number to the next.
    """

    kind: str = "numbers"
    suffixes: ClassVar[tuple[str, ...]] = (".numbers",)
    pace: float = 1.0

    def read(self, path):
        values = np.array(path.read_text().split(), np.float32)
        return Recordings.of([Recording.of(values, id=path.stem, period=self.pace)])
