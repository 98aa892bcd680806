"""The directory of a training run: what it contains, and whose it is.

A run directory contains ``run.json`` (what is trained on what data, as digests), ``last.ckpt``
(everything that the next epoch needs), ``epoch-N.safetensors`` (weights of a kept epoch) and
``history.csv`` (one row per epoch). Each file is written completely or not at all; ``last.ckpt`` is
written last, so that all files it refers to exist.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bdl.config import mapping
from bdl.errors import ConfigError
from bdl.formats.atomic_files import atomic
from bdl.formats.files import reading
from bdl.formats.outputs import remove_leftovers
from bdl.plain_data import parse_json

LAST = "last.ckpt"


def claim(directory: Path, identity: dict[str, Any]) -> Path | None:
    """Create a run directory, or take over one of the same identity; the checkpoint to resume from.

    ``identity`` says as plain data what is trained on what data. A directory of another training
    is refused, because weights of both would be mixed. Without a checkpoint, the result is None.
    """
    remove_leftovers(directory)
    record = directory / "run.json"
    if record.exists():
        with reading(record, "the record of a training"):
            recorded = mapping(parse_json(record.read_bytes(), record), str(record))
        if recorded != identity:
            keys = {*recorded, *identity}
            differs = sorted(key for key in keys if recorded.get(key) != identity.get(key))
            raise ConfigError(
                f"{directory}: contains another training (it differs in {', '.join(differs)}); "
                "choose another directory, or remove this one"
            )
        last = directory / LAST
        return last if last.exists() else None
    if directory.exists() and any(directory.iterdir()):
        raise ConfigError(f"{directory}: contains files, but no training run; choose another")
    directory.mkdir(parents=True, exist_ok=True)
    write(record, json.dumps(identity, indent=1, sort_keys=True).encode())
    return None


def weights_name(epoch: int) -> str:
    """Return the file name of the weights of a kept epoch.

    Examples
    --------
    >>> weights_name(5)
    'epoch-005.safetensors'
    """
    return f"epoch-{epoch:03d}.safetensors"


def write(path: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    with atomic(path) as temporary:
        temporary.write_bytes(content)
