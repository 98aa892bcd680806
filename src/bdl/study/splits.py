"""Splits: which recordings train, calibrate and test in each fold.

Units are recordings or groups, in sorted order. Outer folds are those of scikit-learn's shuffled
``KFold``, shares those of its ``train_test_split`` (rounded up for the second part), so that a
published seed gives the published partition. What is left after a draw is sorted before the next
draw: only then do the paper's seeds give its 81 / 29 / 31 recordings of CHB-MIT. The recordings of
every part are sorted. No unit is divided between parts, no recording is in two parts of a fold, and
no part is empty: anything else is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from bdl.config import Value
from bdl.errors import ConfigError

Unit = Literal["recording", "group"]
Fraction = Annotated[float, Field(gt=0, lt=1)]
Ids = tuple[str, ...]


class Folds(Value):
    """Shuffled outer folds; with ``calibration``, an inner split of the other units of each fold.

    Parameters
    ----------
    by
        What is split: recordings or groups.
    folds
        Number of folds.
    seed
        Seed of the shuffle.
    calibration
        Share of the units outside the test part that is used for selection.
    calibration_seed
        Fold ``j`` draws its inner split with seed ``calibration_seed + j``.

    Examples
    --------
    >>> Folds(folds=5, seed=20260718, calibration=0.2, calibration_seed=20260719).by
    'recording'
    """

    kind: Literal["folds"] = "folds"
    by: Unit = "recording"
    folds: int = Field(ge=2)
    seed: int = Field(ge=0)
    calibration: Fraction | None = None
    calibration_seed: int = Field(0, ge=0)


class Holdout(Value):
    """One partition: a test share of all units, then a calibration share of the rest.

    Shares are rounded up: 277 recordings at 0.2 and 0.25 give 165 / 56 / 56.

    Parameters
    ----------
    by
        What is split: recordings or groups.
    test, seed
        Share of the test part, and seed of its draw.
    calibration, calibration_seed
        Share of the rest for selection, and seed of its draw.

    Examples
    --------
    >>> Holdout(seed=20260716, calibration_seed=20260717).test
    0.2
    """

    kind: Literal["holdout"] = "holdout"
    by: Unit = "recording"
    test: Fraction = 0.2
    seed: int = Field(ge=0)
    calibration: Fraction = 0.25
    calibration_seed: int = Field(ge=0)


class Fold(Value):
    """The recordings of one fold, by id.

    Examples
    --------
    >>> Fold(train=("a",), test=("b",)).calibration
    ()
    """

    train: Ids
    calibration: Ids = ()
    test: Ids

    @property
    def not_test(self) -> Ids:
        """Training and calibration recordings together, sorted."""
        return tuple(sorted((*self.train, *self.calibration)))


class ListedFolds(Value):
    """Folds given recording by recording.

    Parameters
    ----------
    by
        Whether groups must not be divided between parts.
    parts
        The folds.

    Examples
    --------
    >>> ListedFolds(parts=(Fold(train=("a",), test=("b",)),)).kind
    'parts'
    """

    kind: Literal["parts"] = "parts"
    by: Unit = "recording"
    parts: tuple[Fold, ...] = Field(min_length=1)


Split = Annotated[Folds | Holdout | ListedFolds, Field(discriminator="kind")]


def make_split(split: Split, groups: Mapping[str, str], *, calibrate: bool) -> tuple[Fold, ...]:
    """Split recordings, given the group of each.

    With ``calibrate``, every fold needs calibration recordings.

    Examples
    --------
    >>> groups = {f"r{i}": f"g{i // 2}" for i in range(8)}
    >>> split = Folds(by="group", folds=2, seed=0, calibration=0.5)
    >>> [fold.test for fold in make_split(split, groups, calibrate=True)]
    [('r4', 'r5', 'r6', 'r7'), ('r0', 'r1', 'r2', 'r3')]
    """
    if isinstance(split, Folds):
        folds = _folds(split, _units(split.by, groups), calibrate)
    elif isinstance(split, Holdout):
        units = _units(split.by, groups)
        rest, test = _share(list(units), split.test, split.seed, "holdout")
        train, calibration = _share(rest, split.calibration, split.calibration_seed, "holdout")
        folds = (_fold(units, train, calibration, test),)
    else:
        folds = split.parts
    for number, fold in enumerate(folds):
        _check_fold(fold, groups, by=split.by, calibrate=calibrate, where=f"fold {number}")
    _check_tests(folds)
    return folds


def fold_count(split: Split) -> int:
    """Number of folds of a split.

    Examples
    --------
    >>> fold_count(Holdout(seed=1, calibration_seed=2))
    1
    """
    if isinstance(split, Folds):
        return split.folds
    return len(split.parts) if isinstance(split, ListedFolds) else 1


def _check_fold(
    fold: Fold, groups: Mapping[str, str], *, by: Unit, calibrate: bool, where: str
) -> None:
    """Raise an error for unknown, overlapping or empty parts, and for divided groups.

    Examples
    --------
    >>> _check_fold(Fold(train=("a",), test=("b",)), {"a": "x", "b": "x"},
    ...            by="group", calibrate=False, where="fold 0")
    Traceback (most recent call last):
    bdl.errors.ConfigError: fold 0: group 'x' is divided: recordings in both train and test
    """
    parts = {"train": fold.train, "calibration": fold.calibration, "test": fold.test}
    unknown = sorted({id for ids in parts.values() for id in ids} - set(groups))
    if unknown:
        raise ConfigError(
            f"{where}: the data has no recording {unknown[0]!r} among its {len(groups)} recordings"
        )
    for name, ids in parts.items():
        if not ids and (name != "calibration" or calibrate):
            raise ConfigError(f"{where}: the {name} part is empty; too few recordings or folds?")
        if len(set(ids)) != len(ids):
            raise ConfigError(f"{where}: a recording is listed twice in the {name} part")
    for first, second in combinations(parts, 2):
        both = sorted({*parts[first]} & {*parts[second]})
        if both:
            raise ConfigError(
                f"{where}: {first} and {second} overlap: {both[0]!r} is in both "
                f"({len(both)} such recordings)"
            )
        divided = {groups[id] for id in parts[first]} & {groups[id] for id in parts[second]}
        if by == "group" and divided:
            raise ConfigError(
                f"{where}: group {min(divided)!r} is divided: "
                f"recordings in both {first} and {second}"
            )


def _check_tests(folds: Sequence[Fold]) -> None:
    fold_of: dict[str, int] = {}
    for id, number in ((id, number) for number, fold in enumerate(folds) for id in fold.test):
        if fold_of.setdefault(id, number) != number:
            raise ConfigError(
                f"recording {id!r} is tested in fold {fold_of[id]} and again in fold {number}; "
                "pooled scores need every recording once"
            )


def _units(by: Unit, groups: Mapping[str, str]) -> dict[str, list[str]]:
    """Recordings of each unit; units and recordings sorted."""
    units: dict[str, list[str]] = {}
    for id in sorted(groups):
        units.setdefault(groups[id] if by == "group" else id, []).append(id)
    return dict(sorted(units.items()))


def _folds(split: Folds, units: dict[str, list[str]], calibrate: bool) -> tuple[Fold, ...]:
    from sklearn.model_selection import KFold

    names = np.array(list(units), dtype=object)
    if len(names) < split.folds:
        raise ConfigError(
            f"{split.folds} folds need at least as many {split.by}s, the data has {len(names)}; "
            "give fewer (split.folds, --folds)"
        )
    outer = KFold(split.folds, shuffle=True, random_state=split.seed).split(names)
    folds = []
    for number, (rest, test) in enumerate(outer):
        train = list(names[rest])
        calibration: list[str] = []
        if calibrate and split.calibration is not None:
            train, calibration = _share(
                train, split.calibration, split.calibration_seed + number, f"fold {number}"
            )
        folds.append(_fold(units, train, calibration, list(names[test])))
    return tuple(folds)


def _share(names: list[str], fraction: float, seed: int, where: str) -> tuple[list[str], list[str]]:
    """The rest, and a random share of the names, rounded up."""
    from sklearn.model_selection import train_test_split

    if len(names) < 2:
        raise ConfigError(f"{where}: {len(names)} units cannot be divided into two parts")
    rest, share = train_test_split(names, test_size=fraction, random_state=seed, shuffle=True)
    return sorted(rest), list(share)


def _fold(
    units: dict[str, list[str]], train: list[str], calibration: list[str], test: list[str]
) -> Fold:
    def ids(names: list[str]) -> tuple[str, ...]:
        return tuple(sorted(id for name in names for id in units[name]))

    return Fold(train=ids(train), calibration=ids(calibration), test=ids(test))
