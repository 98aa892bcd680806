"""`bdl live` on a WebSocket, an MQTT topic and a stream of the Lab Streaming Layer."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import pytest

from bdl.errors import ConfigError
from bdl.live.transports import open_transport
from live_commands import (
    await_consumer,
    before_the_end,
    begin,
    detections,
    finished,
    free_port,
    live,
    model,
    ndjson,
    samples_in,
    signal_values,
    through_mqtt,
    wait_for,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.bdl").write_bytes(model())
    return tmp_path


@pytest.mark.parametrize("reply", [False, True])
def test_a_websocket(folder: Path, reply: bool) -> None:
    server = pytest.importorskip("websockets.sync.server")
    lines = ndjson(signal_values())
    expected = live(folder, "\n".join(lines), "--all", out="expected.ndjson")
    got: list[dict] = []

    def send(connection) -> None:
        for first in range(0, len(lines), 50):
            connection.send("\n".join(lines[first : first + 50]))
        connection.send("garbage")
        while reply and len(got) < len(before_the_end(expected)):
            got.append(json.loads(connection.recv(timeout=20)))

    with server.serve(send, "127.0.0.1", 0) as serving:
        port = serving.socket.getsockname()[1]
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        child = begin(folder, f"ws://127.0.0.1:{port}/ward", *(["--reply"] if reply else []))
        code = finished(child)
        serving.shutdown()
    errors = (folder / "errors.txt").read_text()
    assert "line 1201: not JSON" in errors
    if reply:
        assert got == before_the_end(expected)
        assert len(got) > 3
    else:
        assert code == 0, errors
        assert detections(folder / "out.ndjson") == expected


def test_nobody_answers(folder: Path) -> None:
    pytest.importorskip("websockets")
    assert finished(begin(folder, f"ws://127.0.0.1:{free_port()}/")) == 2
    assert "no WebSocket server answers" in (folder / "errors.txt").read_text()


def test_an_mqtt_topic(folder: Path) -> None:
    lines = ndjson(signal_values())
    expected = live(folder, "\n".join(lines), "--all", out="expected.ndjson")
    known = before_the_end(expected)  # a topic has no end
    assert through_mqtt(folder, "ward/3", lines, len(known)) == known
    assert "stopped" in (folder / "errors.txt").read_text()


def test_a_stream_of_the_lab_streaming_layer(folder: Path) -> None:
    lsl = pytest.importorskip("pylsl")
    values = signal_values()
    expected = live(folder, "\n".join(ndjson(values)), "--all", out="expected.ndjson")
    name = f"bdl-test-{os.getpid()}"
    state = folder / "lsl.state"
    child = begin(folder, f"lsl:{name}", "--state", state, "--save-every", 0)
    about = lsl.StreamInfo(name, "EEG", 1, 1.0, "float32", name)
    channels = about.desc().append_child("channels")
    channels.append_child("channel").append_child_value("label", "channel_0")
    outlet = lsl.StreamOutlet(about, max_buffered=3600)
    await_consumer(outlet, child)
    begun = lsl.local_clock()
    for first in range(0, len(values), 10):
        part = values[first : first + 10].tolist()
        outlet.push_chunk(part, begun + first + len(part) - 1)
        time.sleep(0.01)
    try:
        wait_for(lambda: samples_in(state, folder / "model.bdl") == len(values))
    finally:
        del outlet  # the end of the stream
    assert finished(child) == 0, (folder / "errors.txt").read_text()
    assert detections(folder / "out.ndjson") == expected


def test_sources_are_named_by_their_scheme() -> None:
    for url in ("ftp://x", "mqtt://x", "lsl:", "file.csv"):
        with pytest.raises(ConfigError, match="lsl:NAME expected"):
            open_transport(url)
