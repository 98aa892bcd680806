"""What is irregular in the clock of a recording: counted, and described by its first case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError

Duplicates = Literal["error", "first", "last", "mean"]
_SPARSE = 100  # a regular clock may be this many times longer than the rows
_TAKEN = {"mean": "the mean of rows of one sample", "first": "the first row of a sample"}


class Irregularities:
    """Counts of missing samples (``gaps``), times off the clock (``late``), ``shared`` samples."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def note(self, what: str, rows: NDArray[np.bool_], describe: Callable[[int], str]) -> None:
        """Count irregular rows, and describe the first."""
        if rows.any():
            self._first.setdefault(what, describe(int(np.argmax(rows))))
            self.counts[what] += int(rows.sum())

    def notes(
        self, message: str, samples: int, rows: int, regular: bool, duplicates: Duplicates
    ) -> tuple[str, ...]:
        """A note on what was found and done; an error if a regular clock was not asked for."""
        late, shared = self.counts["late"], self.counts["shared"]
        missing = samples - rows + shared
        problems = {
            "gaps": f"{missing:,} missing samples in {self.counts['gaps']:,} gaps" * bool(missing),
            "late": f"{late:,} times off the regular clock" * bool(late),
            "shared": f"{shared:,} rows share a sample with the row before" * bool(shared),
        }
        texts = [f"{text}, first {self._first[what]}" for what, text in problems.items() if text]
        if not texts:
            return ()
        message = f"{message}: {'; '.join(texts)}"
        if not regular and (missing or late or duplicates == "error"):
            raise InputError(
                f"{message}. Ask for a regular clock (regular=True, --regular) to fill gaps with "
                "missing values, or give another period (--period)"
            )
        if samples > _SPARSE * rows + 1000:
            raise InputError(
                f"{message}. {rows:,} rows would become {samples:,} samples; is the period or the "
                "time's unit right (--period, --unit)?"
            )
        done = ["gaps were filled with missing values"] if missing else []
        done += [f"{_TAKEN.get(duplicates, 'the last row of a sample')} was taken"] * bool(shared)
        return (f"{message}; {', '.join(done) or 'times were rounded to it'}",)
