"""New users with their own files, from raw exports to detections, by commands only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from bdl.errors import BdlError
from bdl.formats import open_store, read_events
from calling import call, call_json
from exports import write_actigraphy, write_clinic

ZONE = ("--zone", "Europe/Berlin")


def test_a_sleep_researcher_with_actigraph_exports_and_a_diary(tmp_path: Path) -> None:
    truth = write_actigraphy(tmp_path, participants=2)
    exports, diary = tmp_path / "exports", tmp_path / "diary.csv"
    told = call_json("inspect", exports, *ZONE, "--events", diary)
    assert told["recordings"]["recordings"] == told["recordings"]["with_start"] == 2
    assert told["recordings"]["missing"] == 0.0
    assert told["events"]["outside"] == 0
    assert told["events"]["unknown_recordings"] == []
    assert any("'Bedtime' is read as start" in note for note in told["notes"])
    assert any("ActiGraph export" in note for note in told["recordings"]["notes"])
    out = tmp_path / "events.csv"
    call(
        "convert", diary, "--recordings", exports, *ZONE, "--interval", "sleep=onset,wakeup",
        "--out", out,
    )  # fmt: skip
    events = read_events(out).select(recordings=["P01"])
    np.testing.assert_allclose(np.sort(events.time), np.sort(truth), atol=60)
    annotated = tmp_path / "annotated.csv"
    annotated.write_text(
        "Participant;Start;End\n"
        "P01;22.10.2024 12:00;25.10.2024 12:00\nP02;22.10.2024 12:00;25.10.2024 12:00\n"
    )
    project = tmp_path / "project"
    call(
        "new", project, "--recordings", exports, *ZONE, "--events", diary, "--annotated", annotated
    )
    config = yaml.safe_load((project / "bdl.yaml").read_text())
    assert config["layout"] == {"zone": "Europe/Berlin"}
    assert config["annotated"] == str(annotated)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give the zone in which it was written, such as Europe/Berlin"),
        (("--zone", "+02:00"), "were clocks set there. Then name the zone"),
        (("--zone", "America/New_York"), "--zone"),
        (
            ("--zone", "Europe/Berlin", "--column", "time=Bedtme"),
            "'Bedtme' is missing; it has Part",
        ),
        (("--zone", "Europe/Berlin", "--column", "onset=Bedtime"), "recording, event, date, time"),
        (("--zone", "Europe/Berlin", "--column", "Bedtime"), "KEY=VALUE expected"),
    ],
)
def test_each_mistake_of_theirs_names_the_option_that_helps(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    write_actigraphy(tmp_path, participants=1)
    with pytest.raises(BdlError, match=message):
        call("inspect", tmp_path / "exports", "--events", tmp_path / "diary.csv", *words)


def test_a_clinical_engineer_with_edf_files(tmp_path: Path) -> None:
    pytest.importorskip("edfio")
    write_clinic(tmp_path, files=3, seconds=60)
    clinic = tmp_path / "clinic"
    columns = ("--column", "start=Begin", "--code", "sz=seizure")
    told = call_json("inspect", clinic, "--events", tmp_path / "seizures.csv", *columns)
    assert told["recordings"]["recordings"] == 3
    assert [*told["recordings"]["periods"]] == ["0.00390625", "0.005", "0.001953125"]
    assert any("left out" in note and "pat99" in note for note in told["recordings"]["notes"])
    assert told["events"]["types"] == {"seizure:offset": 3, "seizure:onset": 3}
    assert told["events"]["outside"] == 0
    (clinic / "pat99_night.edf").unlink()
    store = tmp_path / "store"
    words = ("prepare", clinic, "--out", store, "--channel", "Fp1", "--channel", "T7")
    told = call_json(*words, "--rate", 100, "--group-pattern", r"(pat\d+)")
    assert sum("resampled" in note for note in told["notes"]) == 3
    prepared = open_store(store)
    assert {info.period for info in prepared.infos} == {0.01}
    assert {info.channels for info in prepared.infos} == {("Fp1", "T7")}
    assert len(set(prepared.groups.values())) == 3
    out = tmp_path / "events.csv"
    call("convert", tmp_path / "seizures.csv", "--recordings", store, *columns, "--out", out)
    events = read_events(out)
    for recording in prepared:
        onset, offset = (
            events.times(recording.id, f"seizure:{end}") for end in ("onset", "offset")
        )
        inside = slice(round(onset[0] * 100), round(offset[0] * 100))
        spread = recording.values.std(axis=0)
        assert (recording.values[inside].std(axis=0) > spread).all()


@pytest.mark.slow
def test_both_get_detections(tmp_path: Path) -> None:
    write_actigraphy(tmp_path)
    project = tmp_path / "project"
    words = ("--recordings", tmp_path / "exports", *ZONE, "--events", tmp_path / "diary.csv")
    call("new", project, *words)
    model, found = project / "model.safetensors", tmp_path / "found.csv"
    call("fit", "--config", project / "bdl.yaml", "--out", model, "--epochs", 20, "--quiet")
    call("detect", model, "--config", project / "bdl.yaml", "--out", found, "--quiet")
    events = tmp_path / "events.csv"
    call("convert", tmp_path / "diary.csv", *words[:4], "--out", events)
    told = call_json("score", "--truth", events, "--detections", found, "--tolerance", 900)
    assert told["mAP"] > 0.5
