"""A service without the package's own: a WebSocket and a `PlainStream` per client.

Started by `bench.serving` with the model file; it prints its address. The answer to the message
``taken`` is the number of samples so far.
"""

from __future__ import annotations

import asyncio
import json
import sys

import numpy as np
import torch
from websockets.asyncio.server import ServerConnection, serve

from bdl import Detector
from bdl.encoders.fused.setting import use_fused
from bench.plain_stream import PlainStream


async def main(path: str) -> None:
    torch.set_num_threads(1)
    use_fused(False)
    detector, taken = Detector.load(path), 0

    async def client(socket: ServerConnection) -> None:
        nonlocal taken
        stream = PlainStream(detector)
        async for message in socket:
            if message == "taken":
                await socket.send(str(taken))
                continue
            rows = [json.loads(line)["values"] for line in str(message).split("\n")]
            for place, score in stream.push(np.array(rows)):
                await socket.send(json.dumps({"bin": place, "score": score}))
            taken += len(rows)

    async with serve(client, "127.0.0.1", 0, compression=None) as server:
        print(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await asyncio.Future()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
