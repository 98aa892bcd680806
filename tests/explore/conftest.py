"""Sessions on small recordings, served to the tests as to a browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bdl import Events, Recordings, write_events
from bdl.explore import open_session
from bdl.listening import listening_socket
from explore_sessions import TOKEN, Client, make_events, make_model, make_recordings


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """Start a session on a free port; further calls start further ones."""
    uvicorn = pytest.importorskip("uvicorn")
    from bdl.explore.server import application

    servers = []
    with ExitStack() as stack:

        def start(
            recordings: Recordings | None = None,
            events: Events | None = None,
            *,
            model: bool = False,
            name: str = "events",
            **options: Any,
        ) -> Client:
            opened = make_recordings() if recordings is None else recordings
            labels = make_events(opened) if events is None else events
            table = tmp_path / f"{name}.csv"
            if not table.exists():
                write_events(labels, table)
            if model:
                detections, densities = make_model(opened, labels)
                options = {"detections": detections, "densities": densities, **options}
            session = stack.enter_context(
                open_session(
                    opened, labels, journal=tmp_path / f"{name}.csv.journal", table=table,
                    **{"tolerance": 0.5, "index": tmp_path / "tiles", **options},
                )
            )  # fmt: skip
            listener = listening_socket("127.0.0.1", 0, backlog=128, advice="")
            port = listener.getsockname()[1]
            config = uvicorn.Config(
                application(session, token=TOKEN, port=port), log_level="error", lifespan="off"
            )
            server = uvicorn.Server(config)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            servers.append((server, thread))
            while not server.started:
                time.sleep(0.005)
            return Client(port, session)

        yield start
        for server, thread in servers:
            server.should_exit = True
            thread.join(10)
