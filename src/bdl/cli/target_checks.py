"""Commands that check training targets before a model is trained: audit, stride."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Annotated

from typer import Option, Typer

from bdl.cli import console
from bdl.cli.dataset_options import DATASET_HELP, DatasetOptions, dataset_names, named_dataset
from bdl.cli.numbers import COUNT, SECONDS, SHARE
from bdl.cli.options import TOLERANCES, Json, parse_variant
from bdl.errors import ConfigError

commands = Typer()


@commands.command()
def audit(
    dataset: Annotated[str, Option(help=DATASET_HELP, autocompletion=dataset_names)],
    data: Annotated[Path, Option(help="Folder of the data set, as it was published.")],
    option: DatasetOptions = None,
    kernel: Annotated[
        str, Option(help="Kernel of the targets: a name such as hard, or a YAML mapping.")
    ] = "gaussian",
    sigma: Annotated[
        float | None, Option(parser=SECONDS, help="Width of the kernel in seconds.")
    ] = None,
    stride: Annotated[int | None, Option(parser=COUNT, help="Samples per bin.")] = None,
    window: Annotated[
        float | None,
        Option(parser=SECONDS, help="Seconds per window. [default: whole recordings]"),
    ] = None,
    json: Json = False,
) -> None:
    """Check the targets of a data set's events.

    It shows mass, edges, largest values and collisions. Sigma and stride are those of the data set
    unless given.
    """
    from bdl.datasets.audit import audit as run
    from bdl.kernels import Kernel

    parsed = parse_variant(Kernel, kernel, "--kernel")  # type: ignore[type-abstract]
    if sigma is not None:  # an error for a kernel without a width
        if (own := dict(parsed).get("sigma")) is not None:
            raise ConfigError(f"--sigma {sigma:g}: --kernel has a sigma of {own:g}; leave one out")
        parsed = Kernel.parse({**parsed.model_dump(), "sigma": sigma}, "--sigma")
    benchmark = named_dataset(dataset, option).load(data)
    settings = benchmark.settings
    completed = parsed.complete(sigma=settings.sigma, tolerances=settings.tolerances)
    bins = settings.stride if stride is None else stride
    audits = run(
        benchmark.events,
        benchmark.recordings.infos,
        types=settings.types,
        kernel=completed,
        stride=bins,
        window=window,
    )
    rows = [row.to_dict() for row in audits]
    if json:
        summary = {"dataset": dataset, "kernel": completed.model_dump(mode="json"), "stride": bins}
        notes = [*benchmark.notes]
        console.print_json({**summary, "window": window, "types": rows, "notes": notes})
        return
    from rich.table import Table

    table = Table("", *(row["type"] for row in rows), title=f"{dataset}: {kernel}, stride {bins}")
    for key in rows[0]:
        if key != "type":
            values = (
                f"{row[key]:,}" if isinstance(row[key], int) else f"{row[key]:.6g}" for row in rows
            )
            table.add_row(key.replace("_", " "), *values)
    console.out.print(table)
    console.out.notes(benchmark.notes)


@commands.command()
def stride(
    period: Annotated[
        list[float], Option(parser=SECONDS, help="Seconds per sample; may be repeated.")
    ],
    stride: Annotated[list[int], Option(parser=COUNT, help="Samples per bin; may be repeated.")],
    tolerance: Annotated[list[float], TOLERANCES],
    spacing: Annotated[
        list[float],
        Option(parser=SECONDS, help="Seconds between events of one type; may be repeated."),
    ],
    duration: Annotated[
        float, Option(parser=SECONDS, help="Seconds of signal per sequence.")
    ] = 86400.0,
    probability: Annotated[
        float, Option(parser=SHARE, help="Accepted probability of a collision.")
    ] = 1e-3,
    json: Json = False,
) -> None:
    """Check output strides against tolerances and event frequency.

    Every combination of the repeated options is a row.
    """
    from bdl.stride import advise

    rows = [
        advise(
            period=p, stride=s, tolerance=t, spacing=g, duration=duration, probability=probability
        )
        for p, s, t, g in product(period, stride, tolerance, spacing)
    ]
    if json:
        console.print_json({"probability": probability, "duration": duration,
                    "rows": [row.to_dict() for row in rows]})  # fmt: skip
        return
    from rich.table import Column, Table

    heads = ("stride", "bin s", "tol s", "whole", "half", "m", "P(>=2)", "m^2/2", "max", "bins")
    table = Table(*(Column(head, no_wrap=True) for head in heads), box=None, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(
            str(row.stride),
            f"{row.width:g}",
            f"{row.tolerance:g}",
            "yes" if row.conservative else "no",
            "yes" if row.weak else "no",
            f"{row.expected:.2e}",
            f"{row.collision:.2e}",
            f"{row.collision_approximation:.2e}",
            str(row.largest_stride),
            f"{row.bins:,}",
        )
    console.out.print(table)
    console.out.print(
        "whole, half: whether a whole bin, half a bin is within the tolerance\n"
        "m: expected events of a type per bin; P(>=2): probability of two or more in a bin\n"
        f"max: largest stride with P(>=2) at most {probability:g}; bins: in {duration:g} s"
    )
