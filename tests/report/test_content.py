"""The data of the page about hits agrees with the matches, recording by recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from bdl import Events
from bdl.errors import ConfigError
from bdl.evaluation import Matches
from bdl.report import Content, System
from bdl.report.content import (
    NOT_DETECTED,
    hit_masks,
    matched_detections,
    timing_errors,
    type_codes,
)

ONE = Events.of("a", "beat", [10.0])
FOUND = System("mine", Events.of("a", "beat", [10.5], score=[1.0]))


def matches_of(content: Content) -> Matches:
    return content.matches[0]


@pytest.mark.parametrize("seed", range(10))
def test_hits_of_detections_and_truths_are_the_same_pairs(
    make_content: Callable[..., Content], seed: int
) -> None:
    matches = matches_of(make_content(signals=False, densities=False, events=20, seed=seed))
    masks, codes = hit_masks(matches), type_codes(matches)
    rows = matched_detections(matches).reshape(len(matches.tolerances), -1)
    for k, tolerance in enumerate(matches.tolerances):
        hit = np.flatnonzero((masks >> k) & 1)
        taken = rows[k][rows[k] != NOT_DETECTED]
        assert sorted(taken) == hit.tolist()
        for j, name in enumerate(matches.types):
            assert (
                np.sum(codes[hit] == j)
                == matches.count[j, k]
                == len(matches.hits(name, tolerance)[0])
            )
        away = matches.time[taken] - matches.truth_time[rows[k] != NOT_DETECTED]
        assert np.abs(away).max() < tolerance
        assert sorted(away) == sorted(timing_errors(matches, tolerance))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": ()}, "at least one table"),
        ({"tolerances": ()}, "1 to 31 tolerances, got 0"),
        ({"tolerances": tuple(range(1, 33))}, "1 to 31 tolerances, got 32"),
        ({"systems": (FOUND, FOUND)}, "distinct names"),
    ],
)
def test_impossible_contents_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(Content("t", ONE, (FOUND,), (2.0,)), **change)


def test_event_free_recordings_count_even_where_only_one_system_names_them() -> None:
    other = System("other", Events.of(["a", "b", "c"], "beat", [10.0, 1.0, 2.0], [0.5, 0.9, 0.8]))
    content = Content("t", ONE, (FOUND, other), (2.0,), event_free="count")
    assert [m.recordings for m in content.matches] == [("a", "b", "c")] * 2
    assert content.matches[1].mean_average_precision() == pytest.approx(1 / 3)


def test_days_and_hours_come_from_the_scored_recordings(content: Content) -> None:
    assert content.days == pytest.approx(4.0)
    assert content.hours == dict.fromkeys(("rec00", "rec01", "rec02", "rec03"), 24.0)
    assert replace(content, recordings=None).days is None
