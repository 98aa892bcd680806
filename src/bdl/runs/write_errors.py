"""Messages for operating-system errors while a run directory is written."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from bdl.errors import BdlError, StudyError


@contextmanager
def write_errors(where: str) -> Iterator[None]:
    """Raise a `StudyError` with advice in place of an operating-system error while writing.

    Examples
    --------
    >>> with write_errors("run"):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    bdl.errors.StudyError: run: the disk is full; free some space and run the same command again
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, BdlError):
            raise
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            cause = "the disk is full" if error.errno == errno.ENOSPC else "no room to write"
            raise StudyError(
                f"{where}: {cause}; free some space and run the same command again"
            ) from error
        raise StudyError(f"{where}: cannot write: {error}") from error
