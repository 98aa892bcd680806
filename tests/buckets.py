"""A bucket of this machine (moto's server) that answers late and with errors now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen


class Unreliable:
    """A server application of which every so many requests fail, and all answers are late.

    Parameters
    ----------
    application
        What answers.
    every
        One of so many requests gets the answer 503, as from a busy bucket.
    delay
        Seconds before each answer.
    """

    def __init__(self, application: Any, *, every: int = 7, delay: float = 0.002) -> None:
        self.application, self.every, self.delay = application, every, delay
        self.requests = self.errors = self.sent = 0

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterator[bytes]:
        self.requests += 1
        time.sleep(self.delay)
        if self.every and self.requests % self.every == 0:
            self.errors += 1
            start("503 Slow Down", [("Content-Type", "application/xml")])
            yield b"<Error><Code>SlowDown</Code></Error>"
            return
        for part in self.application(environ, start):
            self.sent += len(part)
            yield part


@contextmanager
def bucket(monkeypatch: Any) -> Iterator[Unreliable]:
    """The bucket ``s3://nights``, to which the environment leads."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    application = Unreliable(DomainDispatcherApplication(create_backend_app), every=0)
    server = make_server("127.0.0.1", 0, application, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    urlopen(Request(f"{address}/moto-api/reset", method="POST")).close()  # what others left
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().mkdir("nights")
    application.every = 7
    try:
        yield application
    finally:
        s3fs.S3FileSystem.clear_instance_cache()
        server.shutdown()
        thread.join()
