"""Recordings in which nothing was detected are counted, told, and left out on request."""

from __future__ import annotations

import warnings

import pytest

from bdl.errors import ConfigError, CoverageWarning
from bdl.evaluation import compare, score
from bdl.events import Events
from bdl.intervals import IntervalType

NAMES = [f"r{i:02d}" for i in range(10)]
TRUTH = Events.of(NAMES, "onset", [100.0] * 10)
SUBSET = Events.of(NAMES[:2], "onset", [101.0] * 2, score=[0.9, 0.8])
FULL = Events.of(NAMES, "onset", [101.0] * 10, score=[0.5] * 10)


def test_a_subset_scored_against_all_truths_is_told_loudly() -> None:
    with pytest.warns(CoverageWarning, match=r"8 of 10 recordings with events have no") as caught:
        low = score(TRUTH, SUBSET, [5.0])
    assert "--undetected ignore" in str(caught[0].message)
    assert 'undetected="ignore"' in str(caught[0].message)
    assert low.mean_average_precision == pytest.approx(0.2)
    assert "8 of 10 recordings with events have no detection" in str(low)
    assert "8 of 10 recordings" in low._repr_html_()
    assert low.to_dict()["undetected"] == NAMES[2:]


@pytest.mark.filterwarnings("error")
def test_undetected_recordings_are_left_out_or_counted_on_request() -> None:
    fair = score(TRUTH, SUBSET, [5.0], undetected="ignore")
    assert fair.mean_average_precision == 1.0
    assert fair.matches.recordings == tuple(NAMES[:2])
    assert fair.matches.left_out.lines() == [
        "8 recordings without detections",
        "8 events in recordings without detections",
    ]
    assert score(TRUTH, SUBSET, [5.0], undetected="count").mean_average_precision == (
        pytest.approx(0.2)
    )
    named = score(TRUTH, SUBSET, [5.0], recordings=NAMES[:2])
    assert named.mean_average_precision == 1.0
    with pytest.raises(ConfigError, match="undetected: 'count' or 'ignore' expected"):
        score(TRUTH, SUBSET, [5.0], undetected="drop")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="leaves nothing"):
        score(TRUTH, Events.empty(scored=True), [5.0], undetected="ignore")


def test_a_quiet_recording_without_truths_stays() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = score(
            TRUTH, SUBSET, [5.0], undetected="ignore", recordings=[*NAMES, "quiet"],
            event_free="count", durations=dict.fromkeys([*NAMES, "quiet"], 86400.0),
        )  # fmt: skip
    assert result.matches.recordings == ("quiet", "r00", "r01")


def test_systems_are_compared_where_all_have_detections() -> None:
    systems = {"full": FULL, "subset": SUBSET}
    with pytest.warns(CoverageWarning, match="subset: 8 of 10 recordings"):
        unfair = compare(TRUTH, systems, [5.0], replicates=20)
    fair = compare(TRUTH, systems, [5.0], replicates=20, undetected="ignore")
    assert unfair.differences["subset - full"].value == pytest.approx(-0.8)
    assert fair.differences["subset - full"].value == 0.0
    assert fair.clusters == 2


def test_the_ends_of_intervals_are_event_types() -> None:
    sleep = IntervalType("sleep", "onset", "wakeup")
    with pytest.raises(ConfigError, match=r"'sleep' \(--interval\): no table has .*'wakeup'"):
        score(TRUTH, FULL, [5.0], intervals=[sleep])
    with pytest.raises(ConfigError, match="'wakeup'; they have onset"):
        compare(TRUTH, {"a": FULL, "b": FULL}, [5.0], intervals=[sleep])
    both = Events.of("r00", ["onset", "wakeup"], [100.0, 200.0])
    rest = Events.concat([both, Events.of("r00", "rest", [1.0])])
    with pytest.raises(ConfigError, match="neither of its ends is scored"):
        score(rest, FULL, [5.0], intervals=[sleep], types=["rest"], unknown="ignore")
    assert score(both, FULL, [5.0], intervals=[sleep], unknown="ignore").mean_f1 > 0
