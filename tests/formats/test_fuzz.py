"""Random bytes and mutated real files at every reader.

Only our errors come out, in bounded time; what is read without one has the shape it claims, and
where the format has checksums, the values it had.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter

import edfio
import numpy as np
import pytest
import wfdb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bdl.errors import BdlError
from bdl.events import Events
from bdl.formats import open_store, prepare, read_events, read_recordings, write_events
from bdl.recording import Recording, Recordings
from recording_tables import write_tables

SECONDS = 20.0
RECORDINGS = ("a.csv", "a.tsv", "a.parquet", "a.feather", "a.npz", "a.edf", "a.bdf", "a.hea")
RECORDINGS += ("a.dat", "manifest.json", "a.npy")
EVENTS = ("own.csv", "own.parquet", "own.feather", "kaggle.csv", "a_events.tsv", "dcase.tsv")
EVENTS += ("a.edf", "a.bdf", "a.atr", "a.hea")


@cache
def samples() -> dict[str, bytes]:
    """A small valid file of every kind."""
    folder = Path(mkdtemp())
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 2)).round(3)
    one = Recording.of(values, id="a", period=0.5, channels=["x", "y"], group="g")
    for kind in ("csv", "tsv", "parquet", "feather", "npz"):
        write_tables(Recordings.of([one]), folder, kind)
    for suffix, signal, whole in (
        ("edf", edfio.EdfSignal, edfio.Edf),
        ("bdf", edfio.BdfSignal, edfio.Bdf),
    ):
        notes = [edfio.EdfAnnotation(1.0, 2.0, "spindle"), edfio.EdfAnnotation(3.0, None, "cough")]
        signals = [signal(column, 4.0, label=n) for column, n in zip(values.T, "xy", strict=True)]
        whole(signals, data_record_duration=1, annotations=notes).write(folder / f"a.{suffix}")
    wfdb.wrsamp("a", 100, ["mV"] * 2, ["x", "y"], values, fmt=["212"] * 2, write_dir=str(folder))
    wfdb.wrann("a", "atr", np.arange(1, 21) * 2, list("NV") * 10, fs=100, write_dir=str(folder))
    events = Events.of("a", ["walk:onset", "walk:offset", "beep"], [1.0, 2.5, 3.5])
    for name in ("own.csv", "own.parquet", "own.feather"):
        write_events(events, folder / name)
    write_events(events, folder / "kaggle.csv", format="kaggle", period=0.5)
    write_events(events, folder / "a_events.tsv", format="bids")
    write_events(events, folder / "dcase.tsv", format="dcase")
    prepare(Recordings.of([one]), folder / "store")
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    return files | {file.name: file.read_bytes() for file in (folder / "store").iterdir()}


def lay(folder: Path, name: str, raw: bytes) -> Path:
    """Put a damaged file among whole ones that belong to it."""
    (folder / name).write_bytes(raw)
    beside = {
        "a.hea": ["a.dat", "a.atr"],
        "a.dat": ["a.hea"],
        "a.atr": ["a.hea"],
        "manifest.json": ["a.npy"],
        "a.npy": ["manifest.json"],
    }
    for other in beside.get(name, []):
        (folder / other).write_bytes(samples()[other])
    if name in ("manifest.json", "a.npy"):
        return folder
    return folder / ("a.hea" if name == "a.dat" else name)


def bounded(work: Callable[[], object]) -> object:
    """The result, or None where our error came; anything else, or a long wait, fails the test."""
    begin = perf_counter()
    try:
        return work()
    except BdlError:
        return None
    finally:
        assert perf_counter() - begin < SECONDS


def read_all(path: Path) -> dict[str, Recording]:
    found = open_store(path) if path.is_dir() else read_recordings(path)
    whole = {recording.id: recording for recording in found}
    for recording in whole.values():
        assert recording.values.shape == (recording.info.samples, len(recording.info.channels))
        assert not np.isinf(recording.values).any()
    return whole


@st.composite
def mutations(draw: st.DrawFn, raw: bytes) -> bytes:
    """A valid file with some bytes changed, cut, doubled or put elsewhere."""
    out = bytearray(raw)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(out) - 1)))
        length = draw(st.sampled_from([1, 1, 1, 2, 8, 64]))
        match draw(st.integers(0, 4)):
            case 0:
                out[at : at + length] = draw(st.binary(min_size=length, max_size=length))
            case 1:
                del out[at : at + length]
            case 2:
                out[at:at] = out[at : at + length]
            case 3 if out:
                out[at] ^= 1 << draw(st.integers(0, 7))
            case _:
                del out[at:]
    return bytes(out)


@st.composite
def damaged(draw: st.DrawFn, names: tuple[str, ...]) -> tuple[str, bytes]:
    name = draw(st.sampled_from(names))
    raw = samples()[name]
    return name, draw(st.binary(max_size=300) | mutations(raw) | mutations(raw))


def check_recordings(case: tuple[str, bytes], folder: Path) -> None:
    name, raw = case
    found = bounded(lambda: read_all(lay(folder, name, raw)))
    if found and name in ("a.parquet", "a.npz"):
        assert isinstance(found, dict)
        clean = folder / "clean"
        clean.mkdir()
        whole, expected = found["a"], read_all(lay(clean, name, samples()[name]))["a"]
        same = (whole.info.channels, whole.info.samples)
        if same == (expected.info.channels, expected.info.samples):
            np.testing.assert_array_equal(whole.values, expected.values)


def check_events(case: tuple[str, bytes], folder: Path) -> None:
    name, raw = case
    file = lay(folder, name, raw)
    found = bounded(lambda: read_events(file, defaults={"period": 0.5}))
    if found is not None:
        assert isinstance(found, Events)
        assert np.isfinite(found.time).all()
        assert len(found.recording) == len(found.event) == len(found.time)
    # Told the format, a reader must not trip over columns that are not there.
    formats = {"own": "bdl", "kag": "kaggle", "a_e": "bids", "dca": "dcase"}
    if name[:3] in formats:
        bounded(lambda: read_events(file, defaults={"period": 0.5}, format=formats[name[:3]]))


calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@settings(calm, max_examples=250)
@given(case=damaged(RECORDINGS))
def test_recordings(case: tuple[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    check_recordings(case, tmp_path_factory.mktemp("fuzz"))


@settings(calm, max_examples=250)
@given(case=damaged(EVENTS))
def test_events(case: tuple[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    check_events(case, tmp_path_factory.mktemp("fuzz"))


@pytest.mark.slow
@settings(calm, max_examples=2000)
@given(case=damaged(RECORDINGS))
def test_recordings_at_length(
    case: tuple[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    check_recordings(case, tmp_path_factory.mktemp("fuzz"))


@pytest.mark.slow
@settings(calm, max_examples=2000)
@given(case=damaged(EVENTS))
def test_events_at_length(
    case: tuple[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    check_events(case, tmp_path_factory.mktemp("fuzz"))


def test_every_whole_sample_is_read(tmp_path: Path) -> None:
    """The files that are damaged above are good to begin with."""
    for name in RECORDINGS:
        folder = tmp_path / name
        folder.mkdir()
        assert [*read_all(lay(folder, name, samples()[name]))] == ["a"]
    for name in EVENTS:
        folder = tmp_path / f"events {name}"
        folder.mkdir()
        assert len(read_events(lay(folder, name, samples()[name]), defaults={"period": 0.5})) >= 3
