"""Reading recordings from any source: the format is recognised, or named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from bdl.errors import InputError
from bdl.formats.addresses import address_of, is_folder
from bdl.formats.files import known_path, matching, reading
from bdl.formats.format_options import option_names, with_options
from bdl.formats.local_copies import fetch
from bdl.formats.recordings.recording_format import RecordingFormat
from bdl.recording import RecordingInfo, Recordings
from bdl.recording_batches import MOST
from bdl.value_readers import ValueReader, Values
from bdl.workers import WorkerDeath, Workers, run_all


def read_recordings(
    path: str | Path,
    *,
    format: str | RecordingFormat | None = None,
    pattern: str | None = None,
    invalid: Literal["error", "skip"] = "error",
    only: Callable[[Path], bool] = lambda file: True,
    workers: Workers | None = None,
    **options: Any,
) -> Recordings:
    """Open recordings; their values are read on demand.

    Parameters
    ----------
    path
        A file, a folder, a glob, or a prepared store.
    format
        Name of a format (see `bdl.formats.recordings`), or one with its options; recognised by
        the suffix, or by what a folder holds, if it is not given.
    pattern
        Which files of a folder, such as ``**/*.parquet``.
    invalid
        Whether a file that cannot be read is an ``error``, or is left out (``skip``) and noted if
        there are others.
    only
        Which of the files to open; if it refuses all, there are no recordings.
    workers
        Where several files are opened; by default one after the other in this process.
    **options
        Options of the format, such as ``period``.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "walk.csv"
    >>> _ = file.write_text("x,y\\n1,2\\n3,4\\n")
    >>> read_recordings(file, period=0.02)["walk"].values.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    >>> read_recordings(file, perod=0.02)
    Traceback (most recent call last):
    bdl.errors.ConfigError: unknown option perod (--perod): recording format csv has recording, ...
    """
    place = known_path(path)
    kinds = RecordingFormat.kinds()
    if pattern is None and _is_bids(place):
        named = kinds.values() if format is None else [RecordingFormat.parse(format)]
        pattern = next((kind.in_bids for kind in named if kind.in_bids is not None), None)
    if format is not None:
        chosen = with_options(RecordingFormat.parse(format, "recording format"), options)
        if is_folder(place) and pattern is None and chosen.recognises(place):
            return chosen.read(place)
        files = matching(path, chosen.suffixes, pattern)
        formatted = [(file, chosen) for file in files if only(file)]
        return _joined(formatted, invalid, workers, len(files))
    if is_folder(place) and pattern is None:
        for name, kind in kinds.items():
            if kind.recognises(place):
                return with_options(RecordingFormat.parse(name), options).read(place)
    suffixes = [suffix for kind in kinds.values() for suffix in kind.suffixes]
    files = matching(path, suffixes, pattern)
    names = {
        file: next((name for name, kind in kinds.items() if kind.recognises(file)), "")
        for file in files
    }
    formats = {name: RecordingFormat.parse(name) for name in names.values() if name}
    # Options must mean the same for all files, so formats may be mixed only if they share them.
    if "" in names.values() or len({option_names(type(kind)) for kind in formats.values()}) > 1:
        raise InputError(
            f"{path}: files of one format expected, got "
            f"{', '.join(sorted({file.suffix.lower() or file.name for file in files}))}; known are "
            f"{', '.join(suffixes)}; choose by a pattern such as '*.parquet' (--pattern) or name "
            "the format (--format)"
        )
    formats = {name: with_options(format, options) for name, format in formats.items()}
    formatted = [(file, formats[name]) for file, name in names.items() if only(file)]
    return _joined(formatted, invalid, workers, len(files))


def _is_bids(place: Path) -> bool:
    """Whether a folder is a data set in BIDS."""
    files = ("dataset_description.json", "participants.tsv")
    return place.is_dir() and any((place / name).is_file() for name in files)


def read_files(files: Iterable[Path], format: RecordingFormat) -> Recordings:
    """Open files of one format as one collection, in their order."""
    given = [(file, format) for file in files]
    return _joined(given, "error", None, len(given))


Formatted = tuple[Path, RecordingFormat]
Part = tuple[int, Sequence[Formatted]]  # files that a worker opens, after the number of the first


def _opened(files: Sequence[Formatted], workers: Workers) -> Iterator[Recordings | InputError]:
    """What each file holds, or why it cannot be read, in order."""
    if workers.here or len(files) < workers.jobs:
        yield from map(_open, files)
        return
    size = max(1, min(MOST, len(files) // (4 * workers.jobs)))
    parts: list[Part] = [(n, files[n : n + size]) for n in range(0, len(files), size)]
    opened: dict[int, Recordings | InputError] = {}
    for (first, part), result in run_all(_open_part, parts, workers, split=_split_part):
        if isinstance(result, WorkerDeath):
            result = [InputError(f"{part[0][0]}: {result}")]
        opened |= dict(enumerate(result, first))
    yield from (opened[number] for number in range(len(files)))


def _open_part(part: Part) -> list[Recordings | InputError]:
    return [_open(file) for file in part[1]]


def _split_part(part: Part) -> list[Part]:
    return [(number, (file,)) for number, file in enumerate(part[1], part[0])]


def _open(formatted: Formatted) -> Recordings | InputError:
    file, format = formatted
    try:
        with reading(file, f"recordings of format {format.kind}"):
            if address_of(file) is None or format.by_range:
                return format.read(file)
            reader = RemoteReader(file, format)
            return replace(reader.local(), reader=reader)
    except InputError as error:
        return error


@dataclass(frozen=True)
class RemoteReader(ValueReader):
    """Values of a file at an address, which is fetched when they are read."""

    path: Path
    format: RecordingFormat

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        yield from self.local().chunks(info.id)

    def read(self, info: RecordingInfo) -> Values:
        return self.local()[info.id].values

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        return (self.path,)

    def local(self) -> Recordings:
        """The recordings of the local copy."""
        return self.format.read(fetch(self.path, beside=self.path.suffix.lower() == ".hea"))


def _joined(
    files: Sequence[Formatted],
    invalid: Literal["error", "skip"],
    workers: Workers | None,
    opened: int,
) -> Recordings:
    """The recordings of files that were chosen from as many as ``opened`` says."""
    parts: list[Recordings] = []
    origin: dict[str, Path] = {}
    notes: dict[str, list[str]] = {}
    unread: list[InputError] = []
    for (file, _), part in zip(files, _opened(files, workers or Workers()), strict=True):
        if isinstance(part, InputError):
            if invalid == "error" and parts:
                raise InputError(
                    f"{part}. To leave it out, choose the other files (--pattern), or `bdl "
                    "prepare` them: it leaves out what cannot be read"
                ) from part
            if invalid == "error":
                raise part
            unread.append(part)
            if len(unread) == len(files) == opened:
                others = len(unread) - 1
                more = f" ({others} more files cannot be read either)" if others else ""
                raise InputError(f"{unread[0]}{more}")
            continue
        for id in part.ids:
            if id in origin:
                raise InputError(
                    f"two recordings have the id {id!r}: one in {origin[id]}, one in {file}; "
                    "rename a file, or name the recording column (--recording)"
                )
            origin[id] = file
        for note in part.notes:  # a note that files share is given once
            notes.setdefault(note.removeprefix(f"{file}: "), []).append(note)
        parts.append(part)
    if len(files) == len(parts) == 1:
        return parts[0]
    shared = [
        same[0] if len(same) == 1 else f"{same[0]} (and in {len(same) - 1} more files)"
        for same in notes.values()
    ]
    left_out = tuple(f"left out: {error}" for error in unread)
    return replace(Recordings.concat(parts), notes=(*left_out, *shared), left_out=left_out)
