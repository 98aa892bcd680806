"""The journal and the labels: nothing acknowledged is lost, nothing is overwritten."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl import Events, read_events
from bdl.errors import BdlError, ConfigError, InputError
from bdl.explore import export, open_session
from bdl.explore.edited_labels import EditedLabels
from bdl.explore.journal import Change, ConflictError, Journal, Label, Review
from bdl.recording_info import RecordingInfo

INFOS = {id: RecordingInfo(id, 1000, ("x",), 1.0) for id in ("a", "b")}
TABLE = Events.of(["a", "a", "b"], ["on", "off", "on"], [10.0, 20.0, 5.0])


def opened(file: Path, digest: str = "one") -> EditedLabels:
    return EditedLabels(TABLE, INFOS, Journal(file, table="events.csv", digest=digest))


def moved(labels: EditedLabels, id: int, time: float) -> Change:
    before = labels.get(id)
    return Change(id=id, before=before, after=before.replace(time=time))


def added(time: float, event: str = "on", recording: str = "a") -> Change:
    return Change(id=0, after=Label(recording=recording, event=event, time=time))


def test_every_kind_of_edit_and_back(tmp_path: Path) -> None:
    labels = opened(tmp_path / "j")
    labels.edit([moved(labels, 0, 12.0)], annotator="Ann")
    labels.edit([added(100.0), added(130.0, "off")])  # an interval: both or none
    labels.edit([Change(id=1, before=labels.get(1))])
    labels.edit([Change(id=2, before=labels.get(2), after=labels.get(2).replace(event="off"))])
    labels.edit([Change(id=2, before=labels.get(2), after=labels.get(2).replace(comment="sure"))])
    wanted = [("a", "on", 12.0), ("b", "off", 5.0), ("a", "on", 100.0), ("a", "off", 130.0)]

    def rows(labels: EditedLabels) -> list[tuple[str, str, float]]:
        table = labels.corrected()
        return [*zip(table.recording, table.event, table.time.tolist(), strict=True)]

    assert rows(labels) == wanted
    assert labels.counts() == {"a": 3, "b": 1}
    assert labels.columns("b")["comment"] == {2: "sure"}
    for _ in range(5):
        labels.undo()
    assert labels.corrected() == TABLE
    assert labels.undoable is None
    with pytest.raises(ConflictError, match="nothing to undo"):
        labels.undo()
    for _ in range(5):
        labels.redo()
    assert rows(opened(tmp_path / "j")) == wanted  # read again from the journal
    labels.undo()
    labels.edit([added(500.0)])
    with pytest.raises(ConflictError, match="nothing to redo"):
        labels.redo()


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from("amdur"), st.integers(0, 9), st.integers(0, 999))))
def test_a_journal_read_again_gives_the_same_labels(
    steps: list[tuple[str, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("journal") / "j"
    labels = opened(file)
    for action, place, time in steps:
        there = [i for i in range(labels.next_id) if labels.get(i)]
        try:
            if action == "a":
                labels.edit([added(float(time))])
            elif action == "m" and there:
                labels.edit([moved(labels, there[place % len(there)], float(time))])
            elif action == "d" and there:
                id = there[place % len(there)]
                labels.edit([Change(id=id, before=labels.get(id))])
            elif action == "u":
                labels.undo()
            elif action == "r":
                labels.redo()
        except (ConflictError, ConfigError):
            continue
        again = opened(file)
        assert again.corrected() == labels.corrected()
        assert (again.undoable, again.redoable) == (labels.undoable, labels.redoable)
        for id in INFOS:
            assert again.columns(id) == labels.columns(id)
            assert len(labels.columns(id)["id"]) == labels.counts().get(id, 0)


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_last_line_that_is_cut_is_left_out_and_then_replaced(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "j"
    labels = opened(file)
    labels.edit([moved(labels, 0, 11.0)])
    kept = file.read_bytes()
    labels.edit([moved(labels, 0, 12.0)])
    whole = file.read_bytes()
    file.write_bytes(whole[:-cut])
    again = opened(file)
    assert again.get(0).time == 11.0
    assert "never confirmed" in again.journal.notes[0]
    again.edit([moved(again, 0, 13.0)])
    assert file.read_bytes().startswith(kept)
    assert opened(file).get(0).time == 13.0


def without_checksums(lines: bytes) -> bytes:
    """A journal as earlier versions wrote it."""
    return re.sub(rb', "crc32": \d+', b"", lines)


def test_damage_before_the_last_line_is_an_error_that_names_it(tmp_path: Path) -> None:
    file = tmp_path / "j"
    labels = opened(file)
    for time in (11.0, 12.0, 13.0):
        labels.edit([moved(labels, 0, time)])
    lines = without_checksums(file.read_bytes()).splitlines(keepends=True)
    for damaged, message in (
        ([*lines[:2], lines[2][:20] + b"\n", lines[3]], "line 3"),
        ([lines[0], lines[2]], "line 2: entry 1 expected, got 2"),
        ([lines[0], lines[1].replace(b"10.0", b"10.5")], "line 2: label 0 has changed"),
        ([b'{"other": 1}\n', *lines[1:]], "not a journal"),
        ([lines[0].replace(b'"version": 1', b'"version": 9')], "version 1 expected, got 9"),
        ([lines[0], lines[1].replace(b'"changes"', b'"chances"')], "line 2: chances"),
    ):
        file.write_bytes(b"".join(damaged))
        with pytest.raises(BdlError, match=message):
            opened(file)


def test_a_changed_digit_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    labels = opened(tmp_path / "j")
    labels.edit([moved(labels, 0, 12.5)], annotator="Ann")
    labels.edit([added(100.0)])
    whole = (tmp_path / "j").read_bytes()
    begin = whole.index(b"\n")
    digits = [place for place in range(begin, len(whole)) if chr(whole[place]).isdigit()]
    for place in digits:
        other = str((whole[place] - ord("0") + 1) % 10).encode()
        (tmp_path / "j").write_bytes(whole[:place] + other + whole[place + 1 :])
        with pytest.raises(BdlError, match=r"j: line [23]"):
            opened(tmp_path / "j")
    (tmp_path / "j").write_bytes(without_checksums(whole))
    assert opened(tmp_path / "j").corrected() == labels.corrected()


def test_a_journal_of_another_content_is_refused(tmp_path: Path) -> None:
    labels = opened(tmp_path / "j")
    labels.edit([moved(labels, 0, 11.0)])
    with pytest.raises(InputError, match=r"another content of events\.csv.*--journal"):
        opened(tmp_path / "j", digest="two")


def test_what_has_changed_meanwhile_is_a_conflict_and_nothing_is_written(tmp_path: Path) -> None:
    labels = opened(tmp_path / "j")
    stale = moved(labels, 0, 12.0)
    labels.edit([moved(labels, 0, 11.0)])
    before = (tmp_path / "j").read_bytes()
    with pytest.raises(ConflictError, match="changed meanwhile"):
        labels.edit([added(50.0), stale])
    with pytest.raises(ConflictError, match="meanwhile"):
        labels.undo(7)
    assert (tmp_path / "j").read_bytes() == before
    assert len(labels.corrected()) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (added(-1.0), "from 0 to 1000"),
        (added(1001.0), "from 0 to 1000"),
        (added(1.0, recording="zzz"), "no recording 'zzz'"),
    ],
)
def test_labels_outside_are_refused(tmp_path: Path, change: Change, message: str) -> None:
    with pytest.raises(InputError, match=message):
        opened(tmp_path / "j").edit([change])
    assert not (tmp_path / "j").exists()


def test_verdicts_are_kept_and_undone(tmp_path: Path) -> None:
    labels = opened(tmp_path / "j")
    labels.edit([], review=Review(item="x", verdict="accept"))
    assert opened(tmp_path / "j").verdicts == {"x": "accept"}
    labels.undo()
    assert opened(tmp_path / "j").verdicts == {}


def test_one_program_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "j"
    with (
        Journal.opened(file, table="t", digest=""),
        pytest.raises(InputError, match="another bdl explore"),
        Journal.opened(file, table="t", digest=""),
    ):
        pass
    with Journal.opened(file, table="t", digest=""):
        pass


def session_files(tmp_path: Path) -> tuple[Path, Path]:
    table = tmp_path / "events.csv"
    table.write_text("recording,event,time\na,on,10\na,off,20\n")
    return table, tmp_path / "events.csv.journal"


def recordings() -> object:
    from bdl import Recording, Recordings

    return Recordings.of([Recording.of(np.zeros(1000), id="a", period=1.0)])


def test_export_writes_any_format_and_the_change_log(tmp_path: Path) -> None:
    table, journal = session_files(tmp_path)
    before = table.read_bytes()
    with open_session(recordings(), read_events(table), journal=journal, table=table) as session:
        first = session.labels.get(0)
        session.edit([Change(id=0, before=first, after=first.replace(time=15.0))], "Ann")
        session.edit([added(30.0)], "Bob")
        session.labels.undo()
        session.edit([], "Bob", Review(item="k", verdict="reject"))
        log = export(session, tmp_path / "new.parquet")
        assert read_events(tmp_path / "new.parquet").time.tolist() == [15.0, 20.0]
        rows = pl.read_csv(log)
        assert log.name == "new.parquet.changes.csv"
        assert rows["action"].to_list() == ["move", "add", "review"]
        assert rows["annotator"].to_list() == ["Ann", "Bob", "Bob"]
        assert rows["undone"].to_list() == [False, True, False]
        export(session, tmp_path / "steps.csv", format="kaggle")
        steps = read_events(tmp_path / "steps.csv", format="kaggle", period=1.0)
        assert sorted(steps.time.tolist()) == [15.0, 20.0]
        with pytest.raises(ConfigError, match="never overwritten"):
            export(session, table)
        table.write_text(table.read_text() + "a,on,99\n")
        assert session.table.changed
        with pytest.raises(ConflictError, match="changed on disk"):
            export(session, tmp_path / "late.csv")
        assert not (tmp_path / "late.csv").exists()
        table.write_bytes(before)
        assert not session.table.changed
    assert json.loads(journal.read_text().splitlines()[0])["table"] == "events.csv"
