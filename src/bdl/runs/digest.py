"""Hashes of plain data, and of the values of a data set.

Plain data is hashed by its canonical JSON (sorted keys, no spaces, no NaN), so that equal values
have the same hash on every machine.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from bdl.errors import StudyError
from bdl.events import Events
from bdl.recording import Recording


def canonical(data: Any) -> bytes:
    """The canonical JSON text of plain data.

    Examples
    --------
    >>> canonical({"b": 1, "a": [1.5, None]})
    b'{"a":[1.5,null],"b":1}'
    """
    try:
        text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StudyError(f"only finite plain data can be hashed: {error}") from error
    return text.encode()


def sha256(content: bytes) -> str:
    """SHA-256 of the content of a file, as ``sha256sum`` prints it.

    Examples
    --------
    >>> sha256(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(content).hexdigest()


def digest(data: Any) -> str:
    """SHA-256 of plain data, in hexadecimal digits.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return sha256(canonical(data))


def recording_digest(recording: Recording) -> str:
    """SHA-256 of all of a recording: clock, channels, units, group, annotated spans and values.

    Examples
    --------
    >>> slow, fast = (Recording.of(np.zeros(3), id="a", period=period) for period in (2.0, 1.0))
    >>> recording_digest(slow) == recording_digest(fast)
    False
    """
    info = recording.info
    head: dict[str, Any] = {
        "id": info.id,
        "samples": info.samples,
        "channels": list(info.channels),
        "period": info.period,
        "start": None if info.start is None else info.start.isoformat(),
        "offsets": [list(change) for change in info.offset_changes],
        "group": info.group,
    }
    if info.annotated is not None:
        head["annotated"] = [list(span) for span in info.annotated]
    if any(info.units):
        head["units"] = list(info.units)
    content = hashlib.sha256(canonical(head))
    content.update(np.ascontiguousarray(recording.values).tobytes())
    return content.hexdigest()


def events_digest(events: Events) -> str:
    """SHA-256 of a table of events, in the order of its rows.

    Examples
    --------
    >>> events_digest(Events.of("a", "beat", [1.0])) == events_digest(Events.of("a", "x", [1.0]))
    False
    """
    rows = [events.recording.tolist(), events.event.tolist(), events.time.tolist()]
    if events.score is not None:
        rows.append(events.score.tolist())
    return digest(rows)
