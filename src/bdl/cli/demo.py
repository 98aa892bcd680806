"""The command that runs the demonstration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option, Typer

from bdl.cli.console import err, out, print_json
from bdl.cli.generated_options import Fields
from bdl.cli.numbers import COUNT, DAYS
from bdl.cli.options import Json, takes
from bdl.training import Training

if TYPE_CHECKING:
    from bdl.report import Content

commands = Typer()


@commands.command(epilog="Example: `bdl demo --out demo`")
@takes(training=Fields(Training, without=tuple({*Training.model_fields} - {"updates", "seed"})))
def demo(
    folder: Annotated[Path, Option("--out", help="Folder for all files.")] = Path("demo"),
    recordings: Annotated[int, Option(parser=COUNT, help="Number of simulated recordings.")] = 40,
    days: Annotated[float, Option(parser=DAYS, help="Days per recording.")] = 7.0,
    json: Json = False,
    *,
    training: dict[str, Any],
) -> None:
    """Simulate, train two detectors, score held-out recordings."""
    from rich.table import Table

    from bdl.demo import DemoSettings, run
    from bdl.formats.outputs import check_output

    check_output(folder, folder=True)
    defaults = DemoSettings()
    settings = defaults.replace(
        recordings=recordings, days=days, training=defaults.training.replace(**training)
    )
    result = run(folder, settings, announce=lambda text: err.print(f"• {text}"), progress=not json)
    head, *rows = _summary_rows(result.content)
    if json:
        systems = [dict(zip(head, row, strict=True)) for row in rows]
        print_json({"systems": systems, "report": str(result.page)})
        return
    table = Table(*head, title="Held-out recordings, with 95 % confidence intervals")
    for row in rows:
        # The confidence interval below its value, so that the table fits a narrow terminal.
        table.add_row(*(cell.replace(" [", "\n[") for cell in row))
    out.print(table)
    out.print(f"Report: {result.page}")


def _summary_rows(content: Content) -> list[list[str]]:
    """Heading, and one row per system: scores and paired difference, with confidence intervals."""
    from bdl.report.summary import summarise

    systems = summarise(content)
    strict = f"AP at {min(content.tolerances):g} s"
    head = ["system", "mAP", strict, "F1", "median error", f"mAP of {systems[0].name} minus"]
    rows = [
        [
            system.name,
            system.ap["mAP"].text(3),
            system.strict.text(3),
            f"{system.best_f1:.3f}",
            system.median_error,
            "" if system.difference is None else system.difference.text(3),
        ]
        for system in systems
    ]
    return [head, *rows]
