"""The command that begins a project on one's own data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from bdl.cli.console import out
from bdl.cli.sources import parse_options
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
    head: dict[str, Any] = {
        "recordings": str(Path(recordings).resolve()),
        "events": str(Path(events).resolve()),
    }
    if options:
        head["layout"] = options
    if event_period is not None:
        head["event_period"] = event_period
    lines = ["# Proposed from a look at the data; change what you know better.", _yaml(head)]
    if made["intervals"].value:
        lines += [f"# {made['intervals'].reason}", _yaml({"intervals": [
            vars(one) for one in made["intervals"].value
        ]})]  # fmt: skip
    lines += ["# Share of groups set aside to choose the epoch and the decoder on.",
              "validation: 0.2", "detector:"]  # fmt: skip
    objective = {"hard": "bdl-hard", "gaussian": "bdl-gaussian"}[made["kernel"].value["kind"]]
    lines += [f"  # {made['kernel'].reason}", f"  objective: {objective}"]
    if "sigma" in made["kernel"].value:
        lines.append(f"  sigma: {made['kernel'].value['sigma']}")
    for name in DETECTOR:
        value = made[name].value
        plain = list(value) if isinstance(value, tuple) else value
        lines += [f"  # {made[name].reason}", f"  {_yaml({name: plain})}"]
    lines += ["  # Windows a step, and passes over the recordings.", "  batch: 8", "  epochs: 30"]
    with atomic(target) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    out.print(target.read_text(encoding="utf-8"), markup=False)
    out.print(f"Next: bdl fit --config {target} --out {project / 'model.safetensors'}")


def _yaml(data: Any) -> str:
    text: str = yaml.safe_dump(data, default_flow_style=None, sort_keys=False, width=1000)
    return text.strip()
