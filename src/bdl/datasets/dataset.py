"""The family of data sets: each is one class with everything about its benchmark.

A data set is a subclass of `Dataset` in a module of this folder, or in another package that
declares an entry point of the group ``bdl.datasets``. Its fields are its options. It must define
`Dataset.read`, which reads the published raw files. Everything else has a default: class
attributes (licence, what data it needs, scales of a study) and the methods
`Dataset.simulator`, `Dataset.download` and `Dataset.grids`.

Examples
--------
>>> import tempfile
>>> import numpy as np
>>> from bdl.datasets import Benchmark, Settings
>>> from bdl.events import Events
>>> from bdl.recording import Recording, Recordings
>>> class Clicks(Dataset):
...     '''Clicks in noise.'''
...     kind: str = "doctest-clicks"
...     licence = "public domain"
...     channel: str = "sound"
...     def read(self, path):
...         noise = Recording.of(np.zeros(100), id="a", period=0.1, channels=[self.channel])
...         settings = Settings(types=("click",), tolerances=(0.1,), stride=1, window=5.0,
...                             reference_spacing=5.0, sigma=0.1, separation=0.5)
...         events = Events.of("a", "click", [2.0, 7.0])
...         return Benchmark(self.kind, Recordings.of([noise]), events, (), settings)
>>> load("doctest-clicks", tempfile.mkdtemp(), channel="left").recordings.infos[0].channels
('left',)
>>> load("doctest-clicks", "somewhere", chanel="left")
Traceback (most recent call last):
bdl.errors.ConfigError: data set 'doctest-clicks' has no option 'chanel'; its options are channel
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from inspect import getattr_static
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from bdl.datasets.benchmark import Benchmark, Scale
from bdl.errors import ConfigError, InputError
from bdl.formats.atomic_files import atomic
from bdl.formats.files import known_path, reading
from bdl.formats.outputs import check_output
from bdl.registry import Variant

if TYPE_CHECKING:
    from bdl.datasets.downloads import Download, FileProgress
    from bdl.decoding.grid import Grid
    from bdl.density import DensityKind

# File beside the raw files of a simulator, which marks them as simulated.
SIMULATED = "SIMULATED"
Progress = Callable[[int, int], None]


class Simulator(Protocol):
    """Writes the raw files of a simulated data set into an existing folder."""

    def __call__(
        self, folder: Path, *, recordings: int, days: float | None, seed: int, progress: Progress
    ) -> None:
        """Write; the arguments are those of `Dataset.simulate`."""


class Dataset(Variant):
    """A published data set; its fields are its options.

    Attributes
    ----------
    licence, citation
        Terms of use, and what to cite.
    requires
        Description of the data that are needed, with their size.
    recording_count
        Number of recordings as published, for estimates of cost.
    window_bins
        Mean number of output bins per training window, for estimates of cost.
    scales
        Smaller sizes of a study on this data set, by name: ``small`` runs in minutes, ``tiny`` in
        seconds.
    """

    package: ClassVar[str] = "bdl.datasets"
    licence: ClassVar[str] = ""
    citation: ClassVar[str] = ""
    requires: ClassVar[str] = ""
    recording_count: ClassVar[int] = 100
    window_bins: ClassVar[int] = 10_000
    scales: ClassVar[Mapping[str, Scale]] = {
        "small": Scale(recordings=24, epochs=8, batch=4, rates=2),
        "tiny": Scale(recordings=8, epochs=2, folds=2, tiny=True, replicates=50),
    }

    def __init__(self, **options: Any) -> None:
        fields = type(self).model_fields
        for name in options:
            if name not in fields:
                names = ", ".join(self.options())
                hint = f"its options are {names}" if names else "it has no options"
                raise ConfigError(
                    f"data set {fields['kind'].default!r} has no option {name!r}; {hint}"
                )
        super().__init__(**options)

    @classmethod
    def options(cls) -> tuple[str, ...]:
        """Names of the options."""
        return tuple(name for name in cls.model_fields if name != "kind")

    @classmethod
    def kinds_with(cls, method: str) -> tuple[str, ...]:
        """The data sets that define one of the optional methods."""
        default = getattr_static(Dataset, method)
        return tuple(
            kind
            for kind, variant in Dataset.kinds().items()
            if getattr_static(variant, method) is not default
        )

    def load(self, path: Path | str) -> Benchmark:
        """Read the data set from the folder or file it was published as.

        The notes begin with a line on the simulation, if it is simulated, licence and citation.
        """
        path = known_path(path)
        if not path.exists():
            raise InputError(f"{path}: no such file or folder; {self.kind} data expected there")
        with reading(path, f"{self.kind} data"):
            benchmark = self.read(path)
        terms = (("licence", self.licence), ("cite", self.citation))
        notes = [f"{name}: {text}" for name, text in terms if text]
        mark = path / SIMULATED
        if mark.exists():
            notes.insert(0, mark.read_text().strip())
        return replace(benchmark, notes=(*notes, *benchmark.notes), simulated=mark.exists())

    @abstractmethod
    def read(self, path: Path) -> Benchmark:
        """Read the raw files below an existing path; `load` adds licence and citation."""

    def files(self, path: Path) -> list[Path]:
        """The files that may be read: all below the path, sorted."""
        return [path] if path.is_file() else sorted(filter(Path.is_file, path.rglob("*")))

    def simulate(
        self,
        folder: Path | str,
        *,
        recordings: int,
        days: float | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> None:
        """Write the raw files of a simulated data set, which `load` reads.

        Equal arguments give equal bytes. Recording ``i`` draws from a random generator of its
        own, seeded by (seed, i), so that it does not depend on the number of recordings.
        Recordings are generated and written one at a time. A file named SIMULATED marks them as
        simulated.

        Parameters
        ----------
        folder
            Where to write; it is created if necessary.
        recordings
            Number of recordings.
        days
            Length of each in days; None is the usual length of the data set.
        seed
            Seed of all random numbers.
        progress
            Called with (recordings done, recordings in total).

        Examples
        --------
        >>> from bdl.datasets import MITDB
        >>> MITDB().simulate("out", recordings=1)
        Traceback (most recent call last):
        bdl.errors.ConfigError: mitdb data cannot be simulated; there are simulators of ...
        """
        if recordings < 1:
            raise ConfigError(f"recordings: at least 1 expected, got {recordings}")
        if days is not None and not (0 < days < 1e6):
            raise ConfigError(f"days: a positive number expected, got {days}")
        if seed < 0:
            raise ConfigError(f"seed: a nonnegative integer expected, got {seed}")
        write = self.simulator()
        if write is None:
            raise ConfigError(
                f"{self.kind} data cannot be simulated; there are simulators of "
                f"{', '.join(Dataset.kinds_with('simulator'))}"
            )
        folder = Path(folder)
        check_output(folder, folder=True)
        folder.mkdir(parents=True, exist_ok=True)
        write(
            folder,
            recordings=recordings,
            days=days,
            seed=seed,
            progress=progress or (lambda done, total: None),
        )
        with atomic(folder / SIMULATED) as temporary:
            temporary.write_text(
                f"simulated by bdl: {self.kind}, {recordings} recordings, seed {seed}\n"
            )

    def fetch(
        self,
        folder: Path | str,
        *,
        only: Iterable[str] = (),
        url: str | None = None,
        progress: FileProgress | None = None,
    ) -> list[Path]:
        """Download the raw files.

        Parameters
        ----------
        folder
            Where to write; files keep the paths they are published under.
        only
            Patterns that restrict the files, such as ``chb01/*``.
        url
            Address of a mirror.
        progress
            Called with (file, bytes so far, bytes in total or 0).

        Returns
        -------
        list of Path
            The files.

        Examples
        --------
        >>> from bdl.datasets import HAPT
        >>> HAPT().fetch("out")
        Traceback (most recent call last):
        bdl.errors.ConfigError: hapt data cannot be downloaded by bdl; it can download ...
        """
        download = self.download()
        if download is None:
            raise ConfigError(
                f"{self.kind} data cannot be downloaded by bdl; it can download "
                f"{', '.join(Dataset.kinds_with('download'))}"
            )
        return download.fetch(
            Path(folder),
            only=tuple(only),
            url=url,
            progress=progress or (lambda file, done, total: None),
        )

    def simulator(self) -> Simulator | None:
        """The function that writes simulated raw files for `simulate`; None if there is none."""
        return None

    def download(self) -> Download | None:
        """Where the raw files are published; None if they cannot be downloaded."""
        return None

    @classmethod
    def grids(cls) -> Mapping[DensityKind, Grid]:
        """The published decoder grids, by the kind of density they are for."""
        return {}

    def trusted(self) -> Self:
        """The data set with permission to open files that can run code (pickles)."""
        return self


def load(name: str, path: Path | str, **options: Any) -> Benchmark:
    """Read a data set by name from the folder or file it was published as.

    Parameters
    ----------
    name
        ``kind`` of the data set.
    path
        Folder or file of the raw data.
    **options
        Options of the data set.

    Examples
    --------
    >>> load("sleeep", "somewhere")
    Traceback (most recent call last):
    bdl.errors.ConfigError: data set: kind: one of bowshock, ... expected, got 'sleeep'
    """
    return Dataset.parse({"kind": name, **options}, "data set").load(path)
