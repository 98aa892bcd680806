"""The chain of results: from the final results back to every file that they follow from.

``results.json`` names the hash of ``chain.json``; that file names the hashes of what the directory
is bound to and of the mark of every step; a mark holds the result of its step and names the hashes
of its files. So no byte of a finished study can change unnoticed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from bdl.errors import StudyError
from bdl.runs.run_reader import RunReader, StepId

CHAIN = "chain.json"
BOUND = ("protocol", "environment", "data", "split", "models", "frozen")


def chain_of(run: RunReader, steps: Iterable[StepId]) -> dict[str, str]:
    """SHA-256 of what a study is bound to and of the marks of its steps, by name."""
    names = [f"{name}.json" for name in BOUND]
    names += [f"{step.folder}/done.json" for step in steps]
    hashes = {}
    for name in names:
        content = run.get(name)
        if content is None:
            raise StudyError(f"{run.url}: {name} is missing; run the same command again")
        hashes[name] = sha256(content)
    return hashes


def sha256(content: bytes) -> str:
    """SHA-256 of the content of a file, as ``sha256sum`` prints it.

    Examples
    --------
    >>> sha256(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(content).hexdigest()
