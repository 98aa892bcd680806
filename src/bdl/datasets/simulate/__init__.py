"""Simulators: each writes a benchmark's raw files, so that every adapter can be run end to end.

A simulation is determined by its name, size and seed: recording ``i`` draws from a generator of
its own, seeded by (seed, i), so it is the same whatever the number of recordings. Recordings are
made and written one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Literal

from bdl.errors import ConfigError

NAMES = ("sleep", "chbmit", "bowshock", "fraud")
Progress = Callable[[int, int], None]


def simulate(
    name: str,
    out: Path | str,
    *,
    recordings: int,
    days: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    layout: Literal["physionet", "kaggle"] | None = None,
) -> None:
    """Write the raw files of a simulated data set into the folder ``out``.

    Parameters
    ----------
    name : one of `NAMES`.
    out : folder, made if need be; ``datasets.load(name, out)`` reads it.
    recordings : how many series.
    days : length of each in days; None is the length usual for the data set.
    seed : of all that is random.
    progress : called with (recordings done, recordings in all).
    layout : of chbmit only: ``physionet`` (EDF and summaries, some without seizures; the default)
        or ``kaggle`` (Feather and one table, a seizure in each).

    >>> simulate("sleeep", "out", recordings=1)
    Traceback (most recent call last):
    bdl.errors.ConfigError: no simulator 'sleeep'; there are sleep, chbmit, bowshock, fraud
    """
    if name not in NAMES:
        raise ConfigError(f"no simulator {name!r}; there are {', '.join(NAMES)}")
    if recordings < 1:
        raise ConfigError(f"recordings: at least 1 expected, got {recordings}")
    if days is not None and not days > 0:
        raise ConfigError(f"days: a positive number expected, got {days}")
    if seed < 0:
        raise ConfigError(f"seed: a nonnegative integer expected, got {seed}")
    write = import_module(f"bdl.datasets.simulate.{name}").write
    options = {}
    if layout is not None:
        if name != "chbmit":
            raise ConfigError(f"layout: {name} has one layout only; leave it out")
        if layout not in ("physionet", "kaggle"):
            raise ConfigError(f"layout: physionet or kaggle expected, got {layout!r}")
        options["layout"] = layout
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    write(out, recordings=recordings, days=days, seed=seed, progress=progress or _silent, **options)


def _silent(done: int, total: int) -> None:
    """No progress display."""
