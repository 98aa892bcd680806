"""The errors of the package: one base class, and one for each case that a caller may handle.

Every message names what was read (file, row, key), what was expected, what was given, and the
likely cause, so that it can be shown to a user unchanged.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from types import ModuleType

from bdl.installation import DISTRIBUTION, extra_of


class BdlError(Exception):
    """Base class of all errors that this package raises on purpose."""


class InputError(BdlError, ValueError):
    """Input data (a file, a table, a recording) is not what it must be."""


class DensityError(InputError):
    """Values of a density are not finite and nonnegative, as after a diverged training."""


class OutputError(BdlError, OSError):
    """A file or folder cannot be written: no space left, no permission, a name that is taken."""


class ConfigError(BdlError, ValueError):
    """A parameter, a configuration file or a protocol is invalid."""


class MissingExtraError(BdlError, ImportError):
    """An optional part of the installation is needed and not installed."""


class TrainingError(BdlError, RuntimeError):
    """Training cannot continue: the loss is not a number or has diverged."""


class StudyError(BdlError, RuntimeError):
    """A study's run directory, protocol or worker does not allow the next step."""


class CoverageWarning(UserWarning):
    """A score is about recordings in which nothing was detected, perhaps by mistake."""


def some(names: Iterable[str], most: int = 3) -> str:
    """Join the first names, and the number of further ones, for a message.

    Examples
    --------
    >>> some("abcd"), some(())
    ('a, b, c and 1 more', 'none')
    """
    listed = [*names]
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more or "none"


def require(module: str, extra: str) -> ModuleType:
    """Import ``module``, or raise an error that names the extra which installs it.

    Examples
    --------
    >>> require("json", "all").dumps([1])
    '[1]'
    >>> require("no_such_module", "eeg")
    Traceback (most recent call last):
    bdl.errors.MissingExtraError: no_such_module is not installed: pip install 'bdl-events[eeg]'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(_advice(module, extra)) from error


def missing_extra(error: ModuleNotFoundError) -> Exception:
    """An error that names the extra which installs a module; the error itself if none does."""
    extra = extra_of(error.name) if error.name else None
    return MissingExtraError(_advice(str(error.name), extra)) if extra else error


def _advice(module: str, extra: str) -> str:
    return f"{module} is not installed: pip install '{DISTRIBUTION}[{extra}]'"
