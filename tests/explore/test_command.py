"""``bdl explore`` as a program: its first line, its export, and that no kill loses an edit."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from bdl import Events, read_events, write_events
from bdl.errors import ConfigError, InputError, OutputError
from bdl.explore.journal import Journal
from bdl.explore.table_state import TableState
from bdl.formats import prepare
from calling import call
from explore_sessions import make_events, make_recordings

HTTPConnection = http.client.HTTPConnection


def files(tmp_path: Path) -> tuple[Path, Path]:
    recordings = make_recordings(2)
    prepare(recordings, tmp_path / "store")
    write_events(make_events(recordings), tmp_path / "events.csv")
    return tmp_path / "store", tmp_path / "events.csv"


def started(tmp_path: Path, *words: object) -> tuple[subprocess.Popen[str], int, str]:
    """A running program, its port and its token."""
    store, events = tmp_path / "store", tmp_path / "events.csv"
    program = subprocess.Popen(
        [sys.executable, "-m", "bdl", "explore", "--recordings", store, "--events", events,
         "--no-browser", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    address = urlsplit(program.stdout.readline().strip())
    return program, address.port, parse_qs(address.query)["token"][0]


def request(port: int, token: str, method: str, path: str, body: Any = None) -> Any:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    data = None if body is None else json.dumps(body)
    connection.request(method, path, data, {"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    content = json.loads(answer.read())
    connection.close()
    assert answer.status == 200, content
    return content


def test_the_first_line_is_the_address_and_export_writes_the_corrected_table(
    tmp_path: Path,
) -> None:
    store, events = files(tmp_path)
    original = events.read_bytes()
    program, port, token = started(tmp_path)
    try:
        for _ in range(100):
            try:
                rows = request(port, token, "GET", "/api/session")["recordings"]
                break
            except ConnectionError:
                time.sleep(0.1)
        assert [row["id"] for row in rows] == ["rec00", "rec01"]
        new = {"recording": "rec00", "event": "walk:onset", "time": 1.0}
        request(port, token, "POST", "/api/edits", {"changes": [{"id": 0, "after": new}]})
        with pytest.raises(InputError, match="another bdl explore"):
            call("explore", "--recordings", store, "--events", events, "--out", "x.csv")
    finally:
        program.send_signal(signal.SIGINT)
        program.wait(20)
    target = tmp_path / "corrected.parquet"
    call("explore", "--recordings", store, "--events", events, "--out", target)
    assert len(read_events(target)) == 21
    assert (tmp_path / "corrected.parquet.changes.csv").exists()
    assert events.read_bytes() == original
    events.write_bytes(original + b"rec00,walk:onset,3.0\n")
    with pytest.raises(InputError, match="the table has changed since"):
        call("explore", "--recordings", store, "--events", events, "--out", target)


def test_bad_calls_say_what_is_wrong(tmp_path: Path) -> None:
    store, events = files(tmp_path)
    with pytest.raises(ConfigError, match="--recordings and --dataset expected, got none"):
        call("explore", "--events", events, "--no-browser")
    with pytest.raises(ConfigError, match="a project or run directory and --recordings"):
        call("explore", tmp_path, "--recordings", store, "--no-browser")
    with pytest.raises(ConfigError, match="never overwritten"):
        call("explore", "--recordings", store, "--events", events, "--out", events)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        with pytest.raises(OutputError, match=f"port {port} cannot be used"):
            call("explore", "--recordings", store, "--no-browser", "--port", port)


def test_a_project_of_bdl_new_is_enough(tmp_path: Path) -> None:
    store, events = files(tmp_path)
    call("new", tmp_path / "mine", "--recordings", store, "--events", events)
    call("explore", tmp_path / "mine", "--out", tmp_path / "same.csv")
    assert read_events(tmp_path / "same.csv") == read_events(events)


@pytest.mark.slow
def test_no_kill_loses_an_acknowledged_edit(tmp_path: Path) -> None:
    """Twenty times a script edits while the program is killed at a random moment."""
    files(tmp_path)
    rng, moments = np.random.default_rng(0), np.random.default_rng(1)
    acknowledged: list[tuple[int, float]] = []
    journal = tmp_path / "events.csv.journal"

    def edit(port: int, token: str, number: int) -> None:
        while True:
            number += 1
            at = round(float(rng.uniform(0, 399)), 2)
            after = {"recording": "rec00", "event": "walk:onset", "time": at}
            try:
                answer = request(
                    port, token, "POST", "/api/edits", {"changes": [{"id": 0, "after": after}]}
                )
            except (OSError, http.client.HTTPException, ValueError):
                return
            acknowledged.append((answer["number"], at))

    for lives in range(1, 21):
        program, port, token = started(tmp_path)
        while True:
            try:
                request(port, token, "GET", "/api/changes?after=0")
                break
            except ConnectionError:
                time.sleep(0.02)
        editor = threading.Thread(target=edit, args=(port, token, len(acknowledged)))
        goal = len(acknowledged) + int(moments.integers(5, 16))
        editor.start()
        while editor.is_alive() and len(acknowledged) < goal:
            time.sleep(0.001)
        time.sleep(float(moments.uniform(0, 0.02)))
        os.kill(program.pid, signal.SIGKILL)
        program.wait()
        editor.join()
        table = TableState.of(tmp_path / "events.csv")
        read = Journal(journal, table="events.csv", digest=table.digest)
        there = {e.number: e.changes[0].after.time for e in read.entries}
        assert all(there.get(number) == at for number, at in acknowledged)
        # At most the last edit of each life was written and not acknowledged.
        assert len(acknowledged) <= len(there) <= len(acknowledged) + lives
        with open(journal, "ab") as file:  # as if the kill had cut a line
            file.write(b'{"number": ')
    assert len(acknowledged) >= 100
    call("explore", "--recordings", tmp_path / "store", "--events", tmp_path / "events.csv",
         "--out", tmp_path / "all.csv")  # fmt: skip
    kept = read_events(tmp_path / "all.csv")
    assert isinstance(kept, Events)
    assert {at for _, at in acknowledged} <= {*kept.time.tolist()}
