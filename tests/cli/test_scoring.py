"""The commands `score` and `compare`, run as a user runs them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from bdl.datasets import Fraud
from bdl.errors import BdlError, CoverageWarning
from bdl.formats import write_events
from calling import call, call_json

TRUTH = [("a", "onset", 100), ("a", "wakeup", 500), ("b", "onset", 200), ("b", "wakeup", 900)]
FOUND = [
    ("a", "onset", 103, 0.9),
    ("a", "wakeup", 540, 0.8),
    ("b", "onset", 230, 0.7),
    ("b", "wakeup", 901, 0.6),
    ("b", "onset", 700, 0.95),
]


def kaggle(folder: Path, name: str, rows: list[tuple[Any, ...]]) -> Path:
    columns = ["series_id", "event", "step", "score"][: len(rows[0])]
    path = folder / f"{name}.csv"
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(path)
    return path


def plain(folder: Path, name: str, rows: list[tuple[Any, ...]], factor: float = 5.0) -> Path:
    columns = ["recording", "event", "time", "score"][: len(rows[0])]
    path = folder / f"{name}.parquet"
    timed = [(r, e, float(t) * factor, *rest) for r, e, t, *rest in rows]
    pl.DataFrame(timed, schema=columns, orient="row").write_parquet(path)
    return path


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    return kaggle(tmp_path, "truth", TRUTH), kaggle(tmp_path, "found", FOUND)


BOTH = ("--tolerance", 10, "--tolerance", 50)
DRAWN = (*BOTH, "--bootstrap", 9, "--cluster", "group")


def test_kaggle_tables_work_as_they_are(tables: tuple[Path, Path]) -> None:
    truth, detections = tables
    result = call_json("score", "--truth", truth, "--detections", detections, *BOTH)
    # By hand: of the onsets 0.95 misses, 0.9 hits (3 steps off), 0.7 is 30 off.
    assert result["AP"]["onset"] == {"10": 0.25, "50": pytest.approx(1 / 2 * 1 / 2 + 1 / 2 * 2 / 3)}
    assert result["AP"]["wakeup"] == {"10": 0.25, "50": 1.0}
    assert result["mAP"] == pytest.approx((0.25 + 7 / 12 + 0.25 + 1.0) / 4)
    assert result["unit"] == "steps"
    assert result["event_free"] == "ignore"


def test_steps_and_seconds_agree(tables: tuple[Path, Path], tmp_path: Path) -> None:
    truth, detections = tables
    steps = call_json(
        "score", "--truth", truth, "--detections", detections, *BOTH, "--unit", "steps"
    )
    wide = ("--tolerance", 50, "--tolerance", 250)
    seconds = [
        ("--truth", plain(tmp_path, "t", TRUTH), "--detections", plain(tmp_path, "d", FOUND)),
        ("--truth", truth, "--detections", detections, "--unit", "seconds", "--period", 5),
        ("--truth", plain(tmp_path, "t", TRUTH), "--detections", detections, "--period", 5),
    ]
    for arguments in seconds:
        result = call_json("score", *arguments, *wide)
        assert result["unit"] == "seconds"
        assert result["mAP"] == steps["mAP"]
        assert list(result["AP"]["onset"]) == ["50", "250"]
    back = call_json("score", *seconds[0], *BOTH, "--unit", "steps", "--period", 5)
    assert back["AP"] == steps["AP"]


def test_mixed_units_need_the_period(tables: tuple[Path, Path], tmp_path: Path) -> None:
    truth, _ = tables
    arguments = ["score", "--truth", truth, "--detections", plain(tmp_path, "d", FOUND), *BOTH]
    with pytest.raises(BdlError, match="mixed units"):
        call(*arguments)


def test_the_rule_for_event_free_recordings_is_explicit_and_printed(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    truth, _ = tables
    detections = kaggle(tmp_path, "more", [*FOUND, ("c", "wakeup", 5, 0.99)])
    arguments = ["score", "--truth", truth, "--detections", detections, "--tolerance", 50]
    with pytest.raises(BdlError, match="'c'"):
        call(*arguments)
    ignored = call_json(*arguments, "--event-free", "ignore")
    counted = call_json(*arguments, "--event-free", "count")
    assert ignored["AP"]["wakeup"]["50"] == 1.0
    assert counted["AP"]["wakeup"]["50"] == pytest.approx(1 / 2 * 1 / 2 + 1 / 2 * 2 / 3)
    assert call_json(*arguments, "--unknown", "ignore")["AP"] == ignored["AP"]
    assert "count as false alarms" in call(*arguments, "--event-free", "count")
    assert "are ignored" in call(*arguments, "--event-free", "ignore")
    named = tmp_path / "recordings.csv"
    named.write_text("recording\na\nb\nc\n")
    listed = call_json(*arguments, "--recordings", named, "--event-free", "count")
    assert listed["mAP"] == counted["mAP"]


def test_rows_without_score_or_time_are_dropped_counted_and_told(tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    truth.write_text("series_id,event,step\na,onset,100\nb,onset,\n")
    detections = tmp_path / "found.csv"
    detections.write_text(
        "series_id,event,step,score\na,onset,100,0.5\na,onset,101,\na,onset,NaN,0.9\n"
    )
    arguments = ("score", "--truth", truth, "--detections", detections, "--tolerance", 5)
    result = call_json(*arguments)
    assert result["mAP"] == 1.0
    assert result["left_out"] == [
        "1 events without time",
        "2 detections without time or score",
    ]
    assert "2 detections without time or score" in call(*arguments)


def test_bootstrap_clusters_and_durations(tables: tuple[Path, Path], tmp_path: Path) -> None:
    truth, detections = tables
    about = tmp_path / "about.csv"
    about.write_text("recording,duration,group,fold\na,43200,p1,0\nb,43200,p2,1\n")
    given = ("--truth", truth, "--detections", detections, "--recordings", about)
    arguments = ["score", *given, *BOTH]
    result = call_json(*arguments, "--bootstrap", 200, "--cluster", "group")
    interval = result["bootstrap"]["systems"]["detections"]
    assert interval["value"] == pytest.approx(result["mAP"])
    assert interval["interval"][0] <= result["mAP"] <= interval["interval"][1]
    assert result["bootstrap"]["clusters"] == 2
    assert result["false_alarms_per_day"]["onset"]["50"] == 1.0
    assert "200 bootstrap replicates over 2 groups" in call(
        *arguments, "--bootstrap", 200, "--cluster", "group"
    )


def test_groups_may_stand_in_the_truth_table(tables: tuple[Path, Path], tmp_path: Path) -> None:
    _, detections = tables
    rows = pl.DataFrame(TRUTH, schema=["series_id", "event", "step"], orient="row")
    truth = tmp_path / "grouped.csv"
    rows.with_columns(group=pl.lit("p")).write_csv(truth)
    result = call_json("score", "--truth", truth, "--detections", detections, *DRAWN)
    assert result["bootstrap"]["clusters"] == 1


def test_groups_must_be_known(tables: tuple[Path, Path]) -> None:
    truth, detections = tables
    with pytest.raises(BdlError, match="'group'"):
        call("score", "--truth", truth, "--detections", detections, *DRAWN)


def test_regions_limit_what_counts(tables: tuple[Path, Path], tmp_path: Path) -> None:
    truth, detections = tables
    regions = tmp_path / "regions.csv"
    regions.write_text("recording,start,end\na,0,300\nb,0,600\n")
    result = call_json(
        "score", "--truth", truth, "--detections", detections, *BOTH, "--regions", regions
    )
    assert result["AP"]["onset"]["50"] == 1.0
    assert result["AP"]["wakeup"]["50"] is None


def test_compare_pairs_systems_and_averages_seeds(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    truth, detections = tables
    exact = kaggle(tmp_path, "exact", [(*row, 0.5) for row in TRUTH])
    about = tmp_path / "about.csv"
    about.write_text("recording,fold\na,0\nb,1\n")
    arguments = ["compare", "--truth", truth, *BOTH, "--recordings", about, "--bootstrap", 100]
    systems = ["--detections", f"old={detections}", "--detections", f"old={detections}"]
    systems += ["--detections", f"new={exact}"]
    result = call_json(*arguments, *systems)
    assert len(result["systems"]["old"]) == 2
    first = result["systems"]["old"][0]["mAP"]
    gain = result["bootstrap"]["differences"]["new - old"]
    assert gain["value"] == pytest.approx(1.0 - first)
    assert set(result["bootstrap"]["folds"]) == {"0", "1"}
    text = call(*arguments, *systems)
    assert "new - old" in text
    assert "fold 1" in text
    plainly = call(*arguments, "--detections", detections, "--detections", exact)
    assert "exact - found" in plainly


def test_compare_counts_false_alarms_on_the_same_recordings(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    truth, detections = tables
    noisy = kaggle(tmp_path, "noisy", [*FOUND, ("z", "onset", 1, 0.99)])
    arguments = ["compare", "--truth", truth, *BOTH, "--bootstrap", 20, "--event-free", "count"]
    result = call_json(*arguments, "--detections", detections, "--detections", noisy)
    assert result["systems"]["found"][0]["recordings"] == 3
    assert result["bootstrap"]["differences"]["noisy - found"]["value"] < 0


def test_missing_columns_are_named(tables: tuple[Path, Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("series_id,event,score\na,onset,1\n")
    with pytest.raises(BdlError, match="columns"):
        call("score", "--truth", tables[0], "--detections", bad, *BOTH)


def test_detections_without_scores_are_counted_not_ranked(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    truth = tmp_path / "diary.csv"
    truth.write_text("Subject;Label;Moment\na;onset;10,5\na;onset;100\n")
    plain = tmp_path / "plain.csv"
    plain.write_text("recording,event,time\na,onset,10\na,onset,50\n")
    words = ("score", "--truth", truth, "--column", "time=Moment", "--detections", plain)
    text = call(*words, "--tolerance", 5)
    assert "there is no average precision" in text
    assert "mAP" not in text
    point = call_json(*words, "--tolerance", 5)["at_threshold"]["onset"]
    triples = {(counts["hits"], counts["false"], counts["missed"]) for counts in point.values()}
    assert triples == {(1, 1, 1)}
    with pytest.raises(BdlError, match="--metric mF1"):
        call(*words, "--tolerance", 5, "--bootstrap", 10)
    compared = ("compare", *words[1:], "--detections", f"b={plain}", "--tolerance", 5)
    with pytest.raises(BdlError, match="need a column 'score'"):
        call(*compared)
    for metric in ("sensitivity@5>=0.5", "F1@5>=2", "median@5>=0.5", "screening@5"):
        with pytest.raises(BdlError, match="need a column 'score'"):
            call(*compared, "--metric", metric)
        with pytest.raises(BdlError, match="add a column 'score'"):
            call(*words, "--tolerance", 5, "--bootstrap", 10, "--metric", metric)
    counted = call_json(*compared, "--metric", "F1@5")["bootstrap"]["systems"]
    assert counted["b"]["value"] == 0.5


def test_other_bad_input_is_told(tables: tuple[Path, Path], tmp_path: Path) -> None:
    truth, detections = tables
    good = ("--truth", truth, "--detections", detections)
    with pytest.raises(BdlError, match="distinct"):
        call("score", *good, "--tolerance", 5, "--tolerance", 5)
    with pytest.raises(BdlError, match="absent"):
        call("score", "--truth", tmp_path / "absent.csv", "--detections", detections, *BOTH)
    empty = tmp_path / "empty.csv"
    empty.write_text("series_id,event,step\n")
    with pytest.raises(BdlError, match="no events at all"):
        call("score", "--truth", empty, "--detections", detections, *BOTH)
    with pytest.raises(BdlError, match="two systems"):
        call("compare", *good, *BOTH)
    with pytest.raises(BdlError, match="name them"):
        call("compare", *good, "--detections", detections, *BOTH)
    twice = tmp_path / "twice.csv"
    twice.write_text("recording\na\na\n")
    with pytest.raises(BdlError, match="twice"):
        call("score", *good, *BOTH, "--recordings", twice)


def test_figures_at_a_fixed_threshold(tables: tuple[Path, Path]) -> None:
    truth, detections = tables
    arguments = ("score", "--truth", truth, "--detections", detections, *BOTH, "--threshold", 0.75)
    onset = call_json(*arguments)["at_threshold"]["onset"]
    assert {k: onset["10"][k] for k in ("recall", "precision", "F1", "false")} == {
        "recall": 0.5,
        "precision": 0.5,
        "F1": 0.5,
        "false": 1,
    }
    assert "detections with score >= 0.75" in call(*arguments)


def test_the_printed_score_has_figures_and_errors(tables: tuple[Path, Path]) -> None:
    truth, detections = tables
    text = call("score", "--truth", truth, "--detections", detections, *BOTH, "--errors", 10)
    assert "mAP" in text
    assert "errors at tolerance 10" in text
    assert "missed" in text


def seconds(folder: Path, name: str, rows: list[tuple[Any, ...]]) -> Path:
    columns = ["recording", "event", "time", "score"][: len(rows[0])]
    path = folder / f"{name}.csv"
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(path)
    return path


VOICE = [("a", "on", 10.0), ("a", "off", 20.0), ("b", "on", 5.0), ("b", "off", 8.0)]
HEARD = [
    ("a", "on", 10.5, 0.9),
    ("a", "off", 22.0, 0.8),
    ("b", "on", 5.2, 0.7),
    ("b", "off", 8.1, 0.6),
    ("b", "on", 50.0, 0.1),
]


def test_the_collar_score_of_events_and_of_intervals(tmp_path: Path) -> None:
    truth, detections = seconds(tmp_path, "truth", VOICE), seconds(tmp_path, "found", HEARD)
    arguments = ("score", "--truth", truth, "--detections", detections, "--collar", 0.5)
    by_type = call_json(*arguments)["types"]
    assert by_type["on"] == {
        "hits": 2,
        "detections": 3,
        "truths": 2,
        "precision": pytest.approx(2 / 3),
        "recall": 1.0,
        "F1": 0.8,
    }
    assert by_type["off"]["hits"] == 1
    assert call_json(*arguments, "--threshold", 0.5)["types"]["on"]["F1"] == 1.0
    assert list(call_json(*arguments, "--type", "on")["types"]) == ["on"]
    voice = (*arguments, "--interval", "voice=on,off")
    assert call_json(*voice)["types"]["voice"]["hits"] == 1
    assert call_json(*voice, "--offset-share", 0.2)["types"]["voice"]["F1"] == 1.0
    text = call(*voice)
    assert "F-measure, collar 0.5" in text
    assert "voice" in text
    unscored = seconds(tmp_path, "unscored", [row[:3] for row in HEARD])
    same = call_json(
        "score", "--truth", truth, "--detections", unscored, "--scoring=collar", "--collar=0.5"
    )
    assert same["types"] == by_type


def test_the_seizure_scores(tmp_path: Path) -> None:
    ends = ("seizure:onset", "seizure:offset")
    truth = seconds(tmp_path, "truth", [("eeg", ends[0], 100.0), ("eeg", ends[1], 150.0)])
    rows = zip(ends * 2, [170.0, 200.0, 900.0, 950.0], [0.9, 0.9, 0.5, 0.5], strict=True)
    detections = seconds(tmp_path, "found", [("eeg", *row) for row in rows])
    arguments = ["score", "--truth", truth, "--detections", detections, "--scoring", "seizures"]
    with pytest.raises(BdlError, match="give --recordings, a table with the columns"):
        call(*arguments)
    recordings = tmp_path / "recordings.csv"
    recordings.write_text("recording,duration\neeg,43200\n")
    arguments += ["--recordings", recordings]
    result = call_json(*arguments)
    assert result["scoring"] == "seizures"
    assert result["events"]["seizure"] == {
        "hits": 1,
        "truths": 1,
        "false_positives": 1,
        "sensitivity": 1.0,
        "precision": 0.5,
        "F1": pytest.approx(2 / 3),
        "false_positives_per_day": 2.0,
    }
    assert result["samples"]["seizure"]["hits"] == 0
    assert call_json(*arguments, "--any-overlap")["events"]["seizure"]["hits"] == 0
    above = call_json(*arguments, "--threshold", 0.7)["events"]["seizure"]
    assert above["false_positives"] == 0
    assert "SzCORE rules" in call(*arguments)
    named = call_json(*arguments, "--interval", "fit=seizure:onset,seizure:offset")
    assert named["events"]["fit"] == result["events"]["seizure"]


def test_screening_gives_sensitivity_at_false_alarms_per_day(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    truth, detections = tables
    recordings = tmp_path / "recordings.csv"
    recordings.write_text("recording,duration\na,43200\nb,43200\n")
    given = ("--truth", truth, "--detections", detections)
    arguments = ("score", *given, *BOTH, "--scoring=screening")
    with pytest.raises(BdlError, match="--recordings"):
        call(*arguments)
    timed = (*arguments, "--recordings", recordings)
    result = call_json(*timed, "--false-alarms-per-day", 0, "--false-alarms-per-day", 1)
    onset = result["types"]["onset"]["50"]
    assert onset["sensitivity_at"] == {"0": 0.0, "1": 1.0}
    assert onset["false_alarms_per_day"] == [1.0, 1.0, 1.0]
    assert "sensitivity at false alarms per day" in call(*timed)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "--tolerance expected"),
        (("--scoring", "collar"), "needs --collar SECONDS"),
        (("--scoring", "seizures", "--collar", 1), "--collar belongs to --scoring collar"),
        (("--collar", 1, "--tolerance", 1), "--tolerance has no effect"),
        (("--collar", 1, "--bootstrap", 9), "--bootstrap has no effect"),
        (("--collar", 1, "--offset-share", 0.5), "name them with --interval"),
        (("--scoring=screening", "--tolerance", 1, "--interval", "x"), "--interval has no effect"),
        (("--scoring", "seizures"), "--interval seizure=onset,offset"),
        (("--scoring", "screening", "--tolerance", 1, "--threshold", 1), "which tries all"),
    ],
)
def test_options_of_another_scoring_are_refused(
    tables: tuple[Path, Path], options: tuple[Any, ...], problem: str
) -> None:
    truth, detections = tables
    with pytest.raises(BdlError, match=problem):
        call("score", "--truth", truth, "--detections", detections, *options)


def test_the_threshold_governs_the_error_table(tables: tuple[Path, Path]) -> None:
    truth, detections = tables
    arguments = ("score", "--truth", truth, "--detections", detections, *BOTH)
    best = call_json(*arguments)["errors"]
    high = call_json(*arguments, "--threshold", 0.85)["errors"]
    assert best["threshold"] == {"onset": 0.7, "wakeup": 0.6}
    assert high["threshold"] == {"onset": 0.85, "wakeup": 0.85}
    assert high["wakeup"]["missed"] == 2
    text = call(*arguments, "--threshold", 0.85)
    assert "detections of at least this score: onset 0.85, wakeup 0.85" in text


def test_a_metric_that_is_not_known_lists_those_that_are(tables: tuple[Path, Path]) -> None:
    truth, detections = tables
    arguments = ("score", "--truth", truth, "--detections", detections, *BOTH, "--bootstrap", 9)
    with pytest.raises(BdlError, match="expected one of AP, mAP, F1, mF1"):
        call(*arguments, "--metric", "accuracy")


def test_a_subset_of_the_recordings_is_told_and_left_out_by_its_flag(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    truth, _ = tables
    part = kaggle(tmp_path, "part", [row for row in FOUND if row[0] == "a"])
    for scoring in (BOTH, ("--collar", 50)):
        arguments = ("score", "--truth", truth, "--detections", part, *scoring)
        with pytest.warns(CoverageWarning, match="--undetected ignore"):
            text = call(*arguments)
        assert "1 of 2 recordings with events has no detection ('b')" in text
        fair = call_json(*arguments, "--undetected", "ignore")
        assert "2 events in recordings without detections" in fair["left_out"]
    score = ("score", "--truth", truth, "--detections", part, *BOTH, "--undetected")
    assert call_json(*score, "ignore")["mF1"] > call_json(*score, "count")["mF1"]
    full = kaggle(tmp_path, "full", FOUND)
    systems = ("compare", "--truth", truth, *BOTH, "--detections", part, "--detections", full)
    with pytest.warns(CoverageWarning, match="part: 1 of 2"):
        assert "part: 1 of 2 recordings with events" in call(*systems)
    fair = call_json(*systems, "--undetected", "ignore", "--bootstrap", 9)
    assert fair["bootstrap"]["differences"]["full - part"]["value"] == 0.0


def test_unknown_recordings_are_refused_by_every_scoring(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    truth, _ = tables
    more = kaggle(tmp_path, "more", [*FOUND, ("z", "onset", 1, 0.99)])
    for scoring in (BOTH, ("--collar", 50)):
        arguments = ("score", "--truth", truth, "--detections", more, *scoring)
        with pytest.raises(BdlError, match=r"'z'.*--unknown ignore"):
            call(*arguments)
        assert "1 detections in unknown recordings" in call(*arguments, "--unknown", "ignore")


def test_every_table_states_its_cutoff_and_fits_a_terminal(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    truth, detections = tables
    about = tmp_path / "about.csv"
    about.write_text("recording,duration\na,43200\nb,56160\n")
    given = ("score", "--truth", truth, "--detections", detections, "--recordings", about)
    text = call(*given, *BOTH, "--threshold", 0.75, "--bootstrap", 20)
    assert "detections with score >= 0.75, in 27.6 h" in text
    assert "detections of at least this score: onset 0.75, wakeup 0.75" in text
    collar = call(*given, "--collar", 50, "--threshold", 0.75)
    assert "detections with score >= 0.75" in collar
    assert "all detections" in call(*given, "--collar", 50)
    screening = call(*given, "--scoring=screening", *BOTH)
    assert "threshold" in screening
    for line in "\n".join([text, collar, screening]).splitlines():
        assert len(line) <= 80, line


@pytest.mark.parametrize("words", [(), ("--interval", "night=asleep,awake")])
def test_a_table_of_intervals_is_scored_by_its_ends(tmp_path: Path, words: tuple[str, ...]) -> None:
    """As `bdl detect` writes it: one row per night, while the truth has one per end."""
    begin, end = ("asleep", "awake") if words else ("onset", "wakeup")
    truth, detections = tmp_path / "truth.csv", tmp_path / "found.csv"
    rows = f"a,{begin},100\na,{end},900\na,{begin},2000\na,{end},2800\n"
    truth.write_text(f"recording,event,time\n{rows}")
    detections.write_text("recording,event,start,end,duration,score\na,night,103,905,802,0.9\n")
    output = call_json(
        "score", "--truth", truth, "--detections", detections, "--tolerance", 10, *words
    )
    assert output["mAP"] == pytest.approx(0.5)
    if words:
        with pytest.raises(BdlError, match=r"'night:offset', 'night:onset'; .*--interval NAME="):
            call("score", "--truth", truth, "--detections", detections, "--tolerance", 10)


def test_an_interval_is_one_false_alarm(tmp_path: Path) -> None:
    truth = seconds(tmp_path, "truth", [("a", "bed", 100.0), ("a", "rise", 900.0)])
    rows = [("a", "bed", 101.0), ("a", "rise", 901.0), ("a", "bed", 5000.0), ("a", "rise", 6000.0)]
    detections = seconds(tmp_path, "found", [(*row, 0.9) for row in rows])
    about = tmp_path / "about.csv"
    about.write_text("recording,duration\na,86400\n")
    arguments = ("score", "--truth", truth, "--detections", detections, "--recordings", about)
    arguments += ("--tolerance", 5, "--threshold", 0.5)
    ends = call_json(*arguments)["at_threshold"]["all"]["5"]
    assert ends["false_alarms_per_day"] == 2.0  # nothing says that these are ends of intervals
    nights = (*arguments, "--interval", "night=bed,rise")
    assert call_json(*nights)["at_threshold"]["all"]["5"]["false_alarms_per_day"] == 1.0
    assert call_json(*nights)["at_threshold"]["all"]["5"]["false"] == 2
    assert "counts an interval (bed to rise) once" in call(*nights)


def test_systems_are_compared_in_pairs_or_with_a_baseline(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    truth, detections = tables
    exact = kaggle(tmp_path, "exact", [(*row, 0.5) for row in TRUTH])
    other = kaggle(tmp_path, "other", [*FOUND[1:], ("a", "onset", 120, 0.3)])
    tables_ = [word for path in (detections, exact, other) for word in ("--detections", path)]
    arguments = ("compare", "--truth", truth, *BOTH, "--bootstrap", 200, *tables_)
    every = call_json(*arguments)["bootstrap"]["differences"]
    assert [*every] == ["exact - found", "other - found", "other - exact"]
    against = call_json(*arguments, "--baseline", "exact")["bootstrap"]
    assert [*against["differences"]] == ["found - exact", "other - exact"]
    change = against["differences"]["found - exact"]
    assert change["adjusted_interval"][0] <= change["interval"][0]
    assert change["adjusted_p"] >= change["p"]
    assert "Holm" in call(*arguments)
    with pytest.raises(BdlError, match="none of the systems found, exact, other"):
        call(*arguments, "--baseline", "best")
    bare = tmp_path / "bare.csv"
    bare.write_text("series_id,event,step\na,onset,100\nb,onset,200\n")
    given = ("--detections", bare, "--detections", detections)
    unscored = ("compare", "--truth", truth, *BOTH, *given)
    assert call_json(*unscored, "--metric", "mF1", "--bootstrap", 9)["bootstrap"]["systems"]


def test_a_report_on_a_data_set_scores_by_its_rules(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    Fraud().simulate(tmp_path / "fraud", recordings=4)
    benchmark = Fraud().load(tmp_path / "fraud")
    detections = tmp_path / "found.csv"
    write_events(replace(benchmark.events, score=np.ones(len(benchmark.events))), detections)
    words = ("report", detections, "--dataset", "fraud", "--data", tmp_path / "fraud")
    page = ("--bootstrap", 0, "--out", tmp_path / "page.html")
    for more, rule in (((), "counted as false alarms"), (("--event-free", "ignore"), "ignored")):
        call(*words, *more, *page)
        expected = f"Detections in recordings without events are {rule}"
        assert expected in (tmp_path / "page.html").read_text()


def test_tables_speak_of_events(tables: tuple[Path, Path]) -> None:
    truth, detections = tables
    lines = call("score", "--truth", truth, "--detections", detections, "--collar", 10).splitlines()
    head = "type hits detections events precision recall F1"
    assert head in [" ".join(line.split()) for line in lines]
