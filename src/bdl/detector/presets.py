"""Presets: complete recipes by name, the same in Python, on the command line and in studies.

``fast``
    The default: one GRU and boosted trees for each third of the groups, which is held out of their
    training to choose kernel, weights, decoder and operating point and to calibrate scores; the
    detector is the mean of all of them.
``best``
    The same with three GRUs for each third, one more kernel to choose from, and a second stage that
    rescores detections. More than twice the cost of ``fast``.
``paper``
    The published recipe: one GRU, a hard kernel, no scaling, 20 epochs, with the epoch and the
    decoder chosen on a fifth of the groups, and no second training.

Numbers that depend on the data (samples per bin, window, tolerances) are chosen for the data where
they are not given; see `bdl.proposal`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from bdl.detector.suitable_encoders import suitable_encoder
from bdl.encoders import Encoder
from bdl.errors import ConfigError

PresetName = Literal["fast", "best", "paper"]
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "fast": {},  # the defaults of `bdl.detector.DetectorSettings`
    "best": {
        "objective": {
            "kind": "bdl",
            "kernel": {"kind": "automatic", "among": ("gaussian", "hard", "narrowing")},
        },
        "encoder": "three-grus-and-trees",
        "selection": {"rescoring": {}},
    },
    "paper": {
        "objective": "bdl-hard",
        "encoder": "gru",
        "features": {"scaling": "none", "missing": False},
        "training": {
            "epochs": 20,
            "checkpoints": 4,
            "batch": 32,
            "learning_rate": 3e-3,
            "augmentation": {},
        },
        "selection": {"folds": 1, "share": 0.2, "refit": False, "calibrated": False},
    },
}


def preset(name: str, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the fields of `bdl.detector.DetectorSettings` that a preset sets.

    Parameters
    ----------
    name
        ``fast``, ``best`` or ``paper``.
    changes
        Fields that replace those of the preset, which suits them: with a ``lag`` its encoder is the
        forward form and nothing is rescored; with an ``objective`` that boosted trees have no loss
        for, its encoder has no trees.

    Examples
    --------
    >>> preset("paper")["objective"]
    'bdl-hard'
    >>> preset("quick")
    Traceback (most recent call last):
    bdl.errors.ConfigError: preset: fast, best or paper expected, got 'quick'
    """
    if name not in PRESETS:
        *others, last = get_args(PresetName)
        raise ConfigError(f"preset: {', '.join(others)} or {last} expected, got {name!r}")
    fields, changes = dict(PRESETS[name]), changes or {}
    lag = changes.get("lag")
    if lag is not None and "encoder" in fields:
        fields["encoder"] = Encoder.parse(fields["encoder"]).forward()
    if "encoder" in fields:
        fields["encoder"] = suitable_encoder(fields["encoder"], changes.get("objective"))
    if lag is not None and "selection" in fields:
        fields["selection"] = {**fields["selection"], "rescoring": None}
    return fields
