"""Annotations of WFDB records: beats and rhythms on the record's sample clock.

An event type is the annotation's symbol (``N``, ``V``, ...) or its note (``(AFIB``). On writing, a
type that is not a symbol of WFDB becomes a label that the file defines; a time becomes its nearest
sample. The format has no intervals and no scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats.atomic_files import atomic
from bdl.formats.events.event_format import UnscoredFormat
from bdl.formats.files import matching
from bdl.formats.mit_annotations import encode_annotations, read_annotation_file
from bdl.formats.wfdb_header import read_header
from bdl.recording import Recordings
from bdl.sampling import nearest_sample

_READ, _WRITTEN = "atr", "bdl"  # extensions: atr is that of reference annotations
_SAMPLES = 1 << 40  # of one record


class WfdbAnnotations(UnscoredFormat):
    """Annotations of WFDB records.

    Parameters
    ----------
    extension
        Suffix of the annotation files, without the dot. By default ``bdl`` is written, and ``atr``
        is read, or ``bdl`` in a folder without ``atr``.
    labels
        What names an event: the annotation's ``symbol``, or its ``aux_note``, if it has one.
    period
        Seconds between two samples of written files, if the recordings are not given.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> beats = Events.of("100", ["N", "V"], [0.5, 1.25])
    >>> WfdbAnnotations(period=1 / 360).write(beats, folder)
    >>> [file.name for file in folder.iterdir()]
    ['100.bdl']
    >>> WfdbAnnotations().read(folder).time.tolist()
    [0.5, 1.25]
    """

    kind: Literal["wfdb"] = "wfdb"
    suffixes: ClassVar[tuple[str, ...]] = (".hea", f".{_READ}", f".{_WRITTEN}")
    extension: str | None = None
    labels: Literal["symbol", "aux_note"] = "symbol"
    period: float | None = Field(default=None, gt=0)

    def read(self, path: Path) -> Events:
        """Annotations of one record, or of all records of a folder."""
        recordings: list[str] = []
        types: list[str] = []
        times: list[NDArray[np.float64]] = [np.zeros(0)]
        for file in self._annotation_files(path):
            annotations = read_annotation_file(file)
            rate = annotations.rate or float(read_header(file.with_suffix(".hea")).fs)
            texts = annotations.symbols if self.labels == "symbol" else annotations.notes
            named = np.array([bool(text) for text in texts], dtype=bool)
            recordings += [file.stem] * int(named.sum())
            types += [text for text in texts if text]
            times.append(annotations.samples[named] / rate)
        if not recordings:
            return Events.empty()
        return Events.of(recordings, types, np.concatenate(times))

    def _annotation_files(self, path: Path) -> list[Path]:
        """The files of all records; without headers, all files of the extension."""
        if path.is_file() and path.suffix != ".hea":
            return [path]
        extension = self.extension or _READ
        if path.is_dir():
            if self.extension is None and any(path.glob(f"*.{_WRITTEN}")):
                extension = _READ if any(path.glob(f"*.{_READ}")) else _WRITTEN
            if not any(path.glob("*.hea")):
                return matching(path, (f".{extension}",))
        return [file.with_suffix(f".{extension}") for file in matching(path, (".hea",))]

    def ending(self) -> str:
        """One file per recording."""
        return f".{self.extension or _WRITTEN}"

    def write(self, events: Events, path: Path, recordings: Recordings | None = None) -> None:
        """Write ``<recording>.bdl`` files into a folder, or one file for one recording."""
        unscored = self.without_scores(events, path)
        rows = {id: slice(0) for id in (recordings.ids if recordings else ())}
        order = np.lexsort((unscored.time, unscored.recording_code))
        counts = np.bincount(unscored.recording_code, minlength=len(unscored.recordings))
        last = np.cumsum(counts)
        for id, first, end in zip(unscored.recordings, last - counts, last, strict=True):
            rows[id] = slice(first, end)
        times, types = unscored.time[order], unscored.event[order]
        encoded = {
            id: self._encoded(times[place], types[place].tolist(), id, recordings)
            for id, place in rows.items()
        }
        for id, file in self.files(encoded, path, recordings).items():
            with atomic(file) as temporary:
                temporary.write_bytes(encoded[id])

    def _encoded(
        self,
        times: NDArray[np.float64],
        types: Sequence[str],
        id: str,
        recordings: Recordings | None,
    ) -> bytes:
        """The file of one recording; times are in order."""
        period = self.period
        if recordings is not None and id in recordings:
            period = recordings.info(id).period
        if period is None:
            raise ConfigError(
                f"recording {id!r}: annotations of WFDB are on the clock of the samples; give the "
                "recordings (recordings=, --recordings), or their period (period=, --period)"
            )
        samples = nearest_sample(times, period)
        if len(samples) and not (samples[0] >= 0 and samples[-1] < _SAMPLES):
            raise InputError(
                f"recording {id!r}: samples 0 to {_SAMPLES:,} expected, events are at "
                f"{times[0]} s to {times[-1]} s"
            )
        return encode_annotations(samples, types, 1 / period)
