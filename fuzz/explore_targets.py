"""What `bdl explore` is sent by a browser, its journal of edits, and its index of tiles."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

import numpy as np

from bdl.events import Events
from bdl.explore import open_session
from bdl.explore.server import application
from bdl.recording import Recording, Recordings
from fuzz.target import Target, WrongError, contents

TOKEN = "fuzz"
PORT = 1234
LABEL = {"recording": "a", "event": "beep", "time": 3.0}
CHANGE = {"id": 0, "before": {**LABEL, "comment": ""}, "after": {**LABEL, "time": 4.5}}
REVIEW = {"item": "unsupported|beep|3.0|None|a", "verdict": "accept"}
REQUESTS = (
    ("GET", "/api/session", None),
    ("GET", "/api/recordings/0", None),
    ("GET", "/api/recordings/0/events", None),
    ("GET", "/api/recordings/0/tiles/1/0?channels=0,1&highpass=0.01&lowpass=0.2", None),
    ("GET", "/api/changes?after=0", None),
    ("GET", "/api/queue", None),
    ("GET", "/api/agreement", None),
    ("POST", "/api/edits", {"annotator": "A", "changes": [CHANGE], "review": REVIEW}),
    ("POST", "/api/undo", {"annotator": "A", "number": 1}),
    ("POST", "/api/redo", {"annotator": "A", "number": 1}),
    ("POST", "/api/export", {"format": "bdl"}),
)
LINES = b"".join(
    b" ".join([method.encode(), path.encode(), b"" if body is None else json.dumps(body).encode()])
    + b"\n"
    for method, path, body in REQUESTS
)


def targets() -> Iterator[Target]:
    """Requests to a session, and a session on its own damaged files."""
    with TemporaryDirectory() as name:
        _use(Path(name), LINES)
        kept = contents(Path(name))
    journal = ("events.csv.journal",)
    tiles = tuple(file for file in kept if file.startswith("tiles"))
    assert tiles
    yield Target(
        "explore requests", {"requests": LINES}, ("requests",),
        lambda folder: _use(folder, (folder / "requests").read_bytes()),
    )  # fmt: skip
    reading = LINES[: LINES.index(b"POST")]
    for name, damaged in (("journal", journal), ("tiles", tiles)):
        files = {file: kept[file] for file in (*journal, *tiles)}

        def use(folder: Path, damaged: tuple[str, ...] = damaged) -> None:
            _use(folder, reading)
            if damaged is tiles and any(
                (folder / file).read_bytes() != kept[file] for file in tiles
            ):
                raise WrongError("damaged tiles were drawn")

        yield Target(f"explore {name}", files, damaged, use)


def _use(folder: Path, requests: bytes) -> None:
    """Open a session in a folder and send it requests, with the token and without."""
    values = np.random.default_rng(0).normal(size=(3000, 2))
    recordings = Recordings.of([Recording.of(values, id="a", period=0.5)])
    events = Events.of("a", ["beep", "walk:onset", "walk:offset"], [3.0, 10.0, 20.0])
    session = open_session(
        recordings, events, journal=folder / "events.csv.journal", index=folder / "tiles"
    )
    with session as opened:
        app = application(opened, token=TOKEN, port=PORT)
        for line in requests.split(b"\n"):
            method, _, rest = line.partition(b" ")
            path, _, body = rest.partition(b" ")
            asyncio.run(_send(app, method, path, body, b"Bearer " + TOKEN.encode()))
            status = asyncio.run(_send(app, method, path, body, rest[:20]))
            if status < 400:
                raise WrongError(f"{line[:80]!r} was answered without the token")


async def _send(app: Any, method: bytes, path: bytes, body: bytes, authorization: bytes) -> int:
    """The status of the answer."""
    address, _, query = path.partition(b"?")
    sent: list[MutableMapping[str, Any]] = []
    scope = {
        "type": "http",
        "method": method.decode("latin-1").upper(),
        "path": unquote(address.decode("latin-1")),
        "query_string": query,
        "headers": [(b"host", f"localhost:{PORT}".encode()), (b"authorization", authorization)],
    }
    given = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> MutableMapping[str, Any]:
        return next(given, {"type": "http.disconnect"})

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    status: int = sent[0]["status"]
    return status
