"""A report about the installation on this machine: versions, extras, problems, advice.

Nothing heavy is imported: versions and sizes are read from the metadata of the distributions, and
whether torch is a CUDA build from its file ``version.py``.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bdl.installation import DISTRIBUTION, UNKNOWN, requirements, version
from bdl.memory import UNKNOWN as UNKNOWN_MEMORY
from bdl.memory import available_memory

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
_CUDA = re.compile(r"^cuda\b[^=]*=\s*['\"]([\d.]+)['\"]", re.MULTILINE)


@dataclass(frozen=True)
class Torch:
    """The installed torch: its CUDA version, and what CUDA libraries take on disk."""

    version: str
    cuda: str | None
    gpu: bool
    cuda_megabytes: int


@dataclass(frozen=True)
class Diagnosis:
    """Result of `examine`."""

    version: str
    python: str
    platform: str
    versions: dict[str, str]  # of each base library; ``unknown`` where it is missing
    extras: dict[str, list[str]]  # for each extra the libraries that are missing
    cores: int  # processors of this process
    threads: str | None  # the value of ``OMP_NUM_THREADS``
    vector_bits: list[int]  # widths of vectors in bits, the one in use last
    free_memory: int | None  # bytes; None if unknown
    free_disk: int | None
    caches: dict[str, bool]  # for each folder whether it can be written
    torch: Torch | None  # None where it is not installed
    problems: list[str] = field(default_factory=list)  # what keeps the package from working
    advice: list[str] = field(default_factory=list)  # what could be better

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def examine() -> Diagnosis:
    """Look at the installation.

    Examples
    --------
    >>> diagnosis = examine()
    >>> diagnosis.problems, diagnosis.caches != {}
    ([], True)
    """
    from bdl.encoders.vectors import available_bits, vector_bits

    libraries = requirements()
    free_memory = available_memory()
    versions = {name: version(name) for name in libraries.get("", ())}
    extras = {
        extra: [name for name in names if version(name) == UNKNOWN]
        for extra, names in libraries.items()
        if extra not in ("", "all")
    }
    caches = {str(path): _writable(path) for path in _caches()}
    torch = _torch()
    temporary = Path(tempfile.gettempdir())
    problems = [
        f"{name} is not installed: pip install {DISTRIBUTION}"
        for name, installed in versions.items()
        if installed == UNKNOWN
    ]
    if not _writable(temporary):
        problems.append(f"{temporary}: cannot be written; set TMPDIR to a folder that can be")
    return Diagnosis(
        version=version(),
        python=platform.python_version(),
        platform=platform.platform(),
        versions=versions,
        extras=extras,
        cores=len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1,
        threads=os.environ.get("OMP_NUM_THREADS"),
        vector_bits=[bits for bits in available_bits() if bits <= vector_bits()],
        free_memory=None if free_memory == UNKNOWN_MEMORY else free_memory,
        free_disk=shutil.disk_usage(Path.cwd()).free,
        caches=caches,
        torch=torch,
        problems=problems,
        advice=[*_advice(caches, torch)],
    )


def sizes() -> dict[str, int]:
    """Bytes of each installed library that the base needs, directly or indirectly."""
    left, installed = [*requirements().get("", ())], dict[str, int]()
    while left:
        name = left.pop()
        if name.lower() in installed or version(name) == UNKNOWN:
            continue
        installed[name.lower()] = _size(name)
        for line in metadata.requires(name) or ():
            if "extra ==" not in line:
                left.append(re.split(r"[\s<>=!~;\[(]", line, maxsplit=1)[0])
    return dict(sorted(installed.items(), key=lambda item: -item[1]))


def _advice(caches: dict[str, bool], torch: Torch | None) -> Iterator[str]:
    if not any(caches.values()):
        yield (
            "no folder for compiled functions can be written, so every command compiles them "
            "again: set NUMBA_CACHE_DIR to a folder that can be written"
        )
    if torch is not None and torch.cuda is not None and not torch.gpu:
        yield (
            f"torch is built for CUDA {torch.cuda} ({torch.cuda_megabytes:,} MB of libraries), and "
            f"there is no NVIDIA driver here. The CPU build does the same:\n"
            f"  pip uninstall torch && pip install torch --index-url {CPU_INDEX}\n"
            f"  uv pip install --reinstall torch --index-url {CPU_INDEX}"
        )


def _caches() -> Iterator[Path]:
    """Folders for compiled functions, in the order in which they are tried."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(named)
        return
    yield Path(__file__).parent / "__pycache__"
    yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _writable(folder: Path) -> bool:
    """Whether a folder can be written, or made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _torch() -> Torch | None:
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    try:
        text = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    except OSError:
        text = ""
    cuda = _CUDA.search(text)
    gpu = Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None
    names = {
        str(distribution.metadata["Name"]).lower() for distribution in metadata.distributions()
    }
    libraries = [name for name in names if name.startswith("nvidia-") or name == "triton"]
    megabytes = sum(map(_size, libraries)) // 1_000_000
    return Torch(version("torch"), cuda[1] if cuda else None, gpu, megabytes)


def _size(name: str) -> int:
    """Bytes of the files of a distribution."""
    total = 0
    for file in metadata.files(name) or ():
        try:
            total += Path(str(file.locate())).stat().st_size
        except OSError:
            continue
    return total
