"""BIDS files of seizures with the columns of HED-SCORE: eventType and confidence.

Every type that begins with ``sz`` is the interval ``seizure``; ``bckg`` says that a recording has
none. On writing, recordings without seizures get that row if the recordings are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.events.annotation_format import Annotation
from bdl.formats.events.bids import BidsEvents, onset_and_duration
from bdl.recording import RecordingInfo


class SeizureEvents(BidsEvents):
    """BIDS files or folders of seizures: onset, duration, eventType and confidence.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a_events.tsv"
    >>> seizure = Events.of("a", ["seizure:onset", "seizure:offset"], [10.0, 25.5])
    >>> SeizureEvents().write(seizure, file)
    >>> file.read_text().splitlines()[1].split("\\t")[:4]
    ['10.0', '15.5', 'sz', 'n/a']
    """

    kind: Literal["seizures"] = "seizures"  # type: ignore[assignment]

    def recognises(self, path: Path, columns: Sequence[str]) -> bool:
        """By the columns."""
        return {"onset", "duration", "eventType"} <= {*columns} and "trial_type" not in columns

    def _header(self, events: Events) -> list[str]:
        names = ["onset", "duration", "eventType", "confidence", "channels"]
        return [*names, "dateTime", "recordingDuration"]

    def _line(self, row: Annotation, info: RecordingInfo | None) -> list[str]:
        if row.label != "seizure":
            raise InputError(
                f"a seizure table holds only intervals 'seizure', got {row.label!r}; "
                "name the ends of seizures: --interval seizure=ONSET,OFFSET"
            )
        if row.score != row.end_score:
            raise InputError(
                f"recording {row.recording!r}: the onset and offset of a seizure have different "
                f"scores ({row.score}, {row.end_score}); a seizure table keeps one confidence"
            )
        confidence = "n/a" if row.score is None else repr(row.score)
        return [*onset_and_duration(row), "sz", confidence, "n/a", *_about(info)]

    def _no_events(self, info: RecordingInfo) -> list[list[str]]:
        return [["0.0", repr(info.duration), "bckg", "n/a", "n/a", *_about(info)]]


def _about(info: RecordingInfo | None) -> list[str]:
    """Start and length of a recording, as far as they are known."""
    if info is None:
        return ["n/a", "n/a"]
    start = "n/a" if info.start is None else info.start.strftime("%Y-%m-%d %H:%M:%S")
    return [start, repr(info.duration)]
