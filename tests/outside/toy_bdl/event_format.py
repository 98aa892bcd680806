"""An event format: one line per event, of recording, type, seconds and, if known, score."""

from typing import ClassVar

from bdl.events import Events
from bdl.formats.events import EventFormat


class Lines(EventFormat):
    """One line per event: recording, type, seconds and, if known, score."""

    kind: str = "lines"
    suffixes: ClassVar[tuple[str, ...]] = (".lines",)

    def read(self, path):
        rows = [line.split() for line in path.read_text().splitlines()]
        recordings, types, *numbers = zip(*rows, strict=True)
        return Events.of(recordings, types, *([float(n) for n in column] for column in numbers))

    def write(self, events, path, recordings=None):
        columns = [events.recording, events.event, events.time]
        if events.score is not None:
            columns.append(events.score)
        lines = [" ".join(map(str, row)) for row in zip(*columns, strict=True)]
        path.write_text("\n".join(lines) + "\n")
