"""Names of channels: unique, common to all files, and chosen by the user.

An electrode of the 10–20 system has one name however a file writes it: ``EEG FP1-REF``, ``FP1`` and
``Fp1`` are ``Fp1``. A derivation of two electrodes (``FP1-F7``) keeps its label. A channel that the
user chooses is found by its label in any case and spacing, by its alias, or as the electrode
of the same place: T3, T4, T5 and T6 are also called T7, T8, P7 and P8.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bdl.errors import InputError

_ELECTRODES = (
    "Fp1 Fpz Fp2 AF7 AF3 AFz AF4 AF8 F9 F7 F5 F3 F1 Fz F2 F4 F6 F8 F10 FT9 FT7 FC5 FC3 FC1 FCz FC2 "
    "FC4 FC6 FT8 FT10 T9 T7 C5 C3 C1 Cz C2 C4 C6 T8 T10 TP9 TP7 CP5 CP3 CP1 CPz CP2 CP4 CP6 TP8 "
    "TP10 P9 P7 P5 P3 P1 Pz P2 P4 P6 P8 P10 PO7 PO3 POz PO4 PO8 O1 Oz O2 T1 T2 T3 T4 T5 T6 A1 A2 "
    "M1 M2"
)
_BY_CAPITALS = {name.upper(): name for name in _ELECTRODES.split()}
_SAME_PLACE = {"T3": "T7", "T4": "T8", "T5": "P7", "T6": "P8", "M1": "A1", "M2": "A2"}
_DECORATED = re.compile(r"(?:EEG[\s:_-]*)?(\w+?)(?:[\s:_-]*(?:REF|LE|AVG|AR))?", re.IGNORECASE)


def common_name(label: str) -> str:
    """The 10–20 name of an electrode; any other label as it is.

    Examples
    --------
    >>> [common_name(label) for label in ("EEG FP1-REF", "fp1", "FP1-F7", "EEG Fpz-Cz", "ECG")]
    ['Fp1', 'Fp1', 'FP1-F7', 'EEG Fpz-Cz', 'ECG']
    """
    match = _DECORATED.fullmatch(label.strip())
    return _BY_CAPITALS.get(match[1].upper(), label) if match else label


def channel_names(
    labels: Iterable[str | None], aliases: Mapping[str, str] | None = None
) -> list[str]:
    """Labels of signals as unique common names.

    Aliases are names in place of labels. A label whose common name another label has too stays as
    it is; one that repeats gets a number, and an empty one a name.

    Examples
    --------
    >>> channel_names(["EEG C3-REF", "", "X", "X"], {"X": "leg"})
    ['C3', '(no name)', 'leg', 'leg (2)']
    """
    plain = [label or "(no name)" for label in labels]
    known = {_plain(label): name for label, name in (aliases or {}).items()}
    common = [known.get(_plain(label)) or common_name(label) for label in plain]
    counts = Counter(common)
    repeats = Counter(plain)
    plain = [
        name if counts[name] == 1 or repeats[label] > 1 or _plain(label) in known else label
        for label, name in zip(plain, common, strict=True)
    ]
    used, numbers = set(plain), dict.fromkeys(plain, 0)
    names = []
    for label in plain:
        numbers[label] += 1
        name = label
        while numbers[label] > 1 and name in used:
            name = f"{label} ({numbers[label]})"
            numbers[label] += name in used
        used.add(name)
        names.append(name)
    return names


def chosen_channels(
    names: Sequence[str], labels: Sequence[str | None], wanted: Sequence[str] | None, path: Path
) -> dict[str, int]:
    """The place of each channel that the user wants, or of all; one that is missing is an error.

    ``names`` are those that `channel_names` gives to the labels of the file.

    Examples
    --------
    >>> labels = ["EEG C3-REF", "EEG T3-REF"]
    >>> chosen_channels(channel_names(labels), labels, ("T7", "c3"), Path("a.edf"))
    {'T7': 1, 'c3': 0}
    """
    if wanted is None:
        return {name: i for i, name in enumerate(names)}
    places: dict[str, int] = {}
    for spell in (lambda name: name, _plain, lambda name: _place(_plain(name))):
        for i, pair in enumerate(zip(names, labels, strict=True)):
            for name in pair:
                places.setdefault(spell(name or "(no name)"), i)
    chosen = {}
    for name in wanted:
        spellings = (name, _plain(name), _place(_plain(name)))
        place = next((places[text] for text in spellings if text in places), None)
        if place is None:
            raise InputError(
                f"{path}: channel {name!r} is missing; it has {', '.join(names)}; name what it is "
                f"called there (aliases=, --alias LABEL={name})"
            )
        chosen[name] = place
    return chosen


def channel_units(
    channels: Sequence[str], present: Sequence[str], given: Mapping[str, str], path: Path
) -> tuple[str, ...]:
    """The unit of each channel: the one that the user gives, or the one present in the file.

    A unit that the file does not name is empty; ``present`` is empty if it names none at all.

    Examples
    --------
    >>> channel_units(("x", "y"), ("g", ""), {"y": "mg"}, Path("a.edf"))
    ('g', 'mg')
    """
    for channel in given:
        if channel not in channels:
            raise InputError(
                f"{path}: channel {channel!r} of --channel-unit (channel_units=) is missing; it "
                f"has {', '.join(channels)}"
            )
    units = present or [""] * len(channels)
    return tuple(given.get(name, unit) for name, unit in zip(channels, units, strict=True))


def _plain(name: str) -> str:
    """A label without case, spaces and reference."""
    return re.sub(r"\s+", "", common_name(name)).upper()


def _place(name: str) -> str:
    return _SAME_PLACE.get(name, name)
