"""Studies: frozen, resumable, distributable protocols, and every experiment of the paper as one.

>>> from bdl.study import load
>>> load("sleep-nested").seeds
(0, 1, 2)
"""

from bdl.study.catalogue import load, names
from bdl.study.protocol import Protocol
from bdl.study.results import Results
from bdl.study.runner import run_study
from bdl.study.scale import scale_of, shrink
from bdl.study.status import status_of
from bdl.study.workers import Workers

__all__ = [
    "Protocol",
    "Results",
    "Workers",
    "load",
    "names",
    "run_study",
    "scale_of",
    "shrink",
    "status_of",
]
