"""A data set: recordings, events, and the settings its benchmark is run with.

An adapter is one file of this folder: a few constants, and ``load(path, ...)``, which reads the
published raw layout and returns a `Dataset`. Times and tolerances are in seconds; ``stride``
and ``jitter`` are in samples. What an adapter left out, and why, stands in ``notes``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt

from bdl.config import Value
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.intervals import IntervalType
from bdl.recording import Recordings

NAMES = ("sleep", "chbmit", "bowshock", "fraud", "hapt", "mitdb")


class Settings(Value):
    """How a benchmark is trained on and scored.

    Parameters
    ----------
    types : scored event types.
    tolerances : matching tolerances in seconds.
    stride : samples an output bin.
    window : length of a training crop in seconds.
    reference_spacing : seconds between events of one type, for the sparse output prior.
    sigma : width of the Gaussian kernel in seconds.
    separation : least time between two detections of one type in seconds.
    calendar : local hour and weekday are inputs.
    divisor : number the values are divided by, or None.
    event_free : whether detections in recordings without events are false alarms (``count``)
        or left out (``ignore``).
    jitter : largest random shift of an event in training, in samples.

    >>> Settings(types=("x",), tolerances=(2.0,), stride=0, window=60.0, reference_spacing=30.0,
    ...          sigma=1.0, separation=1.0)
    Traceback (most recent call last):
    bdl.errors.ConfigError: Settings: stride: Input should be greater than 0, got 0
    """

    types: tuple[str, ...] = Field(min_length=1)
    tolerances: tuple[PositiveFloat, ...] = Field(min_length=1)
    stride: PositiveInt
    window: PositiveFloat
    reference_spacing: PositiveFloat
    sigma: PositiveFloat
    separation: PositiveFloat
    calendar: bool = False
    divisor: PositiveFloat | None = None
    event_free: Literal["ignore", "count"] = "ignore"
    jitter: NonNegativeInt = 0


@dataclass(frozen=True)
class Dataset:
    """A benchmark as read from its files.

    Parameters
    ----------
    name : one of `NAMES`.
    recordings : lazy; values are read one recording at a time.
    events : annotations; every one lies on a recording of ``recordings``.
    intervals : interval types that tie two event types together; empty for point events.
    settings : the benchmark's own settings.
    notes : what was dropped and why, and the licence.
    """

    name: str
    recordings: Recordings
    events: Events
    intervals: tuple[IntervalType, ...]
    settings: Settings
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        hours = sum(info.duration for info in self.recordings.infos) / 3600
        groups = len(set(self.recordings.groups.values()))
        head = f"{self.name}: {len(self.recordings)} recordings of {groups} groups, {hours:,.1f} h"
        return "\n".join([head, repr(self.events), *(f"  note: {note}" for note in self.notes)])


def load(name: str, path: Path | str, **options: Any) -> Dataset:
    """Read the data set ``name`` from the folder (or file) it was published as.

    Options are those of the adapter: ``task`` of hapt and mitdb, ``trust`` of bowshock, and so on.
    They may stand in the name too, as in ``mitdb:task=afib``, for the command line.

    >>> load("sleeep", "somewhere")
    Traceback (most recent call last):
    bdl.errors.ConfigError: no data set 'sleeep'; there are sleep, chbmit, bowshock, fraud, ...
    """
    name, told = split_options(name)
    options = {**told, **options}
    if name not in NAMES:
        raise ConfigError(f"no data set {name!r}; there are {', '.join(NAMES)}")
    reader: Callable[..., Dataset] = import_module(f"bdl.datasets.{name}").load
    known = [*inspect.signature(reader).parameters][1:]
    for option in options:
        if option not in known:
            raise ConfigError(
                f"data set {name!r} has no option {option!r}; it has {', '.join(known) or 'none'}"
            )
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; {name} data expected there")
    return reader(path, **options)


def split_options(text: str) -> tuple[str, dict[str, str | bool]]:
    """A name and the options written after it.

    >>> split_options("bowshock:trust=yes")
    ('bowshock', {'trust': True})
    """
    name, *parts = text.split(":")
    words: dict[str, bool] = {"yes": True, "true": True, "no": False, "false": False}
    options: dict[str, str | bool] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not (key and equals and value):
            raise ConfigError(f"data set {text!r}: name:option=value expected, got {part!r}")
        options[key] = words.get(value.lower(), value)
    return name, options


def find(folder: Path, *names: str, what: str) -> list[Path]:
    """The files of the given names in a folder; what is missing is named with what is there.

    >>> find(Path("no/such/folder"), "train_events.csv", what="sleep data")
    Traceback (most recent call last):
    bdl.errors.InputError: no/such/folder: not a folder; sleep data expected in it
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: not a folder; {what} expected in it")
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        there = sorted(entry.name for entry in folder.iterdir())
        shown = ", ".join(there[:6]) + (", ..." if len(there) > 6 else "")
        raise InputError(
            f"{folder}: {' and '.join(missing)} missing; {what} needs {', '.join(names)}; "
            f"the folder holds {shown or 'nothing'}"
        )
    return [folder / name for name in names]
