"""The bindings of a run directory: protocol, data, split, environment and frozen choices.

Each is written when a study starts and compared when it is resumed. A change is an error that
names it, because two studies in one directory would mix their results.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bdl.datasets import Benchmark
from bdl.encoders.vectors import vector_bits
from bdl.errors import ConfigError, StudyError
from bdl.installation import version
from bdl.runs.digest import digest
from bdl.runs.file_stamps import file_stamps
from bdl.runs.run_directory import RunDirectory
from bdl.runs.run_reader import RunReader
from bdl.study.data_source import DataSource
from bdl.study.fingerprint import DataFingerprint
from bdl.study.label_vault import LabelVault
from bdl.study.protocol import Protocol, parse_protocol
from bdl.study.splits import Fold
from bdl.workers import Workers

PACKAGES = ("torch", "numpy", "numba", "scipy")


def bind_protocol(run: RunDirectory, protocol: Protocol) -> None:
    """Write the protocol, or raise an error if the directory holds another."""
    check_protocol(run, protocol)
    content = {"digest": protocol.digest(), "protocol": protocol.model_dump(mode="json")}
    _bound(run, "protocol.json", content)


def check_protocol(run: RunReader, protocol: Protocol) -> None:
    """Raise an error if the directory holds another protocol."""
    bound = run.get_json("protocol.json")
    if bound is not None and bound["digest"] != protocol.digest():
        old = parse_protocol(bound["protocol"], f"{run.url}/protocol.json").content()
        new = protocol.content()
        keys = [key for key in new if old[key] != new[key]] or ["its version"]
        raise StudyError(
            f"{run.url}: holds a study of another protocol (differs in {', '.join(keys)}); "
            "give a changed protocol another --out"
        )


def bind_environment(run: RunDirectory, workers: Workers) -> Workers:
    """Write the environment, or raise an error if it has changed; return workers with threads."""
    before = run.get_json("environment.json")
    default = before["threads"] if before else max(1, (os.cpu_count() or 1) // workers.jobs)
    current: dict[str, Any] = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "vector_bits": vector_bits(),
        "threads": workers.threads or default,
        "bdl": version(),
        **{name: version(name) for name in PACKAGES},
    }
    bound = _bound(run, "environment.json", current)
    if bound != current:
        changed = [
            f"{key} {bound.get(key)} → {value}"
            for key, value in current.items()
            if bound.get(key) != value
        ]
        raise StudyError(
            f"{run.url}: was started in another environment ({', '.join(changed)}); results may "
            "differ, so resume it in the old one or give another --out"
        )
    return workers.replace(threads=current["threads"])


def bind_data(
    run: RunDirectory,
    benchmark: Benchmark,
    source: DataSource,
    progress: Callable[[int, int], None] = lambda done, total: None,
    *,
    verify: bool = False,
) -> DataFingerprint:
    """Bind the directory to its data, or raise an error if they have changed; see `check_data`."""
    if run.get_json("data.json") is None:
        stamps = _stamps(source, benchmark)
        run.put_json("data.json", DataFingerprint.of(benchmark, progress).model_dump(mode="json"))
        run.put_json("files.json", stamps)
    bound = check_data(run, benchmark, source, progress, verify=verify)
    stamps = _stamps(source, benchmark)
    if run.get_json("files.json") != stamps:
        run.put_json("files.json", stamps)
    return bound


def check_data(
    run: RunReader,
    benchmark: Benchmark,
    source: DataSource,
    progress: Callable[[int, int], None] = lambda done, total: None,
    *,
    verify: bool = False,
) -> DataFingerprint:
    """Raise an error if the data are not those that a study is bound to, by their content.

    Labels are always hashed again. Recordings are hashed again if a file has another size, time or
    inode than when they were hashed last, or with ``verify``.
    """
    bound = DataFingerprint(**run.get_json("data.json"))
    unchanged = not verify and run.get_json("files.json") == _stamps(source, benchmark)
    current = DataFingerprint.of(benchmark, progress, bound.recordings if unchanged else None)
    if changes := current.changes(bound):
        raise StudyError(
            f"{source.path}: not the data with which the study in {run.url} was started "
            f"({'; '.join(changes)} changed); give changed data another --out"
        )
    return bound


def _stamps(source: DataSource, benchmark: Benchmark) -> dict[str, list[int] | str]:
    folder, recordings = Path(source.path), benchmark.recordings
    read = (file for id in recordings.ids for file in recordings.files(id))
    return file_stamps({*source.dataset.files(folder), *read}, folder)


def checked_folds(run: RunReader, protocol: Protocol, benchmark: Benchmark) -> tuple[Fold, ...]:
    """Split the data; a split that is not bound yet is checked for events of every type.

    Nothing is written: a directory is bound only to a protocol that can run on the data.
    """
    folds = protocol.make_folds(benchmark.recordings.groups)
    if run.get_json("split.json") is None:
        _check_labels(protocol, folds, benchmark)
    return folds


def bind_split(run: RunDirectory, folds: Sequence[Fold]) -> None:
    """Write the split, or raise an error if the directory holds another."""
    parts = [fold.model_dump(mode="json") for fold in folds]
    bound = _bound(run, "split.json", {"digest": digest(parts), "parts": parts})
    if bound["parts"] != parts or bound["digest"] != digest(bound["parts"]):
        raise StudyError(
            f"{run.url}: split.json is not the split of the protocol; was it edited? "
            "Give another split another --out"
        )


def _bound(run: RunDirectory, name: str, content: dict[str, Any]) -> Any:
    """The stored content of a file; the given content is written if the file does not exist."""
    stored = run.get_json(name)
    if stored is None:
        run.put_json(name, content)
    return content if stored is None else stored


def _check_labels(protocol: Protocol, folds: Sequence[Fold], benchmark: Benchmark) -> None:
    """Raise an error for a fold without events to train or select on; test labels stay sealed."""
    for number, fold in enumerate(folds):
        selection = protocol.regime.selection_ids(fold)
        vault = LabelVault(benchmark, [*fold.train, *selection])
        parts = [(protocol.regime.selection_part, selection)] if selection else []
        for part, ids in (("training", fold.train), *parts):
            labels = vault.labels(ids)
            for event in benchmark.settings.types:
                if not len(labels.select(types=[event])):
                    raise ConfigError(
                        f"fold {number}: no event {event!r} in the {part} part ({len(ids)} "
                        "recordings); another seed of the split (split.seed, --seed) or fewer "
                        "folds (split.folds, --folds) may help"
                    )


def freeze(run: RunDirectory, choices: Sequence[dict[str, Any]]) -> None:
    """Write the selection with its hash, before the test part is opened."""
    listed = [*choices]
    frozen = digest(listed)
    bound = run.get_json("frozen.json")
    if bound is None:
        run.put_json("frozen.json", {"digest": frozen, "choices": listed})
        run.note("frozen", digest=frozen)
    elif bound["digest"] != frozen or digest(bound["choices"]) != frozen:
        raise StudyError(
            f"{run.url}: frozen.json is not what the selection steps chose; was it edited?"
        )
