"""The command that writes a trained model as an ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option, Typer

from bdl.cli.console import err, print_json
from bdl.cli.options import FittedModel, Json, Quiet
from bdl.errors import ConfigError

commands = Typer()


@commands.command()
def export(
    model: FittedModel,
    out: Annotated[Path, Option(help="ONNX file to write.")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a trained model as an ONNX file, which needs no torch.

    The graph bins samples, runs the encoder and gives densities; a causal encoder has its state as
    inputs and outputs. Features, decoder and digests are in the metadata. bdl detect takes the
    file instead of the model where onnxruntime is installed (extra run).
    """
    from bdl import Detector
    from bdl.formats.outputs import check_output

    if model.suffix == ".onnx":
        raise ConfigError(f"{model}: already exported; a model file of `bdl fit` expected")
    check_output(out, flag="--out")
    Detector.load(model).export(out)
    if json:
        print_json({"out": str(out), "bytes": out.stat().st_size})
    elif not quiet:
        err.print(f"{out}: {out.stat().st_size:,} bytes")
