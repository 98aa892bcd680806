"""New users with their own files, from raw exports to detections, by commands only."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
import yaml

from bdl.errors import BdlError
from bdl.formats import open_store, read_events
from calling import call, call_json
from exports import write_actigraphy, write_clinic, write_log, write_scorer

ZONE = ("--zone", "Europe/Berlin")


def test_a_sleep_researcher_with_actigraph_exports_and_a_diary(tmp_path: Path) -> None:
    truth = write_actigraphy(tmp_path, participants=2)
    exports, diary = tmp_path / "exports", tmp_path / "diary.csv"
    output = call_json("inspect", exports, *ZONE, "--events", diary)
    assert output["recordings"]["recordings"] == output["recordings"]["with_start"] == 2
    assert output["recordings"]["missing"] == 0.0
    assert output["events"]["outside"] == 0
    assert output["events"]["unknown_recordings"] == []
    assert any("'Bedtime' is read as start" in note for note in output["notes"])
    assert any("ActiGraph export" in note for note in output["recordings"]["notes"])
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
    output = call_json("inspect", clinic, "--events", tmp_path / "seizures.csv", *columns)
    assert output["recordings"]["recordings"] == 3
    assert [*output["recordings"]["periods"]] == ["0.00390625", "0.005", "0.001953125"]
    assert any("left out" in note and "pat99" in note for note in output["recordings"]["notes"])
    assert output["events"]["types"] == {"seizure:offset": 3, "seizure:onset": 3}
    assert output["events"]["outside"] == 0
    (clinic / "pat99_night.edf").unlink()
    store = tmp_path / "store"
    words = ("prepare", clinic, "--out", store, "--channel", "Fp1", "--channel", "T7")
    output = call_json(*words, "--rate", 100, "--group-pattern", r"(pat\d+)")
    assert sum("resampled" in note for note in output["notes"]) == 3
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


# Far too short to be good: the stories are about the way, not the score.
QUICK = ("--encoder", "{kind: recurrent, width: 8, blocks: 1}", "--updates", 12)
FEW = ("--folds", 3, "--bootstrap", 20, "--threads", 1, "--quiet")


def from_project_to_answer(project: Path, new: object, *words: object) -> pl.DataFrame:
    """Evaluate, report, fit and detect; the detections."""
    output = call_json("evaluate", project, *FEW, *QUICK)
    low, high = output["rows"]["fast"]["tuned"]["mAP"]["interval"]
    assert 0 <= low <= high <= 1
    page = project / "report.html"
    call("report", project / "evaluation", "--out", page)
    assert page.stat().st_size > 1_000_000
    assert "cross-validated" in call_json("fit", project, *QUICK, "--quiet")
    out = project / "found.csv"
    detect = ("detect", project / "model.safetensors", new, "--out", out, "--quiet", *words)
    assert call_json(*detect, "--update")["recordings"] > 0
    assert call_json(*detect, "--update")["recordings"] == 0
    return pl.read_csv(out)


@pytest.mark.slow
def test_the_sleep_researcher_gets_nights_with_local_times(tmp_path: Path) -> None:
    write_actigraphy(tmp_path)
    exports, events, project = (tmp_path / name for name in ("exports", "events.csv", "project"))
    nights = "".join(f"P{n:02};22.10.2024 12:00;26.10.2024 12:00\n" for n in range(1, 7))
    (tmp_path / "annotated.csv").write_text(f"Participant;Start;End\n{nights}")
    words = ("--recordings", exports, *ZONE)
    sleep = ("--interval", "sleep=onset,wakeup")
    call("convert", tmp_path / "diary.csv", *words, *sleep, "--out", events)
    call("new", project, *words, "--events", events, "--annotated", tmp_path / "annotated.csv")
    table = from_project_to_answer(project, exports, "--sensitivity", 0.8)
    assert table.columns[-2:] == ["local_start", "local_end"]
    clocks = {text[-6:] for text in table["local_start"]}
    assert clocks <= {"+02:00", "+01:00"}
    first = datetime.fromisoformat(table["local_start"][0])
    begin = datetime(2024, 10, 22, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    passed = (first.astimezone(UTC) - begin.astimezone(UTC)).total_seconds()
    assert passed == pytest.approx(table["start"][0], abs=1)


@pytest.mark.slow
def test_the_clinical_engineer_needs_only_the_new_files(tmp_path: Path) -> None:
    pytest.importorskip("edfio")
    write_clinic(tmp_path)
    clinic, store, project = (tmp_path / name for name in ("clinic", "store", "project"))
    (clinic / "pat99_night.edf").unlink()
    call(
        "prepare", clinic, "--out", store, "--channel", "Fp1", "--channel", "T7", "--rate", 50,
        "--group-pattern", r"(pat\d+)",
    )  # fmt: skip
    columns = ("--column", "start=Begin", "--code", "sz=seizure")
    call("new", project, "--recordings", store, "--events", tmp_path / "seizures.csv", *columns)
    # Raw files of three rates and spellings, read and resampled as the store was.
    table = from_project_to_answer(project, clinic, "--sensitivity", 0.3)
    assert {"start", "end", "duration", "local_start"} <= {*table.columns}
    assert {*table["event"]} <= {"seizure"}
    call("detect", project / "model.safetensors", store, "--out", tmp_path / "s.csv", "--all")
    call("detect", project / "model.safetensors", clinic, "--out", tmp_path / "r.csv", "--all")
    stored, raw = (pl.read_csv(tmp_path / name) for name in ("s.csv", "r.csv"))
    assert stored.drop("score").equals(raw.drop("score"))
    np.testing.assert_allclose(stored["score"], raw["score"], rtol=1e-4)


@pytest.mark.slow
def test_the_industrial_engineer_goes_on_from_one_long_log(tmp_path: Path) -> None:
    write_log(tmp_path)
    log, faults, project = (tmp_path / name for name in ("log.csv", "faults.csv", "project"))
    layout = ("--recording", "Machine", "--zone", "Asia/Kolkata")
    columns = [f"--column={role}={name}" for role, name in
               (("recording", "Machine"), ("event", "Fault"), ("time", "When"))]  # fmt: skip
    with pytest.raises(BdlError, match="--regular"):
        call("inspect", log, *layout)
    output = call_json("inspect", log, *layout, "--regular", "--events", faults, *columns)
    assert output["recordings"]["recordings"] == 6
    assert 0 < output["recordings"]["missing"] < 0.02
    assert output["events"]["outside"] == 0
    call("new", project, "--recordings", log, *layout, "--regular", "--events", faults, *columns)
    table = from_project_to_answer(project, log, "--sensitivity", 1)
    assert table.columns == ["recording", "event", "time", "score", "local_time"]
    assert {*table["event"]} <= {"leak"}
    assert set(table["recording"]) <= {f"M{n}" for n in range(1, 7)}


def test_a_person_who_only_scores(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    write_scorer(tmp_path)
    roles = ("--column=recording=file", "--column=event=kind", "--column=time=t",
             "--column=score=conf")  # fmt: skip
    for name in ("tool-a", "tool-b"):
        call("convert", tmp_path / f"{name}.csv", *roles, "--out", tmp_path / f"{name}-bdl.csv")
    truth = tmp_path / "truth-bdl.csv"
    call("convert", tmp_path / "truth.csv", "--column", "time=Seconds", "--out", truth)
    tables = [tmp_path / f"tool-{letter}-bdl.csv" for letter in "ab"]
    tolerances = ("--tolerance", 5, "--tolerance", 15)
    scores = [call_json("score", "--truth", truth, "--detections", table, *tolerances)["mAP"]
              for table in tables]  # fmt: skip
    assert scores[0] > scores[1] > 0
    page = tmp_path / "report.html"
    call("report", *tables, "--truth", truth, *tolerances, "--bootstrap", 0, "--out", page)
    assert page.stat().st_size > 1_000_000
