"""Requests: what they answer, and whom they refuse."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bdl import Events, Recording, Recordings
from bdl.explore.pyramid import TILE
from bdl.formats import prepare, read_events
from explore_sessions import TOKEN, Client, make_events, make_recordings

Served = Callable[..., Client]
BAD = ["../../x", "<img src=x onerror=alert(1)>", "a b", "nul\u00e9", "%2e%2e"]


def test_the_session_and_a_recording_say_what_the_page_needs(served: Served) -> None:
    client = served(model=True)
    session = client.get("/api/session")
    assert [row["id"] for row in session["recordings"]] == ["rec00", "rec01", "rec02"]
    assert session["recordings"][0]["labels"] == 10
    assert session["intervals"] == [
        {"name": "walk", "onset": "walk:onset", "offset": "walk:offset"}
    ]
    info = client.get("/api/recordings/1")
    assert info["channels"] == ["x", "y"]
    assert info["start"] == 1709281800.0
    assert info["offsets"] == [[0.0, 3600.0]]
    assert info["density"]["step"] == pytest.approx(0.2)
    events = client.get("/api/recordings/1/events")
    assert events["labels"]["time"] == sorted(events["labels"]["time"])
    assert len(events["detections"]["score"]) == 10


def test_tiles_are_the_samples(served: Served) -> None:
    recordings = make_recordings(1, ids=lambda i: BAD[0])
    client = served(recordings, index=None)
    values = recordings[BAD[0]].values
    status, headers, content = client.raw("GET", "/api/recordings/0/tiles/0/1?channels=1")
    assert (status, headers["content-type"]) == (200, "application/octet-stream")
    np.testing.assert_array_equal(np.frombuffer(content, "<f4"), values[TILE : 2 * TILE, 1])
    pairs = np.frombuffer(client.raw("GET", "/api/recordings/0/tiles/2/0")[2], "<f4")
    assert pairs.reshape(2, -1, 2)[0, 0, 1] == values[:16, 0].max()
    filtered = client.raw("GET", "/api/recordings/0/tiles/0/0?channels=0&high_pass=1")[2]
    assert len(filtered) == 4 * TILE
    assert filtered != client.raw("GET", "/api/recordings/0/tiles/0/0?channels=0")[2]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/recordings/99", 400),
        ("/api/recordings/-1", 404),
        ("/api/recordings/..%2f..%2fetc%2fpasswd", 404),
        ("/api/recordings/0/tiles/0/99999", 400),
        ("/api/recordings/0/tiles/77/0", 400),
        ("/api/recordings/0/tiles/0/0?channels=9", 400),
        ("/api/recordings/0/tiles/0/0?channels=0,0", 400),
        ("/api/recordings/0/tiles/0/LONG", 404),
        ("/api/recordings/LONG", 404),
        ("/api/recordings/0/tiles/0/0?channels=x", 400),
        ("/api/recordings/0/tiles/0/0?low_pass=-3", 400),
        ("/api/recordings/0/tiles/0/0?low_pass=999", 400),
        ("/api/recordings/0/density/0/0", 400),
        ("/api/changes?after=-1", 400),
        ("/../pyproject.toml", 404),
        ("/static/main.js", 404),
        ("/server.py", 404),
        ("/%2e%2e/server.py", 404),
    ],
)
def test_nothing_else_is_served(served: Served, path: str, status: int) -> None:
    got, _, content = served().raw("GET", path.replace("LONG", "9" * 5000))
    assert got == status
    assert b"Traceback" not in content


def test_every_request_needs_the_token(served: Served) -> None:
    client = served()
    paths = ["/", "/main.js", "/style.css", "/api/session", "/api/recordings/0/tiles/0/0", "/x"]
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": f"bdl-{client.port}=no"}):
        for path in paths:
            assert client.raw("GET", path, headers=headers)[0] == 401
    assert client.raw("POST", "/api/edits", {"changes": []}, headers={})[0] == 401
    # Nor does a token that is no ASCII, a nested body or an odd address end in an error of ours.
    assert client.raw("GET", "/?token=%C3%A9", headers={})[0] == 401
    assert client.raw("GET", "/", headers={"Authorization": "Bearer \xe9"})[0] == 401
    assert client.raw("POST", "/api/edits", b"[" * 100_000)[0] == 400
    status, headers, _ = client.raw("GET", f"/?token={TOKEN}", headers={})
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    own = {"Cookie": cookie.partition(";")[0]}
    status, headers, page = client.raw("GET", "/", headers=own)
    assert status == 200
    assert b"bdl explore" in page
    assert "default-src 'self'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_foreign_pages_are_refused_even_with_the_token(
    served: Served, headers: dict[str, str]
) -> None:
    client = served()
    given = {"Authorization": f"Bearer {TOKEN}", **headers}
    before = client.session.labels.corrected()
    for method, path in (("GET", "/api/session"), ("POST", "/api/edits"), ("POST", "/api/undo")):
        assert client.raw(method, path, {} if method == "POST" else None, headers=given)[0] == 403
    assert client.session.labels.corrected() == before


def test_edits_undo_and_redo(served: Served) -> None:
    client = served()
    label = client.session.labels.get(0)
    before = label.model_dump(mode="json")
    change = {"id": 0, "before": before, "after": {**before, "time": 1.5, "comment": "clear"}}
    answer = client.post("/api/edits", {"annotator": "Ann", "changes": [change]})
    assert (answer["number"], answer["undoable"]) == (1, 1)
    lines = client.session.labels.journal.path.read_text().splitlines()
    assert json.loads(lines[1])["changes"][0]["after"]["time"] == 1.5
    undone = client.post("/api/undo", {"number": 1})
    assert undone["entry"]["changes"][0]["after"]["time"] == before["time"]
    assert client.post("/api/redo", {"number": 1})["undoable"] == 1
    assert [e["number"] for e in client.get("/api/changes?after=1")["entries"]] == [2, 3]


def test_two_windows_cannot_overwrite_each_other(served: Served) -> None:
    client = served()
    before = client.session.labels.get(3).model_dump(mode="json")
    answers = []

    def edit(time: float) -> None:
        change = {"id": 3, "before": before, "after": {**before, "time": time}}
        answers.append(client.raw("POST", "/api/edits", {"changes": [change]})[0])

    threads = [threading.Thread(target=edit, args=(time,)) for time in np.arange(1.0, 9.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200] + 7 * [409]
    assert len(client.session.labels.journal.entries) == 1
    conflict = client.post("/api/undo", {"number": 7}, status=409)
    assert "meanwhile" in conflict["error"]


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"[1]",
        {"changes": [{"id": 0}]},
        {"changes": [{"id": -1, "after": {"recording": "rec00", "event": "x", "time": 1}}]},
        {"changes": [{"id": 0, "after": {"recording": "zzz", "event": "x", "time": 1}}]},
        {"changes": [{"id": 0, "after": {"recording": "rec00", "event": "", "time": 1}}]},
        {"changes": [{"id": 0, "after": {"recording": "rec00", "event": "a\nb", "time": 1}}]},
        {"changes": [{"id": 0, "after": {"recording": "rec00", "event": "x", "time": 1e9}}]},
        {"changes": [{"id": 0, "after": {"recording": "rec00", "event": "x", "time": "NaN"}}]},
        {"path": "../../x"},
        {},
        b'{"annotator": "' + b"x" * 2_000_000 + b'"}',
    ],
)
def test_bad_edits_are_refused_and_nothing_is_written(served: Served, body: object) -> None:
    client = served()
    status, _, content = client.raw("POST", "/api/edits", body)
    assert status == 400
    assert json.loads(content)["error"]
    assert not client.session.labels.journal.path.exists()


def test_export_goes_beside_the_journal_and_nowhere_else(served: Served, tmp_path: Path) -> None:
    client = served()
    written = client.post("/api/export", {"format": "bdl"})
    assert Path(written["table"]) == tmp_path / "events.corrected.csv"
    assert Path(written["log"]).exists()
    for format in ("../../x", "nothing"):
        assert "expected" in client.post("/api/export", {"format": format}, status=400)["error"]
    client.post("/api/export", {"format": "bdl", "path": "/tmp/x"}, status=400)
    assert client.post("/api/export", {"format": "kaggle"})["table"].endswith(".kaggle.csv")
    for format in ("edf", "wfdb", "audacity", "label-studio"):
        written = client.post("/api/export", {"format": format})
        assert read_events(written["table"], format=format)
    (tmp_path / "events.csv").write_text("recording,event,time\n")
    assert client.get("/api/changes")["changed"] is True
    assert "changed on disk" in client.post("/api/export", {}, status=409)["error"]


def test_a_recording_that_is_gone_or_damaged_says_so(served: Served, tmp_path: Path) -> None:
    values = np.zeros((5000, 1), np.float32)
    made = Recordings.of([Recording.of(values, id=id, period=1.0) for id in ("a", "b")])
    store = prepare(made, tmp_path / "store")
    client = served(store, Events.of("a", "x", [1.0]))
    assert client.raw("GET", "/api/recordings/0/tiles/0/0")[0] == 200
    (tmp_path / "store" / "a.npy").unlink()
    file = tmp_path / "store" / "b.npy"
    file.write_bytes(file.read_bytes()[:-8])
    for number, message in ((0, "a.npy cannot be read"), (1, "truncated")):
        for path in (f"/api/recordings/{number}", f"/api/recordings/{number}/tiles/0/0"):
            status, _, content = client.raw("GET", path)
            assert status == 400
            assert message in json.loads(content)["error"]


def test_the_queue_counts_down_and_agreement_is_shown(served: Served) -> None:
    recordings = make_recordings(2)
    labels = make_events(recordings)
    other = Events.of(labels.recording, labels.event, labels.time + 0.3)
    client = served(recordings, labels, model=True, others={"bob": other}, tolerance=0.2)
    queue = client.get("/api/queue")["items"]
    assert {item["kind"] for item in queue} >= {"unsupported", "unlabelled", "displaced"}
    review = {"item": queue[0]["key"], "verdict": "accept"}
    client.post("/api/edits", {"review": review})
    again = client.get("/api/queue")["items"]
    assert [item["verdict"] for item in again[:2]] == ["accept", None]
    rows = client.get("/api/agreement")["rows"]
    scores = {row["tolerance"]: row["F1"] for row in rows if row["event"] == "all"}
    assert scores[0.2] < 0.5
    assert scores[1.0] == 1.0


def test_a_hundred_thousand_labels_of_one_recording(served: Served) -> None:
    recordings = Recordings.of([Recording.of(np.zeros(1_000_000), id="a", period=0.01)])
    times = np.sort(np.random.default_rng(0).uniform(0, 9_999, 100_000))
    client = served(recordings, Events.of("a", "beat", times))
    events = client.get("/api/recordings/0/events")["labels"]
    assert len(events["time"]) == 100_000
    before = client.session.labels.get(50_000).model_dump(mode="json")
    client.post("/api/edits", {"changes": [{"id": 50_000, "before": before}]})
    assert len(client.get("/api/recordings/0/events")["labels"]["time"]) == 99_999
    assert client.get("/api/session")["recordings"][0]["labels"] == 99_999
