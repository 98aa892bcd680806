"""How commands name recordings: their format, and its options.

The options are the fields of all registered formats, third-party ones included. They arrive as a
dictionary of those that were given, for `bdl.formats.read_recordings`.
"""

from __future__ import annotations

from typing import Annotated

import typer

from bdl.cli.options import Fields
from bdl.formats.recordings import RecordingFormat


def recording_formats() -> list[str]:
    """Names of all recording formats, for completion in the shell."""
    return [*RecordingFormat.kinds()]


FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        help=f"Format of the recordings: {', '.join(recording_formats())}. Recognised by the "
        "suffix, or by what a folder holds, if it is not given.",
        autocompletion=recording_formats,
    ),
]
RECORDING_OPTIONS = Fields(RecordingFormat)
