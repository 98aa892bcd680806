"""Tiles: equal to minima and maxima of the samples, whatever the size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl import Recording, Recordings
from bdl.errors import InputError
from bdl.explore import pyramid as module
from bdl.explore.filters import DisplayFilter
from bdl.explore.index import TileIndex
from bdl.explore.pyramid import TILE, Pyramid, build, level_sizes
from bdl.formats import open_store, prepare
from naive.review import tile


@settings(max_examples=25, deadline=None)
@given(
    samples=st.integers(0, 40_000),
    channels=st.integers(1, 3),
    chunk=st.integers(1, 9_000),
    missing=st.floats(0, 1),
    seed=st.integers(0, 9),
)
def test_tiles_are_minima_and_maxima_of_the_samples(
    samples: int, channels: int, chunk: int, missing: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(samples, channels)).astype(np.float32)
    values[rng.uniform(size=values.shape) < missing**4] = np.nan
    parts = [values[first : first + chunk] for first in range(0, samples, chunk)]
    pyramid = Pyramid(values, build(parts, samples, channels))
    for level in range(pyramid.levels):
        last = max(0, -(-pyramid.size(level) // TILE) - 1)
        for index in {0, last}:
            if not samples:
                continue
            got = pyramid.tile(level, index, range(channels))
            if level == 0:
                np.testing.assert_array_equal(got, values[index * TILE :][:TILE].T)
            elif level > 1 or samples < 9_000:
                np.testing.assert_array_equal(got, tile(values, level, index, TILE))
    assert all(low < high for low, high in pyramid.spread())


def test_the_index_takes_two_fifteenths_of_the_samples() -> None:
    assert sum(level_sizes(10**9)) * 2 / 10**9 == pytest.approx(2 / 15, rel=1e-3)


def test_tiles_outside_are_refused() -> None:
    values = np.zeros((100, 1), np.float32)
    pyramid = Pyramid(values, build([values], 100, 1))
    for level, index in ((-1, 0), (99, 0), (0, 1), (0, -1)):
        with pytest.raises(InputError, match="no tile"):
            pyramid.tile(level, index, [0])


def store(folder: Path, value: float = 0.0, samples: int = 30_000) -> Recordings:
    values = np.full((samples, 1), value, np.float32)
    return prepare(Recordings.of([Recording.of(values, id="a/../b", period=1.0)]), folder)


def test_an_index_is_built_once_and_again_when_the_recording_changes(tmp_path: Path) -> None:
    values = np.arange(30_000, dtype=np.float32)
    prepare(Recordings.of([Recording.of(values, id="a", period=1.0)]), tmp_path / "store")
    first = TileIndex(open_store(tmp_path / "store"), tmp_path / "tiles")
    assert first.ready("a") == 1.0
    [file] = (tmp_path / "tiles").iterdir()
    before = file.stat()
    again = TileIndex(open_store(tmp_path / "store"), tmp_path / "tiles")
    assert again.open("a").tile(2, 0, [0])[0, 0].tolist() == [0.0, 15.0]
    assert file.stat() == before
    data = np.lib.format.open_memmap(tmp_path / "store" / "a.npy", "r+")
    data[:16] = 7.0
    data.flush()
    assert again.open("a").tile(2, 0, [0])[0, 0].tolist() == [7.0, 7.0]
    assert len([*(tmp_path / "tiles").iterdir()]) == 1
    (tmp_path / "store" / "a.npy").unlink()
    with pytest.raises(InputError, match=r"a\.npy cannot be read"):
        again.ready("a")


def test_a_large_recording_is_indexed_while_the_page_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bdl.explore.index.SMALL", 10)
    recordings = Recordings.of([Recording.of(np.arange(30_000.0), id="../../x", period=1.0)])
    index = TileIndex(recordings, tmp_path / "tiles")
    states = [index.ready("../../x")]
    while states[-1] < 1:
        states.append(index.ready("../../x"))
    assert states[0] == 0.0
    assert [file.parent.name for file in tmp_path.rglob("*.npy")] == ["tiles"]


def test_a_damaged_index_is_made_again(tmp_path: Path) -> None:
    values, file = np.arange(30_000, dtype=np.float32)[:, None], tmp_path / "x.npy"
    wanted = np.array(module.stored(file, lambda: [values], 30_000, 1))
    whole = file.read_bytes()
    changed = whole.replace(b"\x00\x80", b"\x01\x80", 1)
    for content in (b"not an array", b"", whole[:-1], whole + whole[-9:], changed):
        assert content != whole
        file.write_bytes(content)
        np.testing.assert_array_equal(module.stored(file, lambda: [values], 30_000, 1), wanted)
        assert file.read_bytes() == whole
    unread = module.stored(file, lambda: pytest.fail("a whole index is used"), 30_000, 1)
    np.testing.assert_array_equal(unread, wanted)


def test_filters_keep_what_they_should() -> None:
    time = np.arange(20_000) / 250
    slow, fast = np.sin(2 * np.pi * 1.0 * time), np.sin(2 * np.pi * 50.0 * time)
    values = (100 + slow + fast).astype(np.float32)[:, None]
    pyramid = Pyramid(values, build([values], len(values), 1))
    inner = slice(500, 1500)
    for chosen, wanted in (
        (DisplayFilter(notch=50.0), 100 + slow),
        (DisplayFilter(low_pass=10.0), 100 + slow),
        (DisplayFilter(high_pass=10.0), fast),
    ):
        got = chosen.tile(pyramid, 1 / 250, 0, 1, [0])[0]
        np.testing.assert_allclose(got[inner], wanted[TILE:][inner], atol=0.12)
        assert chosen.tile(pyramid, 1 / 250, 2, 0, [0]).shape == (1, 1250, 2)
