"""Streams per core through `bdl serve`, with real sockets on the loopback.

The model is that of `bench.live`, exported; every client sends one bin of ten samples per message,
with events as often as in training. Detections above the operating point are sent to the clients.
The processor time of the service per bin and stream is measured, which includes reading messages,
binning and decoding. There are two plain implementations: `bench.plain_stream`, which gets its
samples as arrays without any socket, and `bench.plain_service`, the same with sockets.

    python -m bench.serving
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from bench.live import APART, CHANNELS, PERIOD, STRIDE, detector, signals
from bench.plain_stream import plain_seconds
from bench.processes import processor_seconds
from bench.row import Row, table

CLIENTS, ROUNDS, TOKEN = 1_000, 20, "bench"
REPEATS = 5  # of all rounds, of which the fastest counts, as in the loop
WARM = 20  # rounds until the decoders have all the bins that they compare
PLAIN_CLIENTS, PLAIN_ROUNDS = 200, 10
PAUSE = 0.15  # seconds between rounds, more than the service needs for one


@contextmanager
def running(*command: str) -> Iterator[tuple[str, int]]:
    """Address and number of the process of a service, while it runs."""
    server = subprocess.Popen(
        [sys.executable, "-m", *command],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "BDL_TOKEN": TOKEN},
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip(), server.pid
    finally:
        server.terminate()
        server.wait(20)


async def clients(address: str, process: int, count: int, warm: int, rounds: int) -> float:
    """Processor seconds of the service per bin and stream."""
    from websockets.asyncio.client import connect
    from websockets.frames import Frame, Opcode

    headers = {"Authorization": f"Bearer {TOKEN}"}
    sockets = []
    for i in range(count):
        sockets.append(
            await connect(f"{address}/stream/{i}", additional_headers=headers, compression=None)
        )
    # As many bins as are between two events; each client is at another place of them.
    bins = int(APART / PERIOD / STRIDE)
    samples = signals(np.random.default_rng(0), bins * STRIDE, np.array([0.0]))
    messages = [
        "\n".join(json.dumps({"values": row}) for row in rows).encode()
        for rows in samples.astype(float).reshape(bins, STRIDE, CHANNELS).round(4).tolist()
    ]
    # Frames made before: the clients of this one process have to keep the service busy.
    frames = [Frame(Opcode.TEXT, message).serialize(mask=True) for message in messages]

    async def all_taken(turns: int) -> None:
        """Wait for the service; requests are rare, because they cost it time."""
        while await asyncio.to_thread(taken, address) < turns * count * STRIDE:
            await asyncio.sleep(PAUSE)

    async def send(first: int, stop: int) -> float:
        """Processor seconds of the service for some rounds."""
        begin = processor_seconds(process)
        for turn in range(first, stop):
            for place, socket in enumerate(sockets):
                socket.transport.write(frames[(place + turn) % len(frames)])
            await asyncio.sleep(PAUSE)
        await all_taken(stop)
        return processor_seconds(process) - begin

    await send(0, warm)
    starts = range(warm, warm + REPEATS * rounds, rounds)
    used = min([await send(first, first + rounds) for first in starts])
    await asyncio.gather(*(socket.close() for socket in sockets))
    return used / (rounds * count)


def taken(address: str) -> int:
    """Samples that a service has taken."""
    if address.endswith("/plain"):
        from websockets.sync.client import connect

        with connect(address) as socket:
            socket.send("taken")
            return int(socket.recv())
    request = urllib.request.Request(
        address.replace("ws:", "http:") + "/metrics", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    with urllib.request.urlopen(request) as answer:
        lines = answer.read().decode().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("bdl_samples_total ")))


def run() -> list[Row]:
    """The rows: beside the plain loop, and beside the plain service."""
    torch.set_num_threads(1)
    fitted = detector()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        fitted.export(path)
        fitted.save(Path(folder) / "model.bdl")
        with running("bdl", "serve", str(path)) as service:
            ours = asyncio.run(clients(*service, CLIENTS, WARM, ROUNDS))
        with running("bench.plain_service", str(Path(folder) / "model.bdl")) as (address, process):
            plain_service = asyncio.run(
                clients(f"{address}/plain", process, PLAIN_CLIENTS, 2, PLAIN_ROUNDS)
            )
    plain = plain_seconds(fitted, 200, STRIDE, CHANNELS)
    note = (
        f"{1 / ours:,.0f} streams of one bin per second on one core with {CLIENTS:,} clients, "
        "messages, bins and decoders included"
    )
    loop = f"plain has no sockets or messages; its encoder alone takes {plain['alone']:.2g} s"
    name = "one bin of a stream through bdl serve"
    return [
        Row(f"{name}, beside a loop", ours, plain["loop"], None, "s", loop),
        Row(f"{name}, beside a plain service", ours, plain_service, None, "s", note),
    ]


if __name__ == "__main__":
    print(table(run()))
