"""Keys of a protocol that have no effect, of those that were given.

A stored protocol has all keys, and is read as it is (`bdl.config.Value.given`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bdl.density import DensityKind
from bdl.study.row import DEVICE
from bdl.study.splits import Folds, Holdout
from bdl.training.augmentation import Augmentation

if TYPE_CHECKING:
    from bdl.study.protocol import Protocol
    from bdl.study.row import Row

# Fields of `Training` that a protocol sets as they are published, unless they are given.
PUBLISHED = {"accelerator": "cpu", "augmentation": Augmentation()}
# Keys that rows with a preset do not use; besides them the calibration part of the split and, but
# for the device, `training`.
_UNUSED = (
    "learning_rates",
    "window",
    "selection_seed",
    "grid",
    "alternatives",
    "decoders",
    "rescored",
)
# Settings of the data that `DetectorSettings.of` uses with the preset paper only.
_CHOSEN = (
    "stride",
    "window",
    "reference_spacing",
    "sigma",
    "separation",
    "calendar",
)
_WITHOUT_PRESET = ("scaling", "jitter")  # settings of the data that no preset uses


def check_keys(protocol: Protocol) -> None:
    """Raise an error for keys that were given and have no effect."""
    if all(row.preset for row in protocol.rows) and (unused := _unused_by_presets(protocol)):
        raise ValueError(
            f"{', '.join(unused)}: no effect, because every row has a preset, which makes its own "
            "choices; leave it out, or set the detector of the rows"
        )
    if reasons := [*_decoding(protocol), *_selection(protocol), *_overridden(protocol)]:
        raise ValueError(
            f"{'; '.join(reasons)}; leave it out (null, if the protocol that is extended has it)"
        )


def _unused_by_presets(protocol: Protocol) -> list[str]:
    """Keys that only rows without a preset use."""
    given, training = protocol.given, protocol.training
    unused = [key for key in _UNUSED if key in given]
    if "settings" in given:
        settings = _unused_settings(row.preset for row in protocol.rows)
        unused += [f"settings.{key}" for key in settings if key in protocol.settings]
    if "training" in given:
        names = sorted(training.given.difference(DEVICE))
        changed = [name for name in names if getattr(training, name) != PUBLISHED.get(name)]
        unused += [f"training.{name}" for name in changed]
    return unused + _calibration(protocol)


def _unused_settings(presets: Iterable[str | None]) -> tuple[str, ...]:
    """Settings of the data that rows with these presets do not use."""
    return _WITHOUT_PRESET if "paper" in presets else (*_CHOSEN, *_WITHOUT_PRESET)


def _calibration(protocol: Protocol) -> list[str]:
    """Keys of the split that were given for the calibration part of each fold."""
    split = protocol.split
    if "split" not in protocol.given or not isinstance(split, Folds | Holdout):
        return []
    fields = {name: type(split).model_fields[name] for name in ("calibration", "calibration_seed")}
    return [
        f"split.{name}"
        for name, field in fields.items()
        if not field.is_required() and getattr(split, name) != field.default
    ]


def _decoding(protocol: Protocol) -> Iterator[str]:
    """Decoders and analyses that no row has densities for."""
    given = protocol.given
    rows = [row for row in protocol.rows if row.preset is None]
    if "grid" in given and protocol.grid is not None:
        searched = [row for row in rows if row.decoder is None or protocol.rescored]
        if rows and not searched:
            yield "grid: no effect, because every row has a decoder of its own"
        yield from _unread("grid", protocol.grid.decoder.reads, searched)
    for grid in protocol.alternatives if "alternatives" in given else ():
        yield from _unread(f"alternatives: {grid.kind}", grid.decoder.reads, rows)
    for name, decoder in protocol.decoders.items() if "decoders" in given else ():
        yield from _unread(f"decoders: {name}", decoder.reads, rows)
    if "analyses" in given and "counts" in protocol.analyses:
        yield from _unread("analyses: counts", "events", protocol.rows)


def _unread(key: str, reads: DensityKind, rows: Iterable[Row]) -> Iterator[str]:
    """Why a key has no effect that reads densities of a kind, if some rows give others."""
    kinds = {row.objective.density_kind for row in rows}
    if kinds and reads not in kinds:
        yield (
            f"{key}: no effect, because it reads densities of kind {reads!r} and the objectives "
            f"of the rows give kind {' and '.join(map(repr, sorted(kinds)))}"
        )


def _selection(protocol: Protocol) -> Iterator[str]:
    """Keys of a selection on calibration recordings, in a regime without them."""
    if not protocol.regime.held_out:
        seed = ["selection_seed"] if "selection_seed" in protocol.given else []
        for key in _calibration(protocol) + seed:
            yield f"{key}: no effect in the regime {protocol.regime.name}, which has no calibration"


def _overridden(protocol: Protocol) -> Iterator[str]:
    """Settings of the training that every row has itself or does not use."""
    given, training = protocol.given, protocol.training
    rows = [row for row in protocol.rows if row.preset is None]
    if "seeds" in given and all(row.seeds for row in protocol.rows):
        yield "seeds: no effect, because every row has its own"
    names = training.given if "training" in given else ()
    changed = sorted(name for name in names if getattr(training, name) != PUBLISHED.get(name))
    keys = {f"training.{name}": (name, name) for name in changed}
    if "learning_rates" in given:
        keys["learning_rates"] = ("learning_rate", "learning_rates")
    for key, (field, own) in keys.items():
        if rows and all(getattr(row, own, None) or not row.encoder.uses(field) for row in rows):
            yield f"{key}: no effect, because every row has its own or an encoder without it"


def without_unused(inherited: Mapping[str, Any], rows: object) -> dict[str, Any]:
    """Keys of a protocol that another extends, without those that the rows of that do not use.

    Examples
    --------
    >>> split = {"kind": "folds", "folds": 3, "calibration": 0.2}
    >>> base = {"data": "hapt", "window": 9.0, "split": split}
    >>> without_unused(base, [{"name": "Best", "preset": "best"}])
    {'data': 'hapt', 'split': {'kind': 'folds', 'folds': 3}}
    """
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and row.get("preset") for row in rows
    ):
        return dict(inherited)
    kept = {key: inherited[key] for key in inherited if key not in (*_UNUSED, "training")}
    if "settings" in kept:
        settings, left_out = kept["settings"], _unused_settings(row["preset"] for row in rows)
        kept["settings"] = {key: settings[key] for key in settings if key not in left_out}
    folds = kept["split"]["kind"] == "folds"
    unused = ("calibration", "calibration_seed") if folds else ("calibration",)
    split = {key: value for key, value in kept["split"].items() if key not in unused}
    return {**kept, "split": split}
