"""Studies: frozen, resumable, distributable protocols, and every experiment of the paper as one.

Examples
--------
>>> from bdl.study import load
>>> load("sleep-nested").seeds
(0, 1, 2)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bdl.workers import Workers as Workers

if TYPE_CHECKING:
    from bdl.study.catalogue import load as load
    from bdl.study.catalogue import names as names
    from bdl.study.protocol import Protocol as Protocol
    from bdl.study.results import Results as Results
    from bdl.study.runner import run_study as run_study
    from bdl.study.scale import scale_of as scale_of
    from bdl.study.scale import shrink as shrink
    from bdl.study.status import status_of as status_of
    from bdl.study.study_reader import StudyReader as StudyReader
    from bdl.study.verification import Verification as Verification
    from bdl.study.verification import verify_study as verify_study

# Imported at the first use: a runner needs everything else in the package.
_MODULES = {
    "Protocol": "protocol",
    "Results": "results",
    "StudyReader": "study_reader",
    "Verification": "verification",
    "load": "catalogue",
    "names": "catalogue",
    "run_study": "runner",
    "scale_of": "scale",
    "shrink": "scale",
    "status_of": "status",
    "verify_study": "verification",
}
__all__ = sorted(["Workers", *_MODULES])


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'bdl.study' has no attribute {name!r}")
    return getattr(import_module(f"bdl.study.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
