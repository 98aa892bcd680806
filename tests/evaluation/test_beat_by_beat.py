"""AAMI beat-by-beat comparison: a naive version, the library wfdb, and the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bdl.errors import BdlError, ConfigError, InputError
from bdl.evaluation import beat_by_beat
from bdl.events import Events
from bdl.formats import read_events, write_events
from calling import call, call_json
from naive.beat_by_beat import Beat, counts, without_flutter

RATE = 360
WINDOW = 54  # samples: 150 ms
MITDB = Path(__file__).parents[2] / "../shared/data/mitdb"
real = pytest.mark.skipif(not MITDB.exists(), reason="the MIT-BIH records are not here")

gaps = st.sampled_from([0, 1, 5, 27, 53, 54, 55, 108, 109, 300]) | st.integers(0, 120)
symbols = st.sampled_from(["N", "L", "S", "a", "V", "r", "F", "Q", "/", "[", "]", "+", "!"])
beat_lists = st.lists(st.tuples(gaps, symbols), max_size=14).map(
    lambda rows: [
        (int(at), symbol)
        for at, (_, symbol) in zip(np.cumsum([gap for gap, _ in rows]), rows, strict=True)
    ]
)


def events(beats: list[Beat], name: str = "r") -> Events:
    if not beats:
        return Events.empty()
    return Events.of(name, [symbol for _, symbol in beats], [at / RATE for at, _ in beats])


@settings(max_examples=300, deadline=None)
@given(true=beat_lists, detected=beat_lists, learning=st.sampled_from([0, 1, 60, 200]))
@example(true=[(96, "N"), (160, "N")], detected=[(128, "N"), (185, "N")], learning=0)
@example(true=[], detected=[(200, "N"), (201, "N")], learning=200)
def test_counts_are_those_of_the_naive_version(
    true: list[Beat], detected: list[Beat], learning: int
) -> None:
    result = beat_by_beat(events(true), events(detected), learning=learning / RATE)
    assert result.recordings in ((), ("r",))  # a recording without beats is not listed
    np.testing.assert_array_equal(result.counts.sum(0), counts(true, detected, WINDOW, learning))


def test_a_case_by_hand() -> None:
    """One VEB found, one taken for N, one N for a VEB, one S found, a missed N, two false ones."""
    truth = Events.of("a", [*"VVNSN"], [301.0, 302.0, 303.0, 304.0, 305.0])
    detections = Events.of("a", [*"VNVSNV"], [301.0, 302.1, 303.0, 304.15, 304.5, 307.0])
    result = beat_by_beat(truth, detections)
    assert result.gross == pytest.approx(
        {
            "QRS sensitivity": 4 / 5,
            "QRS positive predictivity": 4 / 6,
            "VEB sensitivity": 1 / 2,
            "VEB positive predictivity": 1 / 3,
            "VEB false positive rate": 2 / 4,
            "SVEB sensitivity": 1.0,
            "SVEB positive predictivity": 1.0,
        }
    )
    other = beat_by_beat(
        Events.concat([truth, Events.of("b", "N", [400.0, 401.0])]),
        Events.concat([detections, Events.of("b", "N", [400.0])]),
    )
    assert other.gross["QRS sensitivity"] == 5 / 7
    assert other.average["QRS sensitivity"] == (4 / 5 + 1 / 2) / 2
    assert other.average["VEB sensitivity"] == 1 / 2  # b has none
    assert other.to_polars()["recording"].to_list() == ["a", "b"]
    assert "7 beats, 2 of them VEB, 1 SVEB" in repr(other)


def test_fusions_taken_for_ventricular_beats_are_not_false() -> None:
    result = beat_by_beat(Events.of("a", "F", [301.0]), Events.of("a", "V", [301.0]))
    assert np.isnan(result.gross["VEB positive predictivity"])
    assert np.isnan(result.gross["VEB false positive rate"])
    assert result.gross["QRS sensitivity"] == 1.0


def test_bad_arguments_are_told() -> None:
    beats = Events.of("a", "N", [301.0])
    with pytest.raises(InputError, match=r"'beat' is not an annotation symbol.*--beat beat=N"):
        beat_by_beat(beats, Events.of("a", "beat", [301.0]))
    for wrong in ({"window": -1.0}, {"learning": float("nan")}):
        with pytest.raises(ConfigError, match="seconds from 0 on expected"):
            beat_by_beat(beats, beats, **wrong)  # type: ignore[arg-type]


def disturbed(samples: list[int], rng: np.random.Generator) -> np.ndarray:
    """Beats as a detector with faults has them, more than two windows apart."""
    kept = [at for at in samples if rng.random() > 0.03]
    moved = [at + int(rng.normal(0, 25)) for at in kept]
    extra = [at + 150 for at in samples if rng.random() < 0.02]
    chosen: list[int] = []
    for at in sorted([*moved, *extra]):
        if at >= 0 and (not chosen or at - chosen[-1] > 2 * WINDOW):
            chosen.append(at)
    return np.array(chosen)


@real
def test_beats_found_are_those_of_wfdb_where_pairs_cannot_be_doubtful() -> None:
    processing = pytest.importorskip("wfdb.processing")
    rng = np.random.default_rng(0)
    truth = read_events(MITDB)
    compared = 0
    for name in truth.recordings:
        rows = truth.select(recordings=[name])
        listed = [
            (round(time * RATE), symbol)
            for time, symbol in sorted(zip(rows.time.tolist(), rows.event.tolist(), strict=True))
        ]
        outside, flutter = without_flutter(listed)
        beats = [at for at, _ in outside]
        detected = disturbed(beats, rng)
        ours = beat_by_beat(rows, Events.of(name, "N", detected / RATE), learning=0.0).counts[0]
        np.testing.assert_array_equal(
            ours, counts(listed, [(int(at), "N") for at in detected], 54, 0)
        )
        if np.diff(beats).min() <= 2 * WINDOW or flutter:
            continue
        theirs = processing.Comparitor(np.array(beats), detected, WINDOW + 1)  # nearer than that
        theirs.compare()
        assert (ours[:5, :5].sum(), ours[5].sum(), ours[:5, 5].sum()) == (
            theirs.tp,
            theirs.fp,
            theirs.fn,
        )
        compared += 1
    assert compared >= 10


@real
def test_the_command_scores_annotation_files(tmp_path: Path) -> None:
    pytest.importorskip("wfdb")
    truth = read_events(MITDB, extension="atr").select(recordings=["101", "106"])
    moved = Events.of(truth.recording, truth.event, truth.time + 0.1)
    write_events(truth, tmp_path / "truth.csv")
    write_events(moved, tmp_path / "found", format="wfdb", period=1 / RATE)
    words = ("score", "--scoring", "aami", "--truth", tmp_path / "truth.csv")
    words += ("--detections", tmp_path / "found")
    output = call_json(*words)
    assert (
        output["gross"]["QRS sensitivity"] == output["average"]["VEB positive predictivity"] == 1.0
    )
    assert output["counts"][5] == [0] * 6
    text = call(*words)
    assert "match window 0.15 s, the first 300 s left out" in text
    assert "100.00" in text
    narrow = call_json(*words, "--match-window", 0.05, "--learning-period", 0)
    assert narrow["gross"]["QRS sensitivity"] < 0.01


def test_the_command_names_beats_and_refuses_what_has_no_effect(tmp_path: Path) -> None:
    truth, detections = tmp_path / "truth.csv", tmp_path / "found.csv"
    truth.write_text("recording,event,time\na,N,301\na,+,301\na,V,302\n")
    detections.write_text("recording,event,time,score\na,beat,301,0.9\na,beat,302,0.2\n")
    words = ("score", "--scoring", "aami", "--truth", truth, "--detections", detections)
    output = call_json(*words, "--beat", "beat=N")
    assert output["gross"]["QRS sensitivity"] == 1.0
    assert output["gross"]["VEB positive predictivity"] is None
    assert call_json(*words, "--beat", "beat=N", "--threshold", 0.5)["counts"][2][5] == 1
    with pytest.raises(InputError, match="not an annotation symbol"):
        call(*words)
    for more in (("--type", "N"), ("--interval", "x"), ("--tolerance", 1), ("--collar", 1)):
        with pytest.raises(ConfigError):
            call(*words, "--beat", "beat=N", *more)
    with pytest.raises(ConfigError, match="--beat belongs to --scoring aami"):
        call("score", "--truth", truth, "--detections", detections, "--beat", "beat=N")
    detections.write_text("recording,event,time,score\nother,N,301,0.9\n")
    with pytest.raises(BdlError, match="other"):
        call(*words)
