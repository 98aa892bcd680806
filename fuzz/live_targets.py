"""Streams: the state files of live sessions, and what clients send to a service."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np

from bdl import Detector, Events, Recording, Recordings
from bdl.detector.stream_state import pack, unpack
from bdl.live.client_limits import Limits
from bdl.live.line_formats import Sample
from bdl.live.output_file import OutputFile
from bdl.live.session import LiveSession
from bdl.live.sessions import Sessions
from bdl.live.stepping import Stepping
from bdl.live.stream_socket import StreamSocket
from fuzz.mutation import mutate_json
from fuzz.target import Target, WrongError

TOKEN = "fuzz"
REQUEST = (
    f"GET /stream/ward?confirmed=0&start=2026-01-31T22:00:00%2B01:00 HTTP/1.1\r\nHost: a\r\n"
    f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {'x' * 22}==\r\n"
    f"Sec-WebSocket-Version: 13\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
).encode()
DECODERS = {
    "peaks": {"kind": "peaks", "separation": 30.0, "smooth": 6.0, "smoothing": "trailing"},
    "forward-mass": {"kind": "forward-mass"},
}


def targets() -> Iterator[Target]:
    """Two targets per state, its bytes and its content; messages, and all bytes of a socket."""
    for name, decoder in DECODERS.items():
        detector = _fitted(decoder)
        files = {"state": _state(detector)}

        def continued(folder: Path, detector: Detector = detector) -> None:
            _continue(detector, folder / "state")

        yield Target(f"live state {name}", files, ("state",), continued)
        yield Target(f"live state {name} resealed", files, ("state",), continued, _resealed)
    sessions = Sessions(detector, Limits(waiting=0.001))
    sent = {"message": b"\n".join(_samples(60)), "request": REQUEST}
    yield Target(
        "live messages", {"bytes": sent["message"]}, ("bytes",),
        lambda folder: _serve(sessions, REQUEST + _frame((folder / "bytes").read_bytes())),
    )  # fmt: skip
    yield Target(
        "live socket", {"bytes": REQUEST + _frame(sent["message"])}, ("bytes",),
        lambda folder: _serve(sessions, (folder / "bytes").read_bytes()),
    )  # fmt: skip


def _fitted(decoder: dict[str, object]) -> Detector:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4, 200, 2))
    values[:, [50, 150]] += 20
    recordings = [
        Recording.of(samples, id=id, period=1.0, channels=["x", "y"])
        for id, samples in zip("abcd", values, strict=True)
    ]
    detector = Detector(
        lag=20.0,
        encoder={"kind": "recurrent", "width": 4, "blocks": 1, "bidirectional": False},
        features={"stride": 5},
        decoder=decoder,
        tolerances=(10.0,),
        training={"epochs": 1},
        selection={"folds": 0},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return detector.fit(
            Recordings.of(recordings), Events.of([*"aabbccdd"], "spike", [50.0, 150.0] * 4)
        )


def _samples(count: int, first: int = 0) -> list[bytes]:
    rng = np.random.default_rng(first)
    return [
        json.dumps({"time": first + i, "values": values.round(3).tolist()}).encode()
        for i, values in enumerate(rng.normal(size=(count, 2)))
    ]


def _state(detector: Detector) -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "state"
        session = LiveSession(detector, "ward", _Nowhere(), state=file, save_every=0.0)
        session.push([Sample(float(i), [float(i % 7), 1.0]) for i in range(83)])
        session.stop()
        return file.read_bytes()


class _Nowhere(OutputFile):
    """An output that forgets its lines."""

    def place(self) -> None:
        return None

    def write(self, lines: bytes) -> None:
        pass


def _continue(detector: Detector, state: Path) -> None:
    """Continue from a state, and go on for a while."""
    session = LiveSession(detector, "ward", _Nowhere(), state=state)
    at = float(session.stream.samples)
    if not np.isfinite(at) or at < 0:
        raise WrongError("a stream of so many samples")
    session.push([Sample(at + i, [float(i % 5), 1.0]) for i in range(100)])
    session.finish()


def _resealed(content: bytes, rng: np.random.Generator) -> bytes:
    """A state whose header or arrays are odd, under digests that fit."""
    header, parts = unpack(content, "state")
    inner, arrays = unpack(parts["live"]["stream"].tobytes(), "state")
    kind = int(rng.integers(0, 3))
    if kind == 0:
        header = _odd(header, rng)
    elif kind == 1:
        inner = _odd(inner, rng)
    else:
        part = sorted(arrays)[int(rng.integers(0, len(arrays)))]
        name = sorted(arrays[part])[int(rng.integers(0, len(arrays[part])))]
        array = arrays[part][name]
        kinds = [None, array[:0], array[None], array.astype(np.float16)]
        if name.endswith("numbers"):  # from which places in other arrays follow
            kinds += [array * 0 - 1, array + 2**40, np.roll(array, 1)]
        chosen = kinds[int(rng.integers(0, len(kinds)))]
        if chosen is None:
            del arrays[part][name]
        else:
            arrays[part][name] = chosen
    parts["live"]["stream"] = np.frombuffer(pack(inner, arrays), np.uint8)
    return pack(header, parts)


def _odd(header: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    mutated = json.loads(mutate_json(json.dumps(header).encode(), rng) or b"{}")
    return mutated if isinstance(mutated, dict) else {}


def _frame(message: bytes) -> bytes:
    return b"\x81\xfe" + len(message).to_bytes(2, "big") + bytes(4) + message


def _serve(sessions: Sessions, received: bytes) -> None:
    """Give bytes to the socket of a service, all at once and cut, and step."""

    async def run() -> None:
        for size in (len(received), 97):
            transport = _Transport()
            state = SimpleNamespace(connections=set())
            client = StreamSocket(
                Stepping(sessions), TOKEN, config=None, server_state=state, app_state=None
            )
            client.connection_made(transport)
            for first in range(0, len(received), max(size, 1)):
                if not transport.is_closing():
                    client.data_received(received[first : first + size])
            sessions.step()
            client.connection_lost(None)
            for session in sessions.known.values():
                session.left = -np.inf
            sessions.forget()
            if sessions.known:
                raise WrongError("a session without a client is left")

    asyncio.run(run())


class _Transport(asyncio.Transport):
    """Takes what is sent to a client."""

    def __init__(self) -> None:
        super().__init__()
        self._closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def close(self) -> None:
        self._closed = True

    def abort(self) -> None:
        self._closed = True

    def is_closing(self) -> bool:
        return self._closed

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass
