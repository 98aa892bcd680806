"""The drawing of recordings in a browser: signals, density, events and actogram.

The scripts in ``static/`` are JavaScript modules. The application serves them as they are; the
static page contains them as one script.
"""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from bdl.recording_info import RecordingInfo

FOLDER = files("bdl.drawing") / "static"
_IMPORT = re.compile(r'^import .* from "/(.+)";\n', re.MULTILINE)


def bundle(entry: str, folder: Traversable) -> str:
    """One module of a folder, such as ``page.js``, and all that it imports, as a single script.

    Imports that are not in the folder are taken from `FOLDER`. The modules share one scope in the
    bundle, so their top-level names must differ.

    Examples
    --------
    >>> print(bundle("clock.js", FOLDER).splitlines()[0])
    // Seconds from the start of a recording as wall-clock time, where the start is known.
    """
    parts: dict[str, str] = {}

    def add(name: str) -> None:
        local = folder / name
        text = (local if local.is_file() else FOLDER / name).read_text("utf-8")
        for other in _IMPORT.findall(text):
            if other not in parts:
                add(other)
        parts[name] = re.sub(r"^export ", "", _IMPORT.sub("", text), flags=re.MULTILINE)

    add(entry)
    return "".join(parts.values())


def recording_facts(info: RecordingInfo) -> dict[str, Any]:
    """Properties of a recording that the scripts read, as plain data for JSON.

    ``start`` is in seconds since 1970, None if unknown; ``offsets`` are pairs of seconds from the
    start and the offset from UTC, in seconds, that holds from there on; ``units`` are those of the
    channels that have one.

    Examples
    --------
    >>> recording_facts(RecordingInfo("a", 100, ("x",), 0.5))["seconds"]
    50.0
    """
    offset = None if info.start is None else info.start.utcoffset()
    changes = [[at * info.period, seconds] for at, seconds in info.offset_changes]
    return {
        "id": info.id,
        "seconds": info.duration,
        "period": info.period,
        "start": None if info.start is None else info.start.timestamp(),
        "offsets": [] if offset is None else [[0.0, offset.total_seconds()], *changes],
        "annotated": info.annotated,
        "units": {
            name: unit for name, unit in zip(info.channels, info.units, strict=False) if unit
        },
    }
