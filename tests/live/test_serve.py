"""`bdl serve`: many clients over real sockets, and what they must not be able to do."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from bdl import Detector, Recording, load
from live_commands import model, ndjson, signal_values, wait_for

pytest.importorskip("onnxruntime")
pytest.importorskip("starlette")
websockets = pytest.importorskip("websockets.sync.client")
from websockets.exceptions import InvalidStatus  # noqa: E402
from websockets.frames import Frame, Opcode  # noqa: E402

TOKEN = "a token of the tests"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("serve")
    (folder / "model.bdl").write_bytes(model())
    Detector.load(folder / "model.bdl").export(folder / "model.onnx")
    return folder / "model.onnx"


@contextmanager
def serving(path: Path, *options: str) -> Iterator[str]:
    """The address of a running service, which ends cleanly by SIGTERM."""
    with running(path, *options) as (address, _):
        yield address


@contextmanager
def running(path: Path, *options: str) -> Iterator[tuple[str, int]]:
    """The address of a running service, and the number of its process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bdl", "serve", str(path), "--all", *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "BDL_TOKEN": TOKEN},
    )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("ws://127.0.0.1:")
        assert process.stdout.readline().strip() == TOKEN
        yield address, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


@pytest.fixture
def connect() -> Iterator[Callable[..., Any]]:
    """Opens connections, which are closed after the test."""
    with ExitStack() as opened:

        def client(address: str, name: str, *, query: str = "", token: str = TOKEN) -> Any:
            headers = {"Authorization": f"Bearer {token}"}
            url = f"{address}/stream/{name}{query}"
            return opened.enter_context(websockets.connect(url, additional_headers=headers))

        yield client


def finish(socket: Any) -> list[dict[str, Any]]:
    """End a stream; all messages but the last one."""
    socket.send('{"finish": true}')
    messages = []
    while True:
        messages.append(json.loads(socket.recv(timeout=20)))
        if "finished" in messages[-1]:
            return messages[:-1]


def closed(socket: Any) -> int:
    """The code with which the service closes a connection."""
    with suppress(Exception):  # iterating ends by itself after a normal close only
        for _ in socket:
            pass
    return int(socket.close_code)


def read(address: str, page: str, token: str = TOKEN) -> str:
    request = urllib.request.Request(
        address.replace("ws:", "http:") + page, headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return str(answer.read().decode())


def key(row: dict[str, Any]) -> tuple[str, float, float]:
    return row["event"], round(row["time"], 3), round(row["score"], 4)


def test_many_clients_get_the_detections_of_the_file(exported: Path, connect: Any):
    """One of them loses its connection, one sends garbage; the others do not notice."""
    values = signal_values()
    events = load(exported).detect(Recording.of(values, id="x", period=1.0))
    expected = sorted(
        (events.types[code], round(float(time), 3), round(float(score), 4))
        for code, time, score in zip(events.type_code, events.time, events.score, strict=True)
    )
    assert len(expected) > 3
    lines = ndjson(values)
    with serving(exported) as address:
        sockets = {name: connect(address, name) for name in ("a", "b", "c")}
        for socket in sockets.values():
            assert json.loads(socket.recv(timeout=20)) == {"samples": 0, "detections": 0}
        half = len(lines) // 2
        for first in range(0, half, 100):
            for socket in sockets.values():
                socket.send("\n".join(lines[first : first + 100]))
        sockets["c"].send("garbage")
        sockets["b"].close()
        received: dict[str, list[dict[str, Any]]] = {name: [] for name in sockets}
        again = connect(address, "b")  # it has confirmed nothing, and gets all of it again
        known = json.loads(again.recv(timeout=20))["samples"]  # what was on its way is lost
        again.send("\n".join(lines[known:half]))
        sockets["b"] = again
        for first in range(half, len(lines), 100):
            for socket in sockets.values():
                socket.send("\n".join(lines[first : first + 100]))
        for name, socket in sockets.items():
            received[name] = finish(socket)
        for name, messages in received.items():
            rows = [message for message in messages if "number" in message]
            assert [row["number"] for row in rows] == [*range(1, len(expected) + 1)]
            assert sorted(map(key, rows)) == expected
            problems = [message for message in messages if "problem" in message]
            assert len(problems) == (1 if name == "c" else 0)
        metrics = read(address, "/metrics")
        assert f"bdl_samples_total {3 * len(lines)}\n" in metrics
        assert f"bdl_detections_total {3 * len(expected)}\n" in metrics
        assert "# TYPE bdl_sessions gauge" in metrics
        assert json.loads(read(address, "/health", token=""))["status"] == "ok"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            read(address, "/metrics", token="wrong")
        assert closed(connect(address, "d", token="wrong")) == 1008
        assert closed(connect(address, "d", query="?start=yesterday")) == 1008


def test_limits_hold_and_other_streams_go_on(exported: Path, connect: Any):
    lines = ndjson(signal_values())
    options = ("--sessions", "3", "--message", "20000", "--rate", "50")
    with serving(exported, *options) as address:
        good, flood, large = (connect(address, name) for name in ("good", "flood", "large"))
        assert closed(connect(address, "one-too-many")) == 1013
        taken_over, good = good, connect(address, "good")
        taken_over.send(lines[0])
        assert closed(taken_over) == 1008
        large.send("x" * 30_000)
        assert closed(large) == 1009
        for first in range(0, 1_000, 200):
            flood.send("\n".join(lines[first : first + 200]))
        assert closed(flood) == 1008
        good.send("\n".join(lines[:400]))
        assert all("problem" not in message for message in finish(good))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_a_client_that_stops_reading_costs_no_memory(exported: Path, connect: Any):
    """It sends what the service has to complain about, and reads none of it."""
    lines = ndjson(signal_values())[:400]
    garbage = "\n".join(['{"values": ["' + "x" * 20_000 + '"]}'] * 40)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with running(exported) as (address, pid), socket.socket() as narrow:

        def memory() -> int:
            return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()

        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        narrow.connect(("127.0.0.1", int(address.rpartition(":")[2])))
        url = f"{address}/stream/deaf"
        with websockets.connect(url, sock=narrow, additional_headers=headers, max_queue=1) as deaf:
            deaf.send(garbage)
            before = memory()
            for _ in range(150):
                deaf.send(garbage)
            good = connect(address, "good")
            good.send("\n".join(lines))
            rows = finish(good)[1:]
            assert rows
            assert all("problem" not in row for row in rows)
            wait_for(lambda: "bdl_refused_total 6040\n" in read(address, "/metrics"), 120)
            assert memory() - before < 60e6
            narrow.shutdown(socket.SHUT_RDWR)  # a close would wait for an answer to be read
        again = connect(address, "deaf")  # the same stream, and this client listens
        again.send(garbage.partition("\n")[0])
        problems = [row["problem"] for row in finish(again)[1:]]
        assert problems[-1].startswith("left out: channel_0: a number expected, got 'xxx")
        assert len(problems[-1]) < 400  # not the whole line


def test_frames_in_pieces_and_requests_that_are_not_plain(exported: Path, connect: Any):
    """What the socket reads without the library must not differ from what the library reads."""
    values = signal_values()[:400]
    lines = ndjson(values)
    with serving(exported) as address:
        whole, pieces = connect(address, "whole"), connect(address, "pieces")
        whole.send("\n".join(lines))
        expected = finish(whole)[1:]
        assert len(expected) > 0
        assert pieces.recv(timeout=20)
        half = len(lines) // 2
        pieces.send(line + "\n" for line in lines[:half])  # one message in many frames
        assert pieces.ping().wait(20)  # a control frame, answered
        message = Frame(Opcode.TEXT, "\n".join(lines[half:]).encode()).serialize(mask=True)
        for first in range(0, len(message), 100):
            pieces.socket.sendall(message[first : first + 100])
            time.sleep(0.001)
        rows = finish(pieces)
        assert [{**row, "recording": "whole"} for row in rows] == expected
        pieces.send('{"confirm": 1}')
        assert pieces.ping().wait(20)
        pieces.send(lines[0])
        assert closed(pieces) == 1008  # the stream has ended
        late = connect(address, "late")
        late.send('{"finish": true}\n' + lines[0])
        assert closed(late) == 1008
        unmasked = connect(address, "unmasked")
        unmasked.socket.sendall(Frame(Opcode.TEXT, b"{}").serialize(mask=False))
        assert closed(unmasked) == 1002
        odd = connect(address, "odd")
        odd.send('{"time": NaN, "values": [1]}\n{"time": 0, "values": [1]}\n{"values": [1]}')
        odd.send(b"\xff\xfe")
        messages = finish(odd)[1:]
        assert any("finite number" in message["problem"] for message in messages)
        assert any("not UTF-8" in message["problem"] for message in messages)
        assert any("some have none" in message["problem"] for message in messages)
        with pytest.raises(InvalidStatus, match="404"):
            websockets.connect(f"{address}/elsewhere")
