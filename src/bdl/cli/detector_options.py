"""Options that change the settings of a detector, for the commands that train one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

from typer import Option

from bdl.cli.generated_options import Fields, NestedFields
from bdl.detector.detector_settings import DetectorSettings, merge
from bdl.detector.presets import PresetName
from bdl.detector.selection import Selection
from bdl.errors import ConfigError
from bdl.features import Features
from bdl.training import Training
from bdl.training.hyperparameters import LENGTHS

DETECTOR_OPTIONS = NestedFields(
    Fields(DetectorSettings, without=("features", "training", "selection")),
    {
        "features": Fields(Features),
        "training": Fields(Training, without=("augmentation",), names={"workers": "jobs"}),
        "selection": Fields(Selection, without=("rescoring",), names={"folds": "selection_folds"}),
    },
)
PresetOption = Annotated[
    PresetName | None, Option(help="Preset that the other options change. [default: fast]")
]


def with_options(configured: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return configured settings with options; a length of the training replaces any other.

    Examples
    --------
    >>> with_options({"training": {"budget": 60, "seed": 5}}, {"training": {"updates": 9}})
    {'training': {'seed': 5, 'updates': 9}}
    """
    given = dict(options.get("training") or {})
    training = dict(configured.get("training") or {})
    if any(given.get(name) is not None for name in LENGTHS):
        training = {name: value for name, value in training.items() if name not in LENGTHS}
    return merge({**configured, **({"training": training} if training else {})}, options)


@contextmanager
def named_options() -> Iterator[None]:
    """Name the option of a wrong setting in its error, instead of the field of a class.

    Examples
    --------
    >>> with named_options():
    ...     raise ConfigError("Row: features: stride: 1 or more expected, got 0")
    Traceback (most recent call last):
    bdl.errors.ConfigError: stride (--stride): 1 or more expected, got 0
    """
    try:
        yield
    except ConfigError as error:
        text = re.sub(r"^(?:(?:Row|Tables|DetectorSettings|detector): )+", "", str(error))
        flags = DETECTOR_OPTIONS.flags()
        inner = re.sub(rf"^(?:(?:detector|{'|'.join(DETECTOR_OPTIONS.inner)}): )+", "", text)
        place, _, rest = inner.partition(": ")
        name = place.partition(".")[0]  # without the number of an entry
        if name in flags and "(--" not in rest:
            text = f"{name} ({flags[name]}): {rest.removeprefix(f'{name} ')}"
        elif "unknown key" in rest:
            text = f"detector: {text}"
        raise ConfigError(text) from error
