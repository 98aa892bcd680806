"""The command that serves streams to many clients."""

from __future__ import annotations

import os
from typing import Annotated, Any

from typer import Option, Typer

from bdl.cli.console import err
from bdl.cli.numbers import PORT
from bdl.cli.options import StreamModel, WholeRanking, takes
from bdl.live.client_limits import Limits

commands = Typer()


@commands.command(epilog="Example: `BDL_TOKEN=secret bdl serve model.onnx --port 8000`")
@takes(limits=Limits)
def serve(
    model: StreamModel,
    host: Annotated[
        str, Option(help="Address to listen at; the default is this machine only.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(parser=PORT, help="Port; 0 for a free one.")] = 0,
    all: WholeRanking = False,
    *,
    limits: dict[str, Any],
) -> None:
    """Serve streams over WebSocket, all stepped together.

    The first line that is printed is the address, the second the token that clients must send; the
    environment variable BDL_TOKEN sets it.
    """
    from bdl import load
    from bdl.live.serving import serve as run

    detector = load(model)

    def say(address: str, token: str) -> None:
        print(address, token, sep="\n", flush=True)
        err.print("Ctrl+C ends it.")

    run(
        detector,
        host=host,
        port=port,
        token=os.environ.get("BDL_TOKEN"),
        limits=Limits(**limits),
        operating_point=detector.model_.operating_point is not None and not all,
        say=say,
    )
