"""The command that begins a project on one's own data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from bdl.cli.console import out
from bdl.cli.options import parse_options
from bdl.errors import ConfigError

commands = typer.Typer()

DETECTOR = (
    "stride",
    "tolerances",
    "window",
    "separation",
    "reference_spacing",
    "calendar",
    "scaling",
)


@commands.command(
    epilog="Example: `bdl new walks --recordings data/ --events events.csv --option period=0.02`"
)
def new(
    project: Annotated[Path, typer.Argument(help="Folder to make.")],
    recordings: Annotated[str, typer.Option(help="File, folder, glob or prepared store.")],
    events: Annotated[str, typer.Option(help="Table of events.")],
    option: Annotated[
        list[str] | None, typer.Option(help="key=value of the tables' layout, such as period=5.")
    ] = None,
    event_period: Annotated[
        float | None, typer.Option(help="Seconds a step, for event tables in steps.")
    ] = None,
) -> None:
    """Look at recordings and events, propose every setting with a reason, write a configuration."""
    from bdl.config import validate
    from bdl.formats import read_events, read_recordings
    from bdl.formats.files import atomic
    from bdl.formats.layout import Layout
    from bdl.proposal import propose

    target = project / "bdl.yaml"
    if target.exists():
        raise ConfigError(f"{target}: is there already; choose another name")
    options = parse_options(option or [])
    layout: Layout = validate(Layout, options, "--option")
    made = propose(
        read_recordings(recordings, layout=layout), read_events(events, period=event_period)
    )
    lines = [
        "# Proposed from a look at the data; change what you know better.",
        _line("recordings", str(Path(recordings).resolve())),
        _line("events", str(Path(events).resolve())),
    ]
    if options:
        lines.append(_line("layout", options))
    if event_period is not None:
        lines.append(_line("event_period", event_period))
    if made["intervals"].value:
        named = [vars(one) for one in made["intervals"].value]
        lines += [f"# {made['intervals'].reason}", _line("intervals", named)]
    lines += ["# Share of groups set aside to choose the epoch and the decoder on."]
    lines += ["validation: 0.2", "detector:", f"  # {made['kernel'].reason}"]
    kernel = made["kernel"].value
    lines.append(_line("  objective", f"bdl-{kernel['kind']}"))
    if "sigma" in kernel:
        lines.append(_line("  sigma", kernel["sigma"]))
    for name in DETECTOR:
        lines += [f"  # {made[name].reason}", _line(f"  {name}", made[name].value)]
    lines += ["  # Windows a step, and passes over the recordings.", "  batch: 8", "  epochs: 30"]
    with atomic(target) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    out.print(target.read_text(encoding="utf-8"), markup=False, soft_wrap=True)
    model = project / "model.safetensors"
    out.print(f"Next: bdl fit --config {target} --out {model}", soft_wrap=True)


def _line(name: str, value: Any) -> str:
    """A line of YAML; JSON is YAML."""
    return f"{name}: {json.dumps(value, ensure_ascii=False)}"
