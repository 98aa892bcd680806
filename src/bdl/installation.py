"""The installed distribution: its name, its version, and its extras.

The package is imported as ``bdl`` and distributed as ``bdl-events``. An extra is a named set of
optional libraries, as in ``pip install 'bdl-events[train]'``.
"""

from __future__ import annotations

import re
from importlib import metadata

DISTRIBUTION = "bdl-events"
UNKNOWN = "unknown"
_REQUIREMENT = re.compile(r"([\w.-]+)[^;]*(?:;.*extra == ['\"]([\w-]+)['\"])?.*")
_OTHER_NAMES = {"sklearn": "scikit-learn", "yaml": "pyyaml"}


def version(name: str = DISTRIBUTION) -> str:
    """The installed version of a distribution, by default this one; ``unknown`` without one.

    Examples
    --------
    >>> version("no-such-package")
    'unknown'
    """
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return UNKNOWN


def requirements() -> dict[str, tuple[str, ...]]:
    """Names of the libraries of each extra, those of the base under the empty name."""
    try:
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}
    by_extra: dict[str, list[str]] = {"": []}
    for line in lines:
        match = _REQUIREMENT.fullmatch(line)
        if match and match[1] != DISTRIBUTION:  # the extra `all` names the others
            by_extra.setdefault(match[2] or "", []).append(match[1])
    return {extra: tuple(names) for extra, names in by_extra.items()}


def extra_of(module: str) -> str | None:
    """The smallest extra that installs a module; None if none does."""
    top = module.partition(".")[0]
    name = _OTHER_NAMES.get(top, top.replace("_", "-"))
    extras = [(len(names), extra) for extra, names in requirements().items() if name in names]
    return min(extras)[1] if extras else None
