"""The process that reads damaged files, under a limit of memory; one line per case tells how.

A line is the number of the case, its outcome and a word about it, as JSON. The process that started
this one limits the time, and goes on after a case that killed it.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import traceback
import warnings
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from bdl.errors import BdlError
from fuzz.target import Target, WrongError

# What the names of each module's targets begin with.
MODULES = {
    "signal_targets": ("recordings", "store", "densities", "events"),
    "dataset_targets": ("data set", "pickle"),
    "model_targets": ("model",),
    "fit_targets": ("fit",),
    "config_targets": ("configuration",),
    "record_targets": ("kept", "lines"),
    "live_targets": ("live",),
    "explore_targets": ("explore",),
    "study_targets": ("study",),
    "self_targets": ("self",),  # only if they are named
}
MEMORY = 256 << 20  # bytes that a case may take; the files have some kilobytes
ADDRESSES = 8 << 30  # bytes of addresses, so that a hostile file does not harm the machine


def all_targets(names: Iterable[str] = ()) -> list[Target]:
    """Every target whose name begins with one of the names, in order; all if there are none.

    A module is imported, and its files are made, only if one of its targets is wanted.
    """
    wanted: tuple[str, ...] = tuple(names)
    targets: list[Target] = []
    for module, kinds in MODULES.items():
        if (not wanted and module != "self_targets") or any(
            kind.startswith(name) or name.startswith(kind) for kind in kinds for name in wanted
        ):
            targets += import_module(f"fuzz.{module}").targets()
    return [target for target in targets if not wanted or target.name.startswith(wanted)]


def work(names: list[str], seed: int, first: int, last: int, keep: str | None) -> None:
    """Run some cases of the chosen targets."""
    warnings.simplefilter("ignore")
    targets = all_targets(names)
    _say(ready=[target.name for target in targets])
    home = Path(mkdtemp(prefix="fuzz"))
    for number, target in enumerate(targets):
        folder = home / f"whole{number}"
        target.lay(folder, None)
        target.read(folder)  # the whole files are read, and what is loaded once is loaded
    used = _memory("VmSize")
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESSES, used + ADDRESSES))
    _say(warm=True)
    for case in range(first, last):
        target, folder = targets[case % len(targets)], home / "case"
        target.lay(folder, np.random.default_rng([seed, case]))
        outcome, detail = attempt(target, folder)
        _say(case=case, target=target.name, outcome=outcome, detail=detail)
        if keep is not None and outcome not in ("refused", "read"):
            shutil.copytree(folder, Path(keep) / f"{case} {outcome}", dirs_exist_ok=True)
        shutil.rmtree(folder)
    shutil.rmtree(home)


def attempt(target: Target, folder: Path) -> tuple[str, str]:
    """How a reader fared: refused, read, wrong, traceback or memory, with a word about it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak is measured anew
    before = _memory("VmRSS")
    outcome, detail = "read", ""
    try:
        target.read(folder)
    except BdlError as error:
        outcome, detail = "refused", str(error)
        if isinstance(error.__cause__, MemoryError) and _memory("VmHWM") - before > MEMORY:
            outcome = "memory"
    except WrongError as error:
        outcome, detail = "wrong", str(error)
    except Exception:
        outcome, detail = "traceback", traceback.format_exc()[-1500:]
    taken = _memory("VmHWM") - before
    if taken > MEMORY:
        outcome, detail = "memory", f"{taken >> 20} MiB: {detail}"
    return outcome, detail[:2000]


def _memory(what: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) << 10
    return 0


def _say(**message: Any) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    words = json.loads(sys.argv[1])
    work(words["names"], words["seed"], words["first"], words["last"], words["keep"])
