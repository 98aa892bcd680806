"""Odd recordings: one does not end the others, missing values detect nothing, clocks are kept."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from bdl import Detector, Recording, Recordings
from bdl.cli import INCOMPLETE, app
from bdl.errors import InputError
from bdl.features import Features
from bdl.formats import read_events
from bdl.recording import RecordingInfo, Values
from learning import spikes

SETTINGS = {
    "encoder": {"kind": "recurrent", "width": 4, "blocks": 1},
    "features": {"stride": 4},
    "tolerances": (8.0,),
    "training": {"epochs": 2},
}


@pytest.fixture(scope="module")
def fitted() -> Detector:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Detector(**SETTINGS).fit(*spikes(6))


def changed(recording: Recording, **changes: object) -> Recording:
    return Recording(replace(recording.info, **changes), recording.values)


def test_one_odd_recording_does_not_end_a_detect_over_many(fitted: Detector, tmp_path: Path):
    recordings, _ = spikes(6)
    signals = tmp_path / "signals"
    signals.mkdir()
    for number, recording in enumerate(recordings):
        factor = 1e9 if number == 2 else 1.0  # in other units
        names = ("x", "y") if number == 3 else recording.info.channels  # of other channels
        times = np.arange(len(recording.values)) * recording.info.period
        columns = dict(zip(names, recording.values.T * factor, strict=True))
        pl.DataFrame({"time": times, **columns}).write_csv(signals / f"{recording.id}.csv")
    (signals / "odd.csv").write_text("time,channel_0,channel_1\n0,1,1\n1,what,1\n2,3,3\n3,4,4\n")
    (signals / "torn.csv").write_text("time,channel_0,channel_1\n0,1,1\n5,2,2\n1,3,3\n")
    fitted.save(tmp_path / "model")
    words = ["detect", tmp_path / "model", "--recordings", signals, "--out", tmp_path / "d.csv"]
    done = CliRunner().invoke(app, [*map(str, words), "--all"], catch_exceptions=False)
    assert done.exit_code == INCOMPLETE
    ids = [recording.id for recording in recordings]
    for name in (ids[2], ids[3], "odd", "torn"):
        assert f"left out: {'recording ' + repr(name) if name in ids else signals / name}" in (
            done.stderr
        )
    assert read_events(tmp_path / "d.csv").recordings == tuple(sorted({*ids} - {*ids[2:4]}))
    # A single recording that cannot be used is an error, and nothing is written.
    words[2:] = ["--recordings", signals / "odd.csv", "--out", tmp_path / "e.csv"]
    with pytest.raises(InputError, match=r"odd.csv.*'what'"):
        CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False)
    assert not (tmp_path / "e.csv").exists()


def test_missing_values_detect_nothing_and_say_so(fitted: Detector):
    [first, *_] = spikes(6)[0]
    empty = Recording(replace(first.info, id="empty"), np.full_like(first.values, np.nan))
    with pytest.warns(UserWarning, match="'empty': all its values are missing"):
        detections = fitted.detect(Recordings.of([first, empty]))
    assert detections.recordings == (first.id,)


@pytest.mark.parametrize(
    ("settings", "gap", "expected"),
    [
        ({}, 100, True),
        ({}, 3, False),  # no bin is without samples
        ({"features": {"stride": 4, "missing": False}}, 100, False),
        ({"features": Features(stride=4, missing=False).replace(calendar=False)}, 100, False),
        ({"lag": 8.0, "features": Features(stride=4, missing=False)}, 100, False),
        ({"lag": 8.0}, 100, True),
    ],
)
def test_gaps_are_an_input_unless_the_user_says_otherwise(settings, gap, expected):
    recordings, events = spikes(3)
    whole = {**SETTINGS, "selection": {"folds": 0}, "encoder": "forward-gru", **settings}

    def gapped(info: RecordingInfo, values: Values) -> Values:
        values = np.array(values)
        values[40 : 40 + gap] = np.nan
        return values

    detector = Detector(**whole).fit(recordings.change(gapped), events)
    assert detector.model_.features.missing is expected
    assert Detector(**whole).fit(recordings, events).model_.features.missing is False


def test_the_published_recipe_has_no_input_for_gaps():
    assert "missing" in Detector.preset("paper").settings.features.model_fields_set


def test_nothing_can_be_learned_from_missing_values():
    recordings, events = spikes(6)
    blank = recordings.change(lambda info, values: np.full_like(values, np.nan))
    for scaling, message in (("none", "nothing to learn"), ("robust", "has only missing ones")):
        detector = Detector(**{**SETTINGS, "features": {"stride": 4, "scaling": scaling}})
        with pytest.raises(InputError, match=message):
            detector.fit(blank, events)


def test_detections_are_on_the_recording_s_own_clock(fitted: Detector):
    """A period that differs by less than a millionth counts as equal, and is used."""
    [first, *_] = spikes(6)[0]
    period = first.info.period * (1 + 9e-7)
    ours, theirs = (
        fitted.detect(recording) for recording in (first, changed(first, period=period))
    )
    assert len(ours) == len(theirs) > 0
    np.testing.assert_allclose(theirs.time, ours.time * (1 + 9e-7), rtol=1e-12)
    assert (theirs.time > ours.time).all()
