"""Streams: memory over a million bins, the time from a push to its answer, many streams together.

A forward GRU of the default size, three channels, forward mass as decoder. The plain way keeps
every feature; many streams are `bench.plain_stream`, once per stream and bin. Memory is that of the
process, after one push of many bins has set the size of its buffers.

    python -m bench.live
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch

from bdl import Detector, Events, Recording, Recordings, load
from bdl.detector.sample_intake import Samples
from bdl.detector.streaming import Streaming
from bench.plain_stream import plain_seconds
from bench.row import Row, best, table

STRIDE, PERIOD, CHANNELS = 10, 0.1, 3
APART, RAISED = 40.0, 4.0  # seconds between two events, and their height
BINS, PUSH, SINGLE, STREAMS = 1_000_000, 5_000, 3_000, 1_000


def signals(rng: np.random.Generator, samples: int, times: np.ndarray) -> np.ndarray:
    """Noise (samples, channels) that is raised for a bin after each time in seconds."""
    values = rng.normal(size=(samples, CHANNELS)).astype(np.float32)
    for place in (times / PERIOD).astype(int):
        values[place : place + STRIDE] += RAISED
    return values


def detector() -> Detector:
    """A fitted detector with an operating point."""
    rng, times = np.random.default_rng(0), np.arange(20.0, 1_990.0, APART)
    recordings = [
        Recording.of(signals(rng, 20_000, times), id=id, period=PERIOD) for id in ("a", "b", "c")
    ]
    events = [Events.of(recording.id, "beat", times) for recording in recordings]
    return Detector(
        lag=5.0,
        encoder="forward-gru",
        features={"stride": STRIDE, "calendar": False, "scaling": "robust"},
        window=400.0,
        tolerances=(2.0, 5.0),
        training={"epochs": 20, "accelerator": "cpu"},
        selection={"folds": 2},
    ).fit(Recordings.of(recordings), Events.concat(events))


def resident() -> int:
    """Bytes of memory that the process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def memory(fitted: Detector) -> Row:
    """Growth of the process over a million bins, compared with the size of their features."""
    rng = np.random.default_rng(1)
    samples = rng.normal(size=(PUSH * STRIDE, CHANNELS)).astype(np.float32)
    stream = fitted.stream("a")
    for _ in range(4):
        stream.push(samples)
    early, state = resident(), len(stream.save())
    begin = perf_counter()
    for _ in range(BINS // PUSH):
        stream.push(samples)
    seconds = perf_counter() - begin
    grown, late = max(resident() - early, 0), len(stream.save())
    features = BINS * CHANNELS * 4 * 4
    note = (
        f"state {state:,} bytes before, {late:,} after; {BINS / seconds:,.0f} bins per second in "
        f"pushes of {PUSH:,}"
    )
    return Row(
        f"memory of {BINS:,} bins", max(grown, 4096) / 2**20, features / 2**20, None, "MiB", note
    )


def latency(fitted: Detector) -> Row:
    """Time from the last sample of a bin to the answer."""
    rng = np.random.default_rng(2)
    samples = rng.normal(size=(SINGLE, STRIDE, CHANNELS)).astype(np.float32)
    stream = fitted.stream("a")
    times = []
    for rows in samples:
        stream.push(rows[:-1])
        begin = perf_counter()
        stream.push(rows[-1])
        times.append(perf_counter() - begin)
    module: Any = fitted.module_
    state, features = module.initial_state(1), torch.zeros(1, 1, CHANNELS * 4)
    loop: list[float] = []
    with torch.inference_mode():
        for _ in range(SINGLE):
            begin = perf_counter()
            _, state = module.step(features, state)
            loop.append(perf_counter() - begin)
    late = sorted(times)[int(0.99 * SINGLE)]
    note = f"99 % {late * 1e3:.2f} ms; plain is the encoder alone, without bins and decoder"
    return Row("push of one bin to answer", median(times), median(loop), None, "s", note)


def together(fitted: Detector) -> list[Row]:
    """One bin of many streams: through torch, and through onnxruntime, without sockets."""
    plain = plain_seconds(fitted, 200, STRIDE, CHANNELS)
    with tempfile.TemporaryDirectory() as folder:
        fitted.export(Path(folder) / "model.onnx")
        exported = load(Path(folder) / "model.onnx")
    rows = []
    for name, applied in (("torch", fitted), ("onnxruntime", exported)):
        ours = _together(applied)
        note = (
            f"{1 / ours:,.0f} streams of one bin per second on one core, bins and decoders "
            f"included; {plain['alone'] / ours:.1f} times the plain encoder without these"
        )
        title = f"one bin of a stream, {STREAMS:,} together, {name}"
        rows.append(Row(title, ours, plain["loop"], None, "s", note))
    return rows


def _together(applied: Streaming) -> float:
    """Processor seconds per stream and bin."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(STREAMS * STRIDE, CHANNELS)).astype(np.float32)
    samples = Samples(np.full(STREAMS, STRIDE), values, np.full(len(values), np.nan))
    streams = [applied.stream(str(i)) for i in range(STREAMS)]
    rows = np.array([stream.row for stream in streams])
    for _ in range(40):  # until the decoders have all the bins that they compare
        streams[0].rows.push(rows, samples)
    return best(lambda: streams[0].rows.push(rows, samples), 5, process_time) / STREAMS


def run() -> list[Row]:
    """All rows."""
    torch.set_num_threads(1)
    fitted = detector()
    return [memory(fitted), latency(fitted), *together(fitted)]


if __name__ == "__main__":
    print(table(run()))
