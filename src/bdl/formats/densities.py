"""Densities on disk: a folder with one ``.npz`` file per recording and a ``manifest.json``.

The manifest lists the recordings in order, each with its file and its clock: id, file, types,
period (s), stride, samples, kind, bounded. A file contains one array, ``values`` (bins, types)
float32; it is read without pickle. Files are numbered, so that every id is allowed. The folder is
written under another name and renamed when it is complete. An existing folder of densities is
replaced; anything else of that name is not touched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from bdl.config import Value, validate
from bdl.density import Density, DensityKind
from bdl.errors import InputError
from bdl.formats.atomic_files import atomic
from bdl.formats.files import known_path, reading
from bdl.formats.npz_arrays import array_shapes, read_array
from bdl.plain_data import parse_json

MANIFEST = "manifest.json"


class DensityEntry(Value):
    """One recording of a manifest: its id, the name of its file, and fields of its `Density`.

    Examples
    --------
    >>> shared = {"types": ("beat",), "period": 1.0, "stride": 10, "samples": 15}
    >>> DensityEntry(id="a", file="000000.npz", kind="events", bounded=False, **shared).stride
    10
    """

    id: Annotated[str, Field(min_length=1)]
    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*\.npz$")]
    types: tuple[str, ...]
    period: Annotated[float, Field(gt=0)]
    stride: Annotated[int, Field(ge=1)]
    samples: Annotated[int, Field(ge=0)]
    kind: DensityKind
    bounded: bool


_CLOCK = tuple(name for name in DensityEntry.model_fields if name not in ("id", "file"))


class DensityManifest(Value):
    """Contents of a folder of densities, in order; format and version identify its layout.

    Examples
    --------
    >>> DensityManifest(recordings=()).version
    1
    """

    format: Literal["bdl-densities"] = "bdl-densities"
    version: Literal[1] = 1
    recordings: tuple[DensityEntry, ...]


def write_densities(path: str | Path, densities: Iterable[Density]) -> None:
    """Write densities, one per recording and one at a time, to a new folder.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "densities"
    >>> values = np.array([[0.0], [0.25]], np.float32)
    >>> write_densities(folder, [Density("night/1", values, ("beat",), 1.0, 10, 15)])
    >>> [(density.recording, density.values.tolist()) for density in read_densities(folder)]
    [('night/1', [[0.0], [0.25]])]
    """
    target = Path(path)
    if target.exists() and not (target / MANIFEST).is_file():
        raise InputError(f"{target}: exists and is not a folder of densities; give another name")
    entries: list[DensityEntry] = []
    seen: set[str] = set()
    with atomic(target, folder=True) as temporary:
        for number, density in enumerate(densities):
            if density.recording in seen:
                raise InputError(f"{target}: two densities of recording {density.recording!r}")
            seen.add(density.recording)
            file = f"{number:06d}.npz"
            np.savez(temporary / file, values=density.values)
            clock = {name: getattr(density, name) for name in _CLOCK}
            entries.append(DensityEntry(id=density.recording, file=file, **clock))
        manifest = DensityManifest(recordings=tuple(entries)).model_dump(mode="json")
        (temporary / MANIFEST).write_text(json.dumps(manifest, indent=1))


def read_manifest(path: str | Path) -> DensityManifest:
    """The manifest of a folder of densities; no values are read.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "densities"
    >>> write_densities(folder, [])
    >>> read_manifest(folder).recordings
    ()
    """
    file = known_path(path) / MANIFEST
    if not file.is_file():
        raise InputError(
            f"{path}: not a folder of densities: it has no {MANIFEST}; `bdl detect --densities "
            "FOLDER` writes one"
        )
    with reading(file, "a manifest of densities"):
        data = parse_json(file.read_bytes(), file)
    manifest: DensityManifest = validate(DensityManifest, data, str(file))
    ids = [entry.id for entry in manifest.recordings]
    if len(set(ids)) != len(ids):
        raise InputError(f"{file}: recording ids repeat")
    return manifest


def read_densities(path: str | Path) -> Iterator[Density]:
    """The densities of a folder, one at a time, in its order.

    Examples
    --------
    >>> next(read_densities("/no/such"))
    Traceback (most recent call last):
    bdl.errors.InputError: /no/such: not a folder of densities: it has no manifest.json
    """
    for entry in read_manifest(path).recordings:
        yield read_density(path, entry)


def read_density(path: str | Path, entry: DensityEntry) -> Density:
    """One density of a folder, by its entry of the manifest.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "densities"
    >>> density = Density("a", np.zeros((2, 1), np.float32), ("beat",), 1.0, 10, 15)
    >>> write_densities(folder, [density])
    >>> read_density(folder, read_manifest(folder).recordings[0]).recording
    'a'
    """
    file = Path(path) / entry.file
    if (shape := array_shapes(file).get("values")) is None or len(shape) != 2:
        raise InputError(f"{file}: an array 'values' of (bins, types) expected, got {shape}")
    values = read_array(file, "values")
    if values.dtype != np.float32:
        raise InputError(f"{file}: float32 values expected, got {values.dtype}")
    return Density(entry.id, values, **{name: getattr(entry, name) for name in _CLOCK})
