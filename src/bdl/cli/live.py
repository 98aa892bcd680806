"""Commands that run a detector on live sources: ``live`` on one, ``serve`` for many clients."""

from __future__ import annotations

import asyncio
import os
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from typer import Context, Option, Typer

from bdl.cli.console import err
from bdl.cli.numbers import DURATION, PORT, SECONDS
from bdl.cli.options import Quiet, StreamModel, WholeRanking, refuse_options, takes
from bdl.errors import ConfigError
from bdl.live.client_limits import Limits
from bdl.live.line_formats import LineFormat

commands = Typer()


@commands.command(
    epilog="Example: `device | bdl live model.safetensors --recording ward-3 --state ward-3.state`"
)
def live(
    context: Context,
    model: StreamModel,
    source: Annotated[
        str,
        Option(
            help="Where samples come from: - (standard input), ws://HOST:PORT/PATH, "
            "mqtt://HOST:PORT/TOPIC or lsl:NAME."
        ),
    ] = "-",
    reply: Annotated[bool, Option("--reply", help="Send detections back to the source.")] = False,
    recording: Annotated[str, Option(help="Name of the stream.")] = "live",
    all: WholeRanking = False,
    state: Annotated[
        Path | None, Option(help="State file: after a kill, the same command continues from it.")
    ] = None,
    start: Annotated[
        str | None,
        Option(help="Time of the first sample with its UTC offset, if the model needs it."),
    ] = None,
    line_format: Annotated[
        LineFormat | None, Option(help="Format of the lines [default: by the first line].")
    ] = None,
    strict: Annotated[bool, Option("--strict", help="Stop at a line that cannot be used.")] = False,
    longest_gap: Annotated[
        float, Option(parser=SECONDS, help="Longest gap in seconds; a later sample is refused.")
    ] = 86400.0,
    save_every: Annotated[
        float, Option(parser=DURATION, help="Longest time between writes of the state, in seconds.")
    ] = 5.0,
    quiet: Quiet = False,
) -> None:
    """Detect events in samples as they arrive.

    Samples are lines of NDJSON, {"time": 12.5, "values": [0.1, 0.2]}, or of CSV with a header.
    Final detections go to standard output as NDJSON: recording, event, time, score, issued.
    """
    from bdl import load
    from bdl.formats.outputs import check_output
    from bdl.live.line_formats import LineReader
    from bdl.live.messages import Reply, run_messages
    from bdl.live.output_file import OutputFile
    from bdl.live.session import LiveSession
    from bdl.live.standard_streams import LineErrors, run
    from bdl.live.transports import open_transport

    if state is None:
        refuse_options(context, ("save_every",), "without --state")
    else:
        check_output(state, flag="--state")
    if source.startswith("lsl:"):
        refuse_options(context, ("line_format",), "with --source lsl:NAME, which has no lines")
    transport = None if source == "-" else open_transport(source)
    if reply and transport is None:
        raise ConfigError("--reply has no effect without --source: there is nothing to reply to")
    detector = load(model)
    point = detector.model_.operating_point
    session = LiveSession(
        detector,
        recording,
        Reply() if reply else OutputFile(),
        state=state,
        start=_time(start),
        operating_point=point is not None and not all,
        longest_gap=longest_gap,
        save_every=save_every,
    )

    def show(sentence: str) -> None:
        err.print(f"warning: {sentence}")

    errors = LineErrors(strict=strict, show=show)
    reader = LineReader(detector.model_.channels, line_format)
    if transport is None:
        ended = run(session, reader, errors)
    else:
        ended = asyncio.run(run_messages(session, transport, reader, errors))
    if not quiet:
        summary = {**session.summary(), "unreadable lines": errors.count}
        numbers = ", ".join(f"{key} {value}" for key, value in summary.items())
        err.print(f"{'finished' if ended else 'stopped'}: {numbers}")


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

    def announce(address: str, token: str) -> None:
        print(address, token, sep="\n", flush=True)
        err.print("Press Ctrl+C to stop.")

    run(
        detector,
        host=host,
        port=port,
        token=os.environ.get("BDL_TOKEN"),
        limits=Limits(**limits),
        operating_point=detector.model_.operating_point is not None and not all,
        announce=announce,
    )


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigError(
            f"--start {text}: a time such as 2026-01-31T22:00:00+01:00 expected"
        ) from error
    if moment.tzinfo is None:
        raise ConfigError(f"--start {text}: a time with its UTC offset expected")
    return moment
