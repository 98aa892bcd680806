"""What a run directory is bound to: protocol, data, split, environment.

Each is written when a study starts and compared when it goes on. Anything that has changed is
refused with what changed, since two studies in one directory would mix their figures.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bdl.datasets import Benchmark
from bdl.errors import ConfigError, StudyError
from bdl.study.digest import digest
from bdl.study.protocol import Part, Protocol
from bdl.study.run_directory import RunDirectory
from bdl.study.splits import make_split
from bdl.study.study_data import Fingerprint, Vault, file_stamps

PACKAGES = ("bdl", "torch", "numpy", "numba", "scipy")


def bind_protocol(run: RunDirectory, protocol: Protocol) -> None:
    """Write the protocol, or refuse another than the one that is there."""
    there = run.get_json("protocol.json")
    if there is None:
        shown = {"digest": protocol.digest(), "protocol": protocol.model_dump(mode="json")}
        run.put_json("protocol.json", shown)
    elif there["digest"] != protocol.digest():
        old, new = there["protocol"], protocol.content()
        keys = [key for key in new if old.get(key) != new[key]] or ["another version of it"]
        raise StudyError(
            f"{run.url}: holds a study of another protocol (differs in {', '.join(keys)}); "
            "a changed protocol needs a directory of its own"
        )


def bind_environment(run: RunDirectory, *, threads: int | None, jobs: int) -> int:
    """Write the environment, or refuse another; gives the threads a worker has."""
    there = run.get_json("environment.json")
    chosen = threads or (there["threads"] if there else max(1, (os.cpu_count() or 1) // jobs))
    now: dict[str, Any] = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "threads": chosen,
        **{name: _version(name) for name in PACKAGES},
    }
    if there is None:
        run.put_json("environment.json", now)
    elif there != now:
        changed = [
            f"{key} {there.get(key)} → {now[key]}" for key in now if there.get(key) != now[key]
        ]
        raise StudyError(
            f"{run.url}: begun in another environment ({', '.join(changed)}); sums may come out "
            "otherwise, so go on with the old one or start a new directory"
        )
    return chosen


def bind_data(
    run: RunDirectory,
    dataset: Benchmark,
    path: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Fingerprint:
    """Hash the data, or refuse data that has changed; unchanged files are not hashed again."""
    there = run.get_json("data.json")
    stamps = file_stamps(path)
    if there is not None and run.get_json("files.json") == stamps:
        return Fingerprint.from_dict(there)
    found = Fingerprint.of(dataset, progress)
    if there is None:
        run.put_json("data.json", found.to_dict())
    else:
        changes = found.changes(Fingerprint.from_dict(there))
        if changes:
            raise StudyError(
                f"{path}: not the data this study was begun with ({'; '.join(changes)} changed); "
                "changed data needs a directory of its own"
            )
    run.put_json("files.json", stamps)
    return found


def bind_split(run: RunDirectory, protocol: Protocol, dataset: Benchmark) -> tuple[Part, ...]:
    """Make the split and write it, or refuse another than the one that is there."""
    nested = protocol.regime == "nested"
    parts = make_split(protocol.split, dataset.recordings.groups, calibrate=nested)
    plain = [part.model_dump(mode="json") for part in parts]
    there = run.get_json("split.json")
    if there is None:
        check_labels(protocol, parts, dataset)
        run.put_json("split.json", {"digest": digest(plain), "parts": plain})
    elif there["parts"] != plain or there["digest"] != digest(there["parts"]):
        raise StudyError(
            f"{run.url}: split.json is not the split that the protocol gives; was it edited? "
            "Another split needs a directory of its own"
        )
    return parts


def check_labels(protocol: Protocol, parts: Sequence[Part], dataset: Benchmark) -> None:
    """Refuse a fold that has no events to train or to choose on; test labels stay closed."""
    for number, part in enumerate(parts):
        nested = protocol.regime == "nested"
        sealed = part.test if nested else ()
        vault = Vault(dataset.recordings, dataset.events, sealed)
        chosen_on = part.calibration if nested else part.test
        what = "calibration" if nested else "validation"
        for name, ids in (("training", part.train), (what, chosen_on)):
            labels = vault.labels(ids)
            for event in dataset.settings.types:
                if not len(labels.select(types=[event])):
                    raise ConfigError(
                        f"fold {number}: no event {event!r} in the {name} part "
                        f"({len(ids)} recordings); nothing can be "
                        f"{'learnt' if name == 'training' else 'chosen'} there"
                    )


def freeze(run: RunDirectory, choices: Sequence[dict[str, Any]]) -> str:
    """Write what was chosen with its hash, before the test part is opened; gives the hash."""
    listed = [*choices]
    found = digest(listed)
    there = run.get_json("frozen.json")
    if there is None:
        run.put_json("frozen.json", {"digest": found, "choices": listed})
        run.note("frozen", digest=found)
    elif there["digest"] != found or digest(there["choices"]) != found:
        raise StudyError(
            f"{run.url}: frozen.json is not what the selection steps chose; was it edited?"
        )
    return found


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
