"""Densities go to disk and back whole, or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bdl.density import Density
from bdl.errors import BdlError, ConfigError, InputError, OutputError
from bdl.formats.densities import read_densities, read_manifest, write_densities


def random_densities(count: int = 3, seed: int = 0) -> list[Density]:
    rng = np.random.default_rng(seed)
    out = []
    for i in range(count):
        samples = int(rng.integers(0, 50))
        values = rng.random((-(-samples // 7), 2)).astype(np.float32)
        out.append(
            Density(f"../n/{i} é", values, ("on", "off"), 0.1, 7, samples, bounded=bool(i % 2))
        )
    return out


def test_densities_are_read_as_they_were_written(tmp_path: Path) -> None:
    written = random_densities(20)
    write_densities(tmp_path / "x" / "d", iter(written))
    read = list(read_densities(tmp_path / "x" / "d"))
    assert len(read) == 20
    for a, b in zip(written, read, strict=True):
        assert np.array_equal(a.values, b.values)
        assert (a.recording, a.types, a.period, a.stride, a.samples, a.kind, a.bounded) == (
            (b.recording, b.types, b.period, b.stride, b.samples, b.kind, b.bounded)
        )


def test_no_recordings_is_an_empty_folder(tmp_path: Path) -> None:
    write_densities(tmp_path / "d", [])
    assert list(read_densities(tmp_path / "d")) == []


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    write_densities(tmp_path / "d", random_densities(2))

    def broken() -> Iterator[Density]:
        yield from random_densities(1)
        raise RuntimeError("the model stopped")

    with pytest.raises(RuntimeError):
        write_densities(tmp_path / "d", broken())
    with pytest.raises(InputError, match="two densities"):
        write_densities(tmp_path / "d", random_densities(1) * 2)
    assert len(list(read_densities(tmp_path / "d"))) == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["d"]
    write_densities(tmp_path / "d", random_densities(5))
    assert len(list(read_densities(tmp_path / "d"))) == 5
    assert [entry.name for entry in tmp_path.iterdir()] == ["d"]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="cannot be written"):
        write_densities(tmp_path / "file" / "d", random_densities())


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "precious.txt").write_text("x")
    with pytest.raises(InputError, match="not a folder of densities"):
        write_densities(tmp_path / "d", random_densities())
    with pytest.raises(InputError, match=r"manifest\.json"):
        read_manifest(tmp_path / "d")


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["recordings"][0].update(file="../000000.npz"),
        lambda m: m["recordings"][0].update(file="/etc/passwd"),
        lambda m: m["recordings"][0].update(samples=9999),
        lambda m: m["recordings"][0].pop("stride"),
        lambda m: m["recordings"].append(m["recordings"][0]),
        lambda m: m.update(version=2),
        lambda m: m.update(extra=1),
        lambda m: m["recordings"][0].update(file="gone.npz"),
    ],
)
def test_a_wrong_manifest_is_refused(tmp_path: Path, change: object) -> None:
    write_densities(tmp_path / "d", random_densities())
    file = tmp_path / "d" / "manifest.json"
    manifest = json.loads(file.read_text())
    change(manifest)  # type: ignore[operator]
    file.write_text(json.dumps(manifest))
    with pytest.raises(BdlError):
        list(read_densities(tmp_path / "d"))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    write_densities(tmp_path / "d", random_densities())
    values = tmp_path / "d" / "000001.npz"
    whole = values.read_bytes()
    for damaged in (b"", b"junk", whole[: len(whole) // 2]):
        values.write_bytes(damaged)
        with pytest.raises(InputError, match=r"000001\.npz"):
            list(read_densities(tmp_path / "d"))
    np.savez(values, values=np.array([[object()]]), allow_pickle=True)
    with pytest.raises(InputError, match=r"000001\.npz"):
        list(read_densities(tmp_path / "d"))
    (tmp_path / "d" / "manifest.json").write_text("{")
    with pytest.raises((InputError, ConfigError), match="manifest"):
        list(read_densities(tmp_path / "d"))
