"""The catalogue: every study of the paper as a preset, by name.

A preset is a YAML file of this package. A file that ``extends`` a preset has its keys and
replaces some, null by the default; if all its rows are presets of the detector, keys that these do
not use are left out. The path of a YAML file can be given instead of a name.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from bdl.config import read_yaml
from bdl.errors import ConfigError
from bdl.study.protocol import Protocol, parse_protocol
from bdl.study.unused_keys import without_unused


def names() -> tuple[str, ...]:
    """Names of all presets, sorted.

    Examples
    --------
    >>> "sleep-nested" in names()
    True
    """
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def load(name: str | Path) -> Protocol:
    """The protocol of a preset or of a YAML file.

    Parameters
    ----------
    name
        Name of a preset, or path of a file that ends in ``.yaml`` or ``.yml``.

    Examples
    --------
    >>> load("sleep-nested").split.folds
    5
    >>> load("sleep-nestd")
    Traceback (most recent call last):
    bdl.errors.ConfigError: study 'sleep-nestd' is not known; expected one of bowshock, ...
    """
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        return parse_protocol(_extended(read_yaml(path), path), str(path))
    if str(name) not in names():
        raise ConfigError(
            f"study {str(name)!r} is not known; expected one of {', '.join(names())}, or the path "
            "of a YAML file"
        )
    path = _folder() / f"{name}.yaml"
    return parse_protocol(_extended(read_yaml(path), path), path.name)


def _extended(data: dict[str, Any], path: Path, depth: int = 0) -> dict[str, Any]:
    base = data.pop("extends", None)
    if base is None:
        return data
    if depth > 4 or str(base) not in names():
        raise ConfigError(f"{path}: extends: expected one of {', '.join(names())}, got {base!r}")
    parent = _folder() / f"{base}.yaml"
    inherited = _extended(read_yaml(parent), parent, depth + 1)
    merged = {**without_unused(inherited, data.get("rows")), **data}
    return {key: value for key, value in merged.items() if value is not None}


def _folder() -> Path:
    return Path(str(files("bdl.study") / "presets"))
