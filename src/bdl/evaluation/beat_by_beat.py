"""Beat-by-beat comparison of heart beats by ANSI/AAMI EC57, as the program ``bxb`` of WFDB does it.

Annotated and detected beats of a recording are paired as `bdl.evaluation.beat_pairing` says.

Types are symbols of WFDB, which stand for five classes: N (also L, R, B), S (also J, A, a, j, e,
n), V (also r, E), F, and Q (also /, f, ?). Other symbols are left out. Annotated beats
between ``[`` and ``]``, ventricular flutter or fibrillation, do not count, and neither do
detections there that are paired with none.

A VEB (class V) is not false where the annotation is F or Q, nor an SVEB (class S) where it is Q.
*Gross* rates are those of the counts of all recordings together, *average* ones are means over the
recordings in which they are defined.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.errors import ConfigError, InputError
from bdl.evaluation.beat_pairing import pair_beats
from bdl.evaluation.estimate import plain
from bdl.evaluation.given_events import as_events
from bdl.evaluation.tally import ratio
from bdl.events import Events
from bdl.frames import Frame, Tabular
from bdl.table_plots import Drawing
from bdl.text_tables import number_text, text_table

CLASSES = ("N", "S", "V", "F", "Q")
WINDOW = 0.15  # seconds
LEARNING = 300.0  # seconds
_SYMBOLS = {"N": "NLRB", "S": "SJAajen", "V": "VrE", "F": "F", "Q": "Q/f?"}
_CLASS_OF = {symbol: name for name, symbols in _SYMBOLS.items() for symbol in symbols}
_FLUTTER = ("[", "]")
_NO_BEATS = frozenset('~|sT*D"=p^t+u!@x()')
_N, _S, _V, _F, _Q, _NONE = range(6)
_SHORT = {"sensitivity": "Se", "positive predictivity": "+P", "false positive rate": "FPR"}


@dataclass(frozen=True, eq=False, repr=False)
class BeatByBeat(Tabular):
    """Pairs of annotated and detected beats, counted by recording and class.

    Parameters
    ----------
    recordings
        Names of the recordings.
    counts
        (recordings, 6, 6) pairs of an annotated beat (N, S, V, F, Q, none) and a detected one (the
        same).

    Examples
    --------
    >>> truth = Events.of("100", ["N", "V", "N"], [301.0, 302.0, 303.0])
    >>> detections = Events.of("100", ["N", "V", "N"], [301.1, 302.0, 303.5])
    >>> result = beat_by_beat(truth, detections)
    >>> result.gross["QRS sensitivity"], result.gross["VEB positive predictivity"]
    (0.6666666666666666, 1.0)
    """

    recordings: tuple[str, ...]
    counts: NDArray[np.int64] = field(repr=False)

    drawing = Drawing("recording", "QRS sensitivity", mode="markers")

    def fractions(self) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Numerator and denominator of every rate, (recordings,) each."""
        c = self.counts
        beats, ventricular = c[:, :_NONE, :_NONE].sum((1, 2)), c[:, _V, _V]
        supraventricular = c[:, _S, _S]
        false_v = c[:, [_N, _S, _NONE], _V].sum(1)
        false_s = c[:, [_N, _V, _F, _NONE], _S].sum(1)
        rows = np.ix_(range(len(c)), [_N, _S, _F, _Q, _NONE], [_N, _S, _F, _Q])
        return {
            "QRS sensitivity": (beats, c[:, :_NONE].sum((1, 2))),
            "QRS positive predictivity": (beats, c[:, :, :_NONE].sum((1, 2))),
            "VEB sensitivity": (ventricular, c[:, _V].sum(1)),
            "VEB positive predictivity": (ventricular, ventricular + false_v),
            "VEB false positive rate": (false_v, false_v + c[rows].sum((1, 2))),
            "SVEB sensitivity": (supraventricular, c[:, _S].sum(1)),
            "SVEB positive predictivity": (supraventricular, supraventricular + false_s),
        }

    @property
    def gross(self) -> dict[str, float]:
        """Rates of all recordings together; NaN without a denominator."""
        return {
            name: ratio(float(part.sum()), float(whole.sum()))
            for name, (part, whole) in self.fractions().items()
        }

    @property
    def average(self) -> dict[str, float]:
        """Means of the rates over the recordings that have them; NaN if none has."""
        rates = {name: ratio(*fraction) for name, fraction in self.fractions().items()}
        defined = {name: values[~np.isnan(values)] for name, values in rates.items()}
        return {
            name: float(values.mean()) if len(values) else math.nan
            for name, values in defined.items()
        }

    def columns(self) -> dict[str, Any]:
        """Name and rates of each recording."""
        rates = {name: ratio(*fraction) for name, fraction in self.fractions().items()}
        return {"recording": np.array(self.recordings, dtype=object), **rates}

    def to_dict(self) -> dict[str, Any]:
        """Rates and counts as plain data, ready for JSON."""
        return {
            "gross": {name: plain(value) for name, value in self.gross.items()},
            "average": {name: plain(value) for name, value in self.average.items()},
            "classes": [*CLASSES, "none"],
            "counts": self.counts.sum(0).tolist(),
            "recordings": {
                name: counts.tolist()
                for name, counts in zip(self.recordings, self.counts, strict=True)
            },
        }

    def text(self, width: int | None = None) -> str:
        """Rates in percent: of each recording, gross and average.

        Parameters
        ----------
        width
            Most characters of a line; None for any number.
        """
        columns = self.columns()
        rows = [{name: columns[name][i] for name in self.gross} for i in range(len(self))]
        table = {"recording": [*self.recordings, "gross", "average"]}
        for name in self.gross:
            kind, _, rate = name.partition(" ")
            cells = [row[name] for row in [*rows, self.gross, self.average]]
            digits = ".3f" if rate == "false positive rate" else ".2f"
            table[f"{kind} {_SHORT[rate]}"] = [number_text(100 * cell, digits) for cell in cells]
        total = self.counts.sum(0)[:_NONE].sum(1)
        footer = (
            f"{int(total.sum()):,} beats, {int(total[_V]):,} of them VEB, {int(total[_S]):,} SVEB"
        )
        return "\n".join([*text_table(table, width=width), footer])

    def __len__(self) -> int:
        return len(self.recordings)

    def __repr__(self) -> str:
        return self.text()


def beat_by_beat(
    truth: Events | Frame,
    detections: Events | Frame,
    *,
    window: float = WINDOW,
    learning: float = LEARNING,
    beats: Mapping[str, str] | None = None,
) -> BeatByBeat:
    """Compare heart beats by ANSI/AAMI EC57; see `bdl.evaluation.beat_by_beat`.

    Parameters
    ----------
    truth, detections
        Events whose types are symbols of WFDB, or tables of them; detections of all scores count.
    window
        Seconds that an event and its detection may be apart at most.
    learning
        Seconds from the start of each recording that do not count.
    beats
        Symbol of event types that are not symbols themselves, such as ``{"beat": "N"}``.

    Examples
    --------
    >>> truth = Events.of("100", "N", [10.0, 11.0, 12.0])
    >>> detections = Events.of("100", "beat", [10.0, 11.2, 12.1], score=[0.9, 0.8, 0.9])
    >>> beat_by_beat(truth, detections, learning=0.0, beats={"beat": "N"}).gross["QRS sensitivity"]
    0.6666666666666666
    """
    for name, value in (("window", window), ("learning", learning)):
        if not (math.isfinite(value) and value >= 0):
            raise ConfigError(f"{name}: seconds from 0 on expected, got {value}")
    true = _Beats.of(as_events(truth, "table of annotated events"), beats)
    detected_beats = _Beats.of(as_events(detections, "table of detections"), beats)
    names = tuple(sorted({*true.times, *detected_beats.times}))
    counts = np.zeros((len(names), 6, 6), dtype=np.int64)
    for count, name in zip(counts, names, strict=True):
        times, classes = true.times.get(name, []), true.classes.get(name, [])
        detected, labels = detected_beats.times.get(name, []), detected_beats.classes.get(name, [])
        pairs, missed, false = pair_beats(times, detected, window, learning)
        for i, j in pairs:
            count[classes[i], labels[j]] += 1
        for i in missed:
            count[classes[i], _NONE] += 1
        for j in false:
            spans = true.flutter.get(name, ())
            if not any(start <= detected[j] <= end for start, end in spans):
                count[_NONE, labels[j]] += 1
    return BeatByBeat(names, counts)


def beats_only(events: Events, beats: Mapping[str, str] | None = None) -> Events:
    """The beats among events, all of one type ``beat``.

    Parameters
    ----------
    events
        Events whose types are symbols of WFDB.
    beats
        Symbol of event types that are not symbols themselves.

    Examples
    --------
    >>> beats_only(Events.of("a", ["N", "+", "V"], [1.0, 1.0, 2.0])).time.tolist()
    [1.0, 2.0]
    """
    kept = events.select(types=[name for name in events.types if _symbol(name, beats) in _CLASS_OF])
    return Events.of(kept.recording, ["beat"] * len(kept), kept.time, kept.score)


@dataclass(frozen=True)
class _Beats:
    """Beats outside flutter, in order of time, and the spans of flutter, by recording."""

    times: dict[str, list[float]]
    classes: dict[str, list[int]]
    flutter: dict[str, list[tuple[float, float]]]

    @classmethod
    def of(cls, events: Events, beats: Mapping[str, str] | None) -> _Beats:
        symbols = [_symbol(name, beats) for name in events.types]
        made = cls({}, {}, {})
        began: dict[str, float] = {}
        for row in np.lexsort((events.time, events.recording_code)).tolist():
            name = events.recordings[events.recording_code[row]]
            symbol, time = symbols[events.type_code[row]], float(events.time[row])
            if symbol == _FLUTTER[0]:
                began.setdefault(name, time)
            elif symbol == _FLUTTER[1] and name in began:
                made.flutter.setdefault(name, []).append((began.pop(name), time))
            elif symbol in _CLASS_OF and name not in began:
                made.times.setdefault(name, []).append(time)
                made.classes.setdefault(name, []).append(CLASSES.index(_CLASS_OF[symbol]))
        for name, start in began.items():
            made.flutter.setdefault(name, []).append((start, math.inf))
        return made


def _symbol(name: str, beats: Mapping[str, str] | None) -> str:
    symbol = (beats or {}).get(name, name)
    if symbol in _CLASS_OF or symbol in _FLUTTER or symbol in _NO_BEATS:
        return symbol
    raise InputError(
        f"event type {name!r} is not an annotation symbol of WFDB such as N or V; say which it "
        f"stands for (beats={{{name!r}: 'N'}}, --beat {name}=N)"
    )
