"""Keys of a protocol that have no effect if every row has a preset, which makes its own choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bdl.study.row import DEVICE
from bdl.study.splits import Folds, Holdout
from bdl.training.augmentation import Augmentation

if TYPE_CHECKING:
    from bdl.study.protocol import Protocol

# Fields of `Training` that a protocol sets as they are published, unless they are given.
PUBLISHED = {"accelerator": "cpu", "augmentation": Augmentation()}
# Besides them `split.calibration` and, but for the device, `training`.
_UNUSED = (
    "learning_rates",
    "window",
    "selection_seed",
    "grid",
    "alternatives",
    "decoders",
    "rescored",
)


def unused_by_presets(protocol: Protocol) -> list[str]:
    """Keys that were given and that only rows without a preset use."""
    given, training, split = protocol.given, protocol.training, protocol.split
    unused = [key for key in _UNUSED if key in given]
    if "training" in given:
        names = sorted(training.given.difference(DEVICE))
        changed = [name for name in names if getattr(training, name) != PUBLISHED.get(name)]
        unused += [f"training.{name}" for name in changed]
    if "split" in given and isinstance(split, Folds | Holdout):
        default = type(split).model_fields["calibration"].default
        if split.calibration != default:
            unused.append("split.calibration")
    return unused


def without_unused(inherited: Mapping[str, Any], rows: object) -> dict[str, Any]:
    """Keys of a protocol that another extends, without those that the rows of that do not use.

    Examples
    --------
    >>> base = {"data": "hapt", "window": 9.0, "split": {"folds": 3, "calibration": 0.2}}
    >>> without_unused(base, [{"name": "Best", "preset": "best"}])
    {'data': 'hapt', 'split': {'folds': 3}}
    """
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and row.get("preset") for row in rows
    ):
        return dict(inherited)
    kept = {key: inherited[key] for key in inherited if key not in (*_UNUSED, "training")}
    split = {key: value for key, value in kept["split"].items() if key != "calibration"}
    return {**kept, "split": split}
