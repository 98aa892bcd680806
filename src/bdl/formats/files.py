"""Files: named by ids, found, opened and hashed.

A recording's id becomes a file name only if that cannot leave the folder. What a library raises on
a damaged file becomes an `InputError` that names the file.
"""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bdl.errors import BdlError, ConfigError, InputError
from bdl.formats.addresses import address_of, file_size, listed, refuse_pattern, version
from bdl.formats.local_copies import fetch


def safe_name(id: str) -> str:
    """An id that can be a file name in any folder; any other is an error.

    Parameters
    ----------
    id
        Id of a recording.

    Returns
    -------
    str
        The id itself.

    Examples
    --------
    >>> safe_name("night 1")
    'night 1'
    >>> safe_name("../../x")
    Traceback (most recent call last):
    bdl.errors.InputError: the id '../../x' cannot be a file name
    """
    problem = None
    if id in ("", ".", ".."):
        problem = "it is not a name"
    elif any(mark in id for mark in "/\\"):
        problem = "it holds a path separator and could leave the folder"
    elif any(ord(mark) < 32 or 0xD800 <= ord(mark) < 0xE000 for mark in id):
        problem = "it holds a control character"
    elif id.startswith("."):
        problem = "it starts with a dot, as hidden and temporary files do"
    elif len(id.encode()) > 200:
        problem = "it is longer than 200 bytes"
    if problem:
        raise InputError(f"the id {id!r} cannot be a file name: {problem}; rename the recording")
    return id


@contextmanager
def reading(path: str | Path, what: str) -> Iterator[None]:
    """Turn any error that a library raises on a damaged file into an `InputError` that names it.

    Examples
    --------
    >>> with reading("x.edf", "an EDF file"):
    ...     raise KeyError("odd")
    Traceback (most recent call last):
    bdl.errors.InputError: x.edf: cannot be read as an EDF file: KeyError: 'odd'
    """
    try:
        yield
    except BdlError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except Exception as error:
        message = " ".join(str(error).split())[:300]
        raise InputError(
            f"{path}: cannot be read as {what}: {type(error).__name__}: {message} "
            "(is it truncated, damaged or of another kind?)"
        ) from error


def known_path(path: str | Path) -> Path:
    """A path that the system can look up, whether or not anything is there; otherwise an error.

    Examples
    --------
    >>> known_path("a" * 5000)
    Traceback (most recent call last):
    bdl.errors.InputError: aaa...: cannot be opened: File name too long
    """
    try:
        Path(path).exists()
    except OSError as error:
        raise InputError(f"{str(path)[:60]}...: cannot be opened: {error.strerror}") from error
    return Path(path)


def existing(path: str | Path) -> Path:
    """The path of a file that exists and is not empty; otherwise an error.

    A file at an address is fetched; the path is that of the local copy.

    Examples
    --------
    >>> existing("/no/such")
    Traceback (most recent call last):
    bdl.errors.InputError: /no/such: no such file
    """
    file = Path(path)
    if address_of(file) is not None:
        file = fetch(file)
    stored_size(file)
    return file


def stored_size(path: Path) -> int:
    """Bytes of a file, local or at an address, that exists and is not empty; otherwise an error."""
    try:
        if address_of(path) is None and not path.is_file():
            raise InputError(f"{path}: no such file")
        size = file_size(path)
        if size == 0:
            raise InputError(
                f"{path}: the file has zero bytes; was the copy or download interrupted?"
            )
    except (OSError, ValueError) as error:
        if isinstance(error, BdlError):
            raise
        raise InputError(f"{path}: cannot be opened: {error}") from error
    return size


def matching(path: str | Path, suffixes: Iterable[str], pattern: str | None = None) -> list[Path]:
    """The files of a path, a folder or a glob, sorted by name.

    The files of a folder have one of the suffixes, or match the pattern, which may hold ``**``;
    a pattern with a file or a glob is an error. Hidden files are left out.
    """
    endings = tuple(suffixes)
    if address_of(path) is not None:
        return listed(path, endings, pattern)
    place = known_path(path)
    if place.is_dir():
        try:
            entries = [*(place.glob(pattern) if pattern else place.iterdir())]
        except (NotImplementedError, ValueError) as error:
            raise ConfigError(
                f"--pattern {pattern}: a pattern below the folder expected, such as "
                f"'**/*.parquet': {error}"
            ) from error
        files = [file for file in entries if file.is_file() and not file.name.startswith(".")]
        if pattern is None:
            files = [file for file in files if file.suffix.lower() in endings]
        if not files:
            expected = pattern or f"a suffix among {', '.join(endings)}"
            raise InputError(
                f"{place}: the folder has no file matching {expected}; give a pattern such as "
                "'**/*.parquet' for files below it (--pattern)"
            )
    elif glob.has_magic(str(path)) and not place.exists():
        refuse_pattern(path, pattern)
        files = [Path(name) for name in glob.glob(str(path), recursive=True)]
        files = [file for file in files if file.is_file()]
        if not files:
            raise InputError(f"{path}: no file matches this pattern")
    else:
        files = [existing(place)]
        refuse_pattern(path, pattern)
    return sorted(files)


def content_hash(files: Iterable[Path]) -> str:
    """SHA-256 over the names and contents of files, in sorted order.

    For a file at an address, the version that its server names is used instead of the content.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a"
    >>> _ = file.write_text("x")
    >>> content_hash([file])[:12]
    'ef045f1dfce6'
    """
    return joined_hash({file: file_identity(file) for file in files})


def joined_hash(identities: Mapping[Path, bytes]) -> str:
    """The `content_hash` of files whose `file_identity` is known."""
    return hashlib.sha256(b"".join(identities[file] for file in sorted(identities))).hexdigest()


def file_identity(file: Path) -> bytes:
    """Name and SHA-256 of a file; address and version of one at an address."""
    if address_of(file) is not None:
        return f"{address_of(file)}\0{version(file)}".encode()
    with reading(file, "a file"), open(file, "rb") as stream:
        return file.name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest()
