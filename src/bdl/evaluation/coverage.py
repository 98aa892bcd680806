"""Recordings that detections do not cover, which lower a score.

A recording with events but without any detection may have been processed and nothing was found, or
it may not have been processed at all; a table does not say which. Its events count as missed unless
the caller says ``undetected="ignore"``; where the caller says nothing, a warning counts them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from bdl.errors import ConfigError, CoverageWarning, some
from bdl.evaluation.matches import Matches
from bdl.evaluation.matching import MatchingRules
from bdl.events import Events

Undetected = Literal["count", "ignore"]


class ScoringRules(MatchingRules, total=False):
    """What is scored: keyword arguments of `score` and `compare`.

    Parameters
    ----------
    undetected
        Recordings with events but without any detection (of any of the compared systems): their
        events count as missed (``count``), or the recordings are left out (``ignore``), where they
        were not processed. None counts them and warns.
    **rules
        As in `bdl.evaluation.MatchingRules`.
    """

    undetected: Undetected | None


def matching_rules(
    truth: Events, tables: Iterable[Events], rules: ScoringRules
) -> tuple[MatchingRules, frozenset[str]]:
    """The rules of matching, and the recordings that they leave out as undetected."""
    every = [*tables]
    _check_intervals(rules, [truth, *every])
    others: dict[str, Any] = {**rules}
    undetected = others.pop("undetected", None)
    if undetected not in (None, "count", "ignore"):
        raise ConfigError(f"undetected: 'count' or 'ignore' expected, got {undetected!r}")
    if undetected != "ignore":
        return cast(MatchingRules, others), frozenset()
    listed = others.get("recordings")
    scored = set(truth.recordings if listed is None else listed)
    with_truths = scored & _used(truth)
    lost = frozenset().union(*(with_truths - _used(table) for table in every))
    if with_truths and lost == with_truths:
        raise ConfigError(
            'undetected="ignore" (--undetected ignore) leaves nothing: every recording with events '
            "lacks detections"
        )
    return cast(MatchingRules, {**others, "recordings": scored - lost}), lost


def without(matches: Matches, lost: frozenset[str], truth: Events) -> Matches:
    """The same matches, with the counts of what was left out as undetected."""
    if not lost:
        return matches
    names = np.array([name in lost for name in truth.recordings], dtype=bool)
    left_out = replace(
        matches.left_out,
        recordings_without_detections=len(lost),
        truths_in_recordings_without_detections=int(names[truth.recording_code].sum()),
    )
    return replace(matches, left_out=left_out)


def undetected_text(matches: Matches) -> str:
    """How many recordings with events have no detection; empty if all have one.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> truth = Events.of(["a", "b", "b"], "beat", [1.0, 2.0, 3.0])
    >>> undetected_text(match(truth, Events.of("a", "beat", [1.0], score=[0.5]), [5.0]))
    "1 of 2 recordings with events has no detection ('b'): its 2 events count as missed"
    """
    names = matches.undetected
    if not names:
        return ""
    truths = matches.truths.sum(axis=1)
    missed = int(truths[[matches.recordings.index(name) for name in names]].sum())
    verb, whose = ("has", "its") if len(names) == 1 else ("have", "their")
    return (
        f"{len(names):,} of {int((truths > 0).sum()):,} recordings with events {verb} no detection "
        f"({some(map(repr, names))}): {whose} {missed:,} event{'' if missed == 1 else 's'} count "
        "as missed"
    )


def warn_of_undetected(systems: Mapping[str, Sequence[Matches]], rules: ScoringRules) -> None:
    """Warn where recordings lack detections and the rules do not say what that means."""
    if rules.get("undetected") is not None:
        return
    sentences = []
    for name, seeds in systems.items():
        texts = dict.fromkeys(filter(None, map(undetected_text, seeds)))
        sentences += [f"{name}: {text}" if len(systems) > 1 else text for text in texts]
    if sentences:
        advice = (
            "If they were not processed, leave them out: --undetected ignore "
            '(in Python undetected="ignore"), or --recordings TABLE with those that were. '
            "If they were, give --undetected count."
        )
        warnings.warn("\n".join([*sentences, advice]), CoverageWarning, stacklevel=3)


def _check_intervals(rules: ScoringRules, tables: Sequence[Events]) -> None:
    """Raise an error for interval types whose ends no table has, or of which neither is scored."""
    scored = rules.get("types") or ()
    known = {*scored}.union(*(table.types for table in tables))
    for interval in rules.get("intervals") or ():
        ends = {interval.onset, interval.offset}
        if unknown := sorted(ends - known):
            raise ConfigError(
                f"interval {interval.name!r} (--interval): no table has events of its end "
                f"{unknown[0]!r}; they have {some(sorted(known))}"
            )
        if scored and ends.isdisjoint(scored):
            raise ConfigError(
                f"interval {interval.name!r} (--interval) has no effect: neither of its ends is "
                "scored (--type, types=)"
            )


def _used(events: Events) -> set[str]:
    """Recordings that have rows."""
    return {events.recordings[code] for code in np.unique(events.recording_code)}
