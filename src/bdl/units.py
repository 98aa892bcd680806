"""Units of channels, and the conversion of recordings to common units.

Texts are compared as files write them: ``µV`` is ``uV``, ``m/s²`` and ``m/s^2`` are ``m/s2``,
``°C`` is ``degC``. In a recording ``g`` is the acceleration of gravity, not a mass. An empty text
is an unknown unit, which is taken as the target unit.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bdl.errors import InputError
from bdl.recording import Recordings
from bdl.recording_info import RecordingInfo
from bdl.value_readers import Values

# Each line is one quantity: its units, in terms of one of them; of temperatures the zero as well.
_QUANTITIES: tuple[dict[str, str], ...] = (
    {"kV": "1e3", "V": "1", "mV": "1e-3", "uV": "1e-6", "nV": "1e-9"},
    {"A": "1", "mA": "1e-3", "uA": "1e-6", "nA": "1e-9"},
    {"m/s2": "1", "cm/s2": "1e-2", "mm/s2": "1e-3", "g": "9.80665", "mg": "9.80665e-3"},
    {"rad/s": "1", "deg/s": "0.017453292519943295", "dps": "0.017453292519943295"},
    {"T": "1", "mT": "1e-3", "uT": "1e-6", "nT": "1e-9", "G": "1e-4", "mG": "1e-7"},
    {"Pa": "1", "hPa": "1e2", "mbar": "1e2", "kPa": "1e3", "bar": "1e5", "mmHg": "133.322387415"}
    | {"cmH2O": "98.0665", "psi": "6894.757293168"},
    {"m": "1", "km": "1e3", "cm": "1e-2", "mm": "1e-3", "um": "1e-6"},
    {"m/s": "1", "km/h": "1/3.6", "mm/s": "1e-3"},
    {"Hz": "1", "kHz": "1e3", "MHz": "1e6", "bpm": "1/60"},
    {"lx": "1", "lux": "1", "klx": "1e3"},
    {"W": "1", "mW": "1e-3", "kW": "1e3", "MW": "1e6"},
    {"K": "1", "degC": "1 273.15", "C": "1 273.15", "degF": "5/9 2298.35/9", "F": "5/9 2298.35/9"},
)


def _fraction(text: str) -> Fraction:
    numerator, _, denominator = text.partition("/")
    return Fraction(numerator) / Fraction(denominator or 1)


class _Size(NamedTuple):
    """A unit: its quantity, its size and its zero in the base unit of that quantity."""

    quantity: int
    factor: Fraction
    zero: Fraction = Fraction(0)


_SIZES = {
    unit: _Size(number, *map(_fraction, text.split()))
    for number, quantity in enumerate(_QUANTITIES)
    for unit, text in quantity.items()
}
_NAMED = re.compile(r"(.*\S)\s*(?:\[([^][]+)\]|\(([^()]+)\))")


def plain_unit(text: str) -> str:
    """A unit as it is compared: without spaces and powers as figures, with ``u`` for micro.

    Examples
    --------
    >>> [plain_unit(text) for text in ("µV ", "m/s²", "m/s^2", "m s-2", "°C")]
    ['uV', 'm/s2', 'm/s2', 'm/s2', 'degC']
    """
    plain = unicodedata.normalize("NFKC", text.strip().replace("º", "°"))
    plain = re.sub(r"[µμ]", "u", plain).replace("°", "deg")
    plain = re.sub(r"[\s^*·]", "", plain)
    return re.sub(r"m(\.?s-2|/s/s|s-2)$", "m/s2", plain)


def is_unit(text: str) -> bool:
    """Whether a text is a unit that can be converted.

    Examples
    --------
    >>> is_unit("µV"), is_unit("counts")
    (True, False)
    """
    return plain_unit(text) in _SIZES


def conversion(unit: str, target: str) -> tuple[float, float] | None:
    """The factor and the summand that convert values from one unit to another.

    None if the units are of different quantities, or not known.

    Examples
    --------
    >>> conversion("mV", "µV"), conversion("mg", "m/s²"), conversion("uV", "degC")
    ((1000.0, 0.0), (0.00980665, 0.0), None)
    >>> conversion("°F", "°C")
    (0.5555555555555556, -17.77777777777778)
    """
    old, new = plain_unit(unit), plain_unit(target)
    if not old or not new or old == new:
        return 1.0, 0.0
    if old not in _SIZES or new not in _SIZES or _SIZES[old].quantity != _SIZES[new].quantity:
        return None
    before, after = _SIZES[old], _SIZES[new]
    factor, shift = before.factor / after.factor, (before.zero - after.zero) / after.factor
    return float(factor), float(shift)


def units_in_names(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The names that end with a known unit in brackets: the name without it, and the unit.

    A name that another one would share without its brackets is left as it is.

    Examples
    --------
    >>> units_in_names(["Acc X [mg]", "Temp (°C)", "Sensor (A)", "Sensor (B)", "rate (slow)"])
    {'Acc X [mg]': ('Acc X', 'mg'), 'Temp (°C)': ('Temp', '°C')}
    """
    parts = {name: match for name in names if (match := _NAMED.fullmatch(name.strip()))}
    shared = Counter([*(match[1] for match in parts.values()), *names])
    units = {name: match[2] or match[3] for name, match in parts.items()}
    return {
        name: (parts[name][1], unit.strip())
        for name, unit in units.items()
        if is_unit(unit) and shared[parts[name][1]] == 1
    }


def common_units(recordings: Recordings) -> dict[str, str]:
    """The unit of each channel in the first recording that has one.

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> values = np.ones((3, 2))
    >>> a = Recording.of(values, id="a", period=1.0, channels="xy", units=["", "g"])
    >>> b = Recording.of(values, id="b", period=1.0, channels="xy", units=["mV", "mg"])
    >>> common_units(Recordings.of([a, b]))
    {'y': 'g', 'x': 'mV'}
    """
    units: dict[str, str] = {}
    for info in recordings.infos:
        for channel, unit in zip(info.channels, info.units, strict=False):
            if unit:
                units.setdefault(channel, unit)
    return units


def in_units(
    recordings: Recordings, units: Mapping[str, str], what: str, *, strict: bool = True
) -> Recordings:
    """The same recordings with channels in the given units; a note says what was converted.

    Parameters
    ----------
    recordings
        Any recordings; those without units stay as they are.
    units
        Unit of each channel; a channel that is not named stays as it is.
    what
        What has these units, for errors.
    strict
        Whether a unit that cannot be converted is an error; otherwise its channel stays as it is.

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> small = Recording.of(np.ones(3), id="a", period=1.0, channels=["C3"], units=["mV"])
    >>> converted = in_units(Recordings.of([small]), {"C3": "uV"}, "the model")
    >>> converted["a"].values.ravel().tolist(), converted.notes
    ([1000.0, 1000.0, 1000.0], ('C3: mV converted to uV in 1 recording',))
    """
    changes: dict[str, dict[str, tuple[float, float]]] = {}
    conversions: Counter[tuple[str, str]] = Counter()
    infos = []
    for info in recordings.infos:
        changed = dict(zip(info.channels, info.units, strict=False))
        for channel, unit in changed.items():
            target = units.get(channel, "")
            if not target or plain_unit(unit) == plain_unit(target):
                continue
            change = conversion(unit, target)
            if change is None and not strict:
                continue
            if change is None:
                raise InputError(
                    f"recording {info.id!r}: channel {channel!r} is in {unit}, and {what} has it "
                    f"in {target}, to which it cannot be converted; leave the recording out or, "
                    f"if its file names a wrong unit, give the right one (channel_units=, "
                    f"--channel-unit '{channel}={target}')"
                )
            changed[channel] = target
            if unit:
                changes.setdefault(info.id, {})[channel] = change
                conversions[channel, f"{unit} converted to {target}"] += 1
        infos.append(replace(info, units=tuple(changed.values())))
    if not changes:
        return replace(recordings, infos=tuple(infos))
    notes = tuple(
        f"{channel}: {text} in {count:,} recording{'s' if count > 1 else ''}"
        for (channel, text), count in conversions.items()
    )
    converted = recordings.change(Conversion(changes), infos)
    return replace(converted, notes=recordings.notes + notes)


@dataclass(frozen=True)
class Conversion:
    """Multiplies the channels of recordings and adds to them; it can be sent to workers."""

    # What to multiply by, and then to add, by recording and channel.
    changes: Mapping[str, Mapping[str, tuple[float, float]]] = field(repr=False)

    def __call__(self, info: RecordingInfo, values: Values) -> Values:
        """The values in the new units."""
        changes = self.changes.get(info.id)
        if changes is None:
            return values
        pairs = [changes.get(name, (1.0, 0.0)) for name in info.channels]
        scale, zero = np.array(pairs, np.float32).T
        scaled: Values = values * scale
        return scaled + zero if zero.any() else scaled
