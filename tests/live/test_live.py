"""`bdl live`: lines in, detections out, exactly once whatever happens to the process.

Commands run in forked children, so that torch is loaded once and signals are real.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from bdl import Detector, Recording
from bdl.errors import ConfigError, InputError
from bdl.live.line_formats import LineReader, Sample
from bdl.live.output_file import OutputFile
from bdl.live.session import LiveSession
from exporting import without_torch
from live_commands import SAMPLES, finished, live, model, ndjson, signal_values, start


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.bdl").write_bytes(model())
    return tmp_path


def rows_of(events) -> list[tuple]:
    columns = (events.event.tolist(), events.time.tolist(), events.score.tolist())
    return sorted(zip(*columns, events.issued.tolist(), strict=True))


def told(lines: list[dict]) -> list[tuple]:
    return sorted((row["event"], row["time"], row["score"], row["issued"]) for row in lines)


def test_lines_give_the_detections_of_the_file(folder: Path) -> None:
    values = signal_values()
    detector = Detector.load(folder / "model.bdl")
    whole = Recording.of(values, id="ward", period=1.0)
    expected = detector.detect(whole)
    assert len(expected) > 3
    lines = live(folder, "\n".join(ndjson(values)), "--recording", "ward", "--all")
    assert [*lines[0]] == ["recording", "event", "time", "score", "issued"]
    assert {row["recording"] for row in lines} == {"ward"}
    assert told(lines) == rows_of(expected)
    assert [row["issued"] for row in lines] == sorted(row["issued"] for row in lines)
    table = "channel_0,time\n" + "\n".join(f"{v[0]!r},{i}" for i, v in enumerate(values.tolist()))
    chosen = live(folder, table + "\n", "--line-format", "csv", out="chosen.ndjson")
    assert told(chosen) == rows_of(detector.detect(whole, operating_point=True))
    assert 0 < len(chosen) < len(lines)
    assert "finished: recording ward, samples 1200" in (folder / "errors.txt").read_text()


def test_lines_that_cannot_be_read_are_named_and_left_out(folder: Path) -> None:
    values = signal_values()
    good = ndjson(values)
    bad = [
        "{", '{"values": ["x"]}', '{"values": [1, 2]}', '{"time": 3e9, "values": [1]}', "[1]",
        '{"time": 2, "values": [7]}', '{"time": 1e400, "values": [7]}', "", "\x00garbage",
    ]  # fmt: skip
    lines = ["a greeting", *good[:299], *bad, *good[299:]]
    expected = live(folder, "\n".join(good), "--all")
    assert live(folder, "\n".join(lines), "--all", out="other.ndjson") == expected
    errors = (folder / "errors.txt").read_text()
    for words in (
        "line 301: not JSON", "line 302: channel_0: a number", "line 303: 1 values expected",
        "line 304: stream 'live': the time 3000000000 s", "unreadable lines 8", "late 1",
        "line 1: a header with time",
    ):  # fmt: skip
        assert words in errors, errors
    (folder / "strict.txt").write_text("\n".join(lines))
    with (folder / "strict.txt").open("rb") as file:
        child = start(folder, "--strict", stdin=file.fileno(), out=folder / "strict.ndjson")
    assert finished(child) == 2


def feed(write: int, lines: list[str], *, step: int, until: float = float("inf")) -> None:
    """Send lines, some at a time, until a moment; stops where nobody reads."""
    for first in range(0, len(lines), step):
        if time.monotonic() > until:
            return
        try:
            os.write(write, ("\n".join(lines[first : first + step]) + "\n").encode())
        except BrokenPipeError:
            return
        time.sleep(0.002)


def test_a_stop_and_a_start_go_on_where_they_were(folder: Path) -> None:
    lines = ndjson(signal_values())
    expected = live(folder, "\n".join(lines), "--all")
    state = folder / "ward.state"
    read, write = os.pipe()
    child = start(
        folder, "--all", "--state", state, "--save-every", 0.01, stdin=read,
        out=folder / "parts.ndjson",
    )  # fmt: skip
    os.close(read)
    feed(write, lines[:700], step=50)
    while not state.exists():
        time.sleep(0.01)
    time.sleep(0.2)
    os.kill(child, signal.SIGTERM)
    assert finished(child) == 0
    os.close(write)
    assert "stopped" in (folder / "errors.txt").read_text()
    rest = live(folder, "\n".join(lines), "--all", "--state", state, out="parts.ndjson")
    assert rest == expected
    assert "replayed 700" in (folder / "errors.txt").read_text()
    # A finished stream is not continued, and a state of another stream is refused.
    with (folder / "samples.txt").open("rb") as file:
        again = start(folder, "--all", "--state", state, stdin=file.fileno(), out=folder / "x")
    assert finished(again) == 2
    assert "is finished" in (folder / "errors.txt").read_text()


def test_a_signal_without_a_state_ends_the_stream(folder: Path) -> None:
    lines = ndjson(signal_values())[:700]
    expected = live(folder, "\n".join(lines), "--all")
    read, write = os.pipe()
    child = start(folder, "--all", stdin=read, out=folder / "out2.ndjson")
    os.close(read)
    feed(write, lines, step=100)
    time.sleep(1.0)
    os.kill(child, signal.SIGTERM)
    assert finished(child) == 0
    os.close(write)
    written = (folder / "out2.ndjson").read_text().splitlines()
    assert [json.loads(line) for line in written] == expected


def kill_at_random(folder: Path, *, kills: int, seed: int) -> None:
    """Kill the command again and again; every detection is written once."""
    rng = random.Random(seed)
    lines = ndjson(signal_values())
    expected = live(folder, "\n".join(lines), "--all")
    out, state = folder / "parts.ndjson", folder / "ward.state"
    for number in range(kills):
        read, write = os.pipe()
        child = start(folder, "--all", "--state", state, "--save-every", 0.0, stdin=read, out=out)
        os.close(read)
        deadline = time.monotonic() + rng.uniform(0.0, 0.4) + 0.02 * number
        feed(write, lines, step=rng.choice([1, 7, 40]), until=deadline)
        os.kill(child, signal.SIGKILL)
        assert finished(child) in (-signal.SIGKILL, 2)
        os.close(write)
    if "is finished" not in (folder / "errors.txt").read_text():
        with (folder / "samples.txt").open("rb") as file:
            last = start(folder, "--all", "--state", state, stdin=file.fileno(), out=out)
        finished(last)
    assert [json.loads(line) for line in out.read_text().splitlines()] == expected


def test_kills_lose_and_repeat_nothing(folder: Path) -> None:
    kill_at_random(folder, kills=3, seed=0)


@pytest.mark.slow
def test_twenty_kills_lose_and_repeat_nothing(folder: Path) -> None:
    kill_at_random(folder, kills=20, seed=1)


def test_an_exported_model_is_live_without_torch(folder: Path) -> None:
    pytest.importorskip("onnxruntime")
    values = signal_values()
    detector = Detector.load(folder / "model.bdl")
    detector.export(folder / "model.onnx")
    written = without_torch("live", folder / "model.onnx", "--all", given="\n".join(ndjson(values)))
    lines = told([json.loads(line) for line in written.splitlines()])
    expected = rows_of(detector.detect(Recording.of(values, id="live", period=1.0)))
    assert len(lines) == len(expected) > 3
    for (*ours, score, issued), (*theirs, exact, when) in zip(lines, expected, strict=True):
        assert (ours, issued) == (theirs, when)
        assert score == pytest.approx(exact, abs=1e-6)


class KilledError(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("written", [0, 17, 10_000])
def test_a_kill_while_detections_are_written(folder: Path, written: int) -> None:
    """The state holds what may not be in the output yet: it is completed, not repeated."""
    detector = Detector.load(folder / "model.bdl")
    samples = [Sample(float(i), row.tolist()) for i, row in enumerate(signal_values())]
    whole = folder / "whole"
    with whole.open("ab") as file:
        session = LiveSession(detector, "ward", OutputFile(file.fileno()))
        session.push(samples)
        session.finish()
    out, state = folder / "out", folder / "state"

    class Dying(OutputFile):
        def write(self, lines: bytes) -> None:
            super().write(lines[:written])
            if lines:
                raise KilledError

    for attempt in range(200):
        with out.open("ab") as file:
            kind = Dying if attempt % 2 == 0 else OutputFile
            try:
                session = LiveSession(detector, "ward", kind(file.fileno()), state=state)
                for first in range(0, SAMPLES, 25):
                    session.push(samples[first : first + 25])
                    if kind is OutputFile and session.detections:
                        break
                else:
                    session.finish()
                    break
            except KilledError:
                continue
            except ConfigError:  # it is finished
                break
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["a,b"], "channels x expected; x is missing"),
        (["time,x", "1"], "2 cells expected, got 1"),
        (["time,x", "1,y"], "x: a number expected"),
        (['{"values": {"y": 1}}'], "channel x is missing"),
        (['{"values": [1], "tme": 2}'], "unknown key 'tme'"),
        (['{"values": [true]}'], "x: a number expected"),
        (['{"time": "soon", "values": [1]}'], "time: a number expected"),
    ],
)
def test_line_errors_say_what_was_expected(lines: list[str], words: str) -> None:
    reader = LineReader(["x"])
    *before, last = lines
    for line in before:
        with suppress(InputError):
            reader.sample(line)
    with pytest.raises(InputError, match=words):
        reader.sample(last)


def test_a_csv_header_without_a_channel_ends_the_session(folder: Path) -> None:
    (folder / "wrong.csv").write_text("time,other\n0,1\n1,2\n")
    with (folder / "wrong.csv").open("rb") as file:
        child = start(folder, stdin=file.fileno(), out=folder / "wrong.ndjson")
    assert finished(child) == 2
    assert "channel_0 is missing from time, other" in (folder / "errors.txt").read_text()


@pytest.mark.slow
def test_the_command_itself(folder: Path) -> None:
    lines = ndjson(signal_values())
    expected = live(folder, "\n".join(lines), "--all")
    done = subprocess.run(
        [sys.executable, "-m", "bdl", "live", folder / "model.bdl", "--all", "--quiet"],
        input="\n".join(lines), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [json.loads(line) for line in done.stdout.splitlines()] == expected
    assert done.stderr == ""
