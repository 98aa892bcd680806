"""The command that examines the installation."""

from __future__ import annotations

from typing import Annotated

from typer import Exit, Option, Typer

from bdl.cli.console import out, print_json
from bdl.cli.options import Json

commands = Typer()


@commands.command(epilog="Example: `bdl doctor --json`")
def doctor(
    sizes: Annotated[
        bool, Option("--sizes", help="Also show the installed sizes of required libraries.")
    ] = False,
    json: Json = False,
) -> None:
    """Examine the installation: versions, extras, processor, memory, caches."""
    from bdl import doctor as examination
    from bdl.installation import DISTRIBUTION
    from bdl.text_tables import text_table

    report = examination.examine()
    library_sizes = examination.sizes() if sizes else {}
    if json:
        print_json({**report.to_dict(), **({"sizes": library_sizes} if sizes else {})})
    else:
        rows = [
            (DISTRIBUTION, f"{report.version}, Python {report.python}, {report.platform}"),
            ("libraries", ", ".join(f"{name} {text}" for name, text in report.versions.items())),
            *(
                (f"extra {extra}", "installed" if not missing else f"lacks {', '.join(missing)}")
                for extra, missing in report.extras.items()
            ),
            ("processor", f"{report.cores} cores, vectors of {report.vector_bits[-1]} bits"),
            ("OMP_NUM_THREADS", report.threads or "not set: as many threads as cores"),
            ("free memory", _gigabytes(report.free_memory)),
            ("free disk", _gigabytes(report.free_disk)),
            *(
                ("cache", f"{path}: {'can' if writable else 'cannot'} be written")
                for path, writable in report.caches.items()
            ),
        ]
        if report.torch is not None:
            build = f"CUDA {report.torch.cuda}" if report.torch.cuda else "CPU build"
            gpu = "an NVIDIA driver" if report.torch.gpu else "no NVIDIA driver"
            rows.append(("torch", f"{report.torch.version}, {build}, {gpu}"))
        columns = {"part": [name for name, _ in rows], "state": [text for _, text in rows]}
        lines = text_table(columns, text="state")[1:]
        if sizes:
            with_total = {"all": sum(library_sizes.values()), **library_sizes}
            megabytes = [f"{size / 1e6:,.1f}" for size in with_total.values()]
            lines += text_table({"library": [*with_total], "MB": megabytes})
        lines += [f"advice: {advice}" for advice in report.advice]
        lines += [f"problem: {text}" for text in report.problems] or ["no problems found"]
        out.print("\n".join(lines))
    if report.problems:
        raise Exit(1)


def _gigabytes(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 1e9:,.1f} GB"
