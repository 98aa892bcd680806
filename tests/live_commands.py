"""`bdl live` in forked children, so that torch is loaded once and signals are real."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bdl import Detector
from bdl.encoders import Recurrent
from bdl.live.output_file import OutputFile
from bdl.live.session import LiveSession
from learning import bouts, quick

SAMPLES = 1200


@cache
def model() -> bytes:
    """The file of a model with an operating point."""
    recordings, events = bouts(6)
    encoder = Recurrent(width=8, blocks=1, bidirectional=False)
    parameters = quick(encoder=encoder, lag=8.0, epochs=8, scaling="robust", learning_rate=0.02)
    parameters["selection"] = {"folds": 1}
    detector = Detector(**parameters).fit(recordings, events)
    with tempfile.TemporaryDirectory() as folder:
        detector.save(Path(folder) / "model.bdl")
        return (Path(folder) / "model.bdl").read_bytes()


def signal_values() -> np.ndarray:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(SAMPLES, 1)).astype(np.float32)
    for begin in range(100, SAMPLES, 300):
        values[begin : begin + 120] *= 8
    return values


def ndjson(values: np.ndarray) -> list[str]:
    return [json.dumps({"time": float(i), "values": row.tolist()}) for i, row in enumerate(values)]


def start(folder: Path, *options: object, stdin: int, out: Path) -> int:
    """Run `bdl live` in a forked child; its process id."""
    child = os.fork()
    if child:
        return child
    try:  # the child
        os.dup2(stdin, 0)
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 1)
        os.dup2(os.open(folder / "errors.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
        sys.argv = ["bdl", "live", str(folder / "model.bdl"), *map(str, options)]
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        from bdl.cli import main

        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException as error:
        os.write(2, repr(error).encode())
        code = 99
    try:
        sys.stderr.flush()
    finally:
        os._exit(code)


def finished(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def live(folder: Path, text: str, *options: object, out: str = "out.ndjson") -> list[dict]:
    """The detections of a whole source."""
    source = folder / "samples.txt"
    source.write_text(text)
    with source.open("rb") as file:
        child = start(folder, *options, stdin=file.fileno(), out=folder / out)
    assert finished(child) == 0, (folder / "errors.txt").read_text()
    return [json.loads(line) for line in (folder / out).read_text().splitlines()]


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def before_the_end(rows: list[dict], end: float = SAMPLES - 1) -> list[dict]:
    """Detections that do not need the end of the stream."""
    return [row for row in rows if row["issued"] < end]


def begin(folder: Path, source: str, *options: object, out: str = "out.ndjson") -> int:
    nothing = os.open(os.devnull, os.O_RDONLY)
    child = start(folder, "--all", "--source", source, *options, stdin=nothing, out=folder / out)
    os.close(nothing)
    return child


def detections(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def samples_in(state: Path, model: Path) -> int:
    """How many samples the state file of a session has seen."""
    if not state.exists():
        return 0
    with open(os.devnull, "wb") as nothing:
        output = OutputFile(nothing.fileno())
        return LiveSession(Detector.load(model), "live", output, state=state).stream.samples


@contextmanager
def broker() -> Iterator[int]:
    """A mosquitto of this machine; its port."""
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
    if program is None:
        pytest.skip("mosquitto is not installed")
    port = free_port()
    with subprocess.Popen([program, "-p", str(port)], stderr=subprocess.DEVNULL) as process:
        try:
            yield port
        finally:
            process.terminate()


def through_mqtt(folder: Path, topic: str, lines: list[str], count: int) -> list[dict]:
    """What `bdl live` publishes for samples of a topic: at least this many detections."""
    pytest.importorskip("aiomqtt")
    paho = pytest.importorskip("paho.mqtt.client")
    published: list[dict] = []

    def has_connected() -> bool:
        try:
            client.connect("127.0.0.1", port)
        except OSError:
            return False
        return True

    def has_answered() -> bool:  # samples that it already has are skipped
        client.publish(topic, "\n".join(lines), qos=1)
        time.sleep(0.3)
        return len(published) >= count

    with broker() as port:
        client = paho.Client(paho.CallbackAPIVersion.VERSION2)
        client.on_message = lambda _, __, message: published.append(json.loads(message.payload))
        wait_for(has_connected)
        client.subscribe(f"{topic}/detections", qos=1)
        client.loop_start()
        options = ("--reply", "--state", folder / "mqtt.state")
        child = begin(folder, f"mqtt://127.0.0.1:{port}/{topic}", *options)
        try:
            wait_for(has_answered)
        finally:
            os.kill(child, signal.SIGTERM)
        assert finished(child) == 0, (folder / "errors.txt").read_text()
        client.loop_stop()
        client.disconnect()
    return published


def await_consumer(outlet, child: int) -> None:
    """Wait until `bdl live` reads a stream of the Lab Streaming Layer; skip if it never does."""
    if not outlet.wait_for_consumers(25.0):
        os.kill(child, signal.SIGKILL)
        finished(child)
        pytest.skip("streams of the Lab Streaming Layer are not found on this machine")
