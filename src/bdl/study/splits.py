"""Splits: which recordings train, calibrate and test in each fold.

Units are recordings or groups, taken in sorted order. Outer folds are those of scikit-learn's
shuffled ``KFold``, shares those of its ``train_test_split`` (rounded up for the second part), so
that a published seed gives the published partition. Every part keeps its recordings sorted.
Nothing is split that belongs to one unit, no recording stands in two parts of a fold, no part
is empty: anything else is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bdl.errors import ConfigError
from bdl.study.protocol import By, Folds, Holdout, Part, Split


def make_split(split: Split, groups: Mapping[str, str], *, calibrate: bool) -> tuple[Part, ...]:
    """The parts of every fold.

    Parameters
    ----------
    split : how to split.
    groups : group of each recording; its keys are all recordings.
    calibrate : whether every fold needs calibration recordings.

    >>> groups = {f"r{i}": f"g{i // 2}" for i in range(8)}
    >>> how = Folds(by="group", folds=2, seed=0, calibration=0.5)
    >>> [part.test for part in make_split(how, groups, calibrate=True)]
    [('r4', 'r5', 'r6', 'r7'), ('r0', 'r1', 'r2', 'r3')]
    """
    if isinstance(split, Folds):
        parts = _folds(split, _units(split.by, groups), calibrate)
    elif isinstance(split, Holdout):
        parts = _holdout(split, _units(split.by, groups))
    else:
        parts = split.parts
    for number, part in enumerate(parts):
        check_part(part, groups, by=split.by, calibrate=calibrate, where=f"fold {number}")
    _check_tests(parts)
    return parts


def check_part(
    part: Part, groups: Mapping[str, str], *, by: By, calibrate: bool, where: str
) -> None:
    """Refuse a part with unknown, overlapping, empty or torn pieces.

    >>> check_part(Part(train=("a",), test=("b",)), {"a": "x", "b": "x"},
    ...            by="group", calibrate=False, where="fold 0")
    Traceback (most recent call last):
    bdl.errors.ConfigError: fold 0: group 'x' is torn: recordings in both train and test
    """
    pieces = {"train": part.train, "calibration": part.calibration, "test": part.test}
    unknown = sorted({id for ids in pieces.values() for id in ids} - set(groups))
    if unknown:
        raise ConfigError(f"{where}: no recording {unknown[0]!r} in the data ({len(groups)} there)")
    for name, ids in pieces.items():
        if not ids and (name != "calibration" or calibrate):
            raise ConfigError(f"{where}: the {name} part is empty; too few recordings or folds?")
        if len(set(ids)) != len(ids):
            raise ConfigError(f"{where}: a recording stands twice in the {name} part")
    names = list(pieces)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            both = sorted(set(pieces[first]) & set(pieces[second]))
            if both:
                raise ConfigError(
                    f"{where}: {first} and {second} overlap: {both[0]!r} is in both "
                    f"({len(both)} such recordings)"
                )
            if by == "group":
                torn = {groups[id] for id in pieces[first]} & {groups[id] for id in pieces[second]}
                if torn:
                    raise ConfigError(
                        f"{where}: group {min(torn)!r} is torn: "
                        f"recordings in both {first} and {second}"
                    )


def _check_tests(parts: Sequence[Part]) -> None:
    seen: dict[str, int] = {}
    for number, part in enumerate(parts):
        for id in part.test:
            if id in seen:
                raise ConfigError(
                    f"recording {id!r} is tested in fold {seen[id]} and again in fold {number}; "
                    "pooled scores need each recording once"
                )
            seen[id] = number


def _units(by: By, groups: Mapping[str, str]) -> dict[str, list[str]]:
    """Recordings of each unit; units and recordings sorted."""
    units: dict[str, list[str]] = {}
    for id in sorted(groups):
        units.setdefault(groups[id] if by == "group" else id, []).append(id)
    return dict(sorted(units.items()))


def _folds(split: Folds, units: dict[str, list[str]], calibrate: bool) -> tuple[Part, ...]:
    from sklearn.model_selection import KFold

    names = np.array(list(units), dtype=object)
    if len(names) < split.folds:
        raise ConfigError(
            f"{split.folds} folds need as many {split.by}s, the data has {len(names)}"
        )
    folds = KFold(split.folds, shuffle=True, random_state=split.seed).split(names)
    parts = []
    for number, (rest, test) in enumerate(folds):
        train = list(names[rest])
        calibration: list[str] = []
        if calibrate and split.calibration is not None:
            train, calibration = _share(
                train, split.calibration, split.calibration_seed + number, f"fold {number}"
            )
        parts.append(_part(units, train, calibration, list(names[test])))
    return tuple(parts)


def _holdout(split: Holdout, units: dict[str, list[str]]) -> tuple[Part, ...]:
    rest, test = _share(list(units), split.test, split.seed, "holdout")
    train, calibration = _share(rest, split.calibration, split.calibration_seed, "holdout")
    return (_part(units, train, calibration, test),)


def _share(names: list[str], fraction: float, seed: int, where: str) -> tuple[list[str], list[str]]:
    """The rest, and a random share of the names rounded up."""
    from sklearn.model_selection import train_test_split

    if len(names) < 2:
        raise ConfigError(f"{where}: {len(names)} units cannot be split in two parts")
    rest, share = train_test_split(names, test_size=fraction, random_state=seed, shuffle=True)
    return list(rest), list(share)


def _part(
    units: dict[str, list[str]], train: list[str], calibration: list[str], test: list[str]
) -> Part:
    def ids(names: list[str]) -> tuple[str, ...]:
        return tuple(sorted(id for name in names for id in units[name]))

    return Part(train=ids(train), calibration=ids(calibration), test=ids(test))
