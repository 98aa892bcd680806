"""WFDB records: the real ECG data base, records made by wfdb, and damaged ones."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from datetime import UTC, datetime
from datetime import time as daytime
from pathlib import Path

import numpy as np
import pytest
import wfdb
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import InputError, MissingExtraError
from bdl.formats import read_events, read_recordings

MITDB = Path(__file__).parents[2] / "../shared/data/mitdb"
real = pytest.mark.skipif(not MITDB.exists(), reason="the MIT-BIH records are not here")


@real
def test_the_real_records_and_their_beats_by_symbol() -> None:
    recordings = read_recordings(MITDB)
    assert len(recordings) == 22
    assert {info.samples for info in recordings.infos} == {650_000}
    assert {info.period for info in recordings.infos} == {1 / 360}
    events = read_events(MITDB)
    for id in recordings.ids:
        plain = wfdb.rdann(str(MITDB / id), "atr")
        mine = events.select(recordings=[id])
        assert Counter(mine.event.tolist()) == Counter(plain.symbol)
        np.testing.assert_allclose(mine.time * 360, plain.sample, atol=1e-6)
    notes = read_events(MITDB, labels="aux_note")
    assert "(AFIB" in notes.types
    assert not any("\0" in name for name in notes.types)


@real
@pytest.mark.parametrize("id", ["101", "114"])
def test_the_real_values_are_those_of_wfdb(id: str) -> None:
    plain = wfdb.rdrecord(str(MITDB / id))
    recordings = read_recordings(MITDB / f"{id}.hea")
    assert recordings.infos[0].channels == tuple(plain.sig_name)
    np.testing.assert_array_equal(recordings[id].values, plain.p_signal.astype(np.float32))


@real
def test_a_damaged_signal_file_does_not_add_up(tmp_path: Path) -> None:
    for suffix in (".hea", ".dat"):
        shutil.copy(MITDB / f"101{suffix}", tmp_path)
    (tmp_path / "101.dat").chmod(0o644)
    raw = bytearray((MITDB / "101.dat").read_bytes())
    raw[1000] ^= 1
    (tmp_path / "101.dat").write_bytes(raw)
    with pytest.raises(InputError, match="does not add up to the header's checksum"):
        read_recordings(tmp_path)["101"]
    (tmp_path / "101.dat").write_bytes(raw[:-10])
    with pytest.raises(InputError, match=r"101\.dat: 1,950,000 bytes belong.*it is truncated"):
        read_recordings(tmp_path)


def make(folder: Path, name: str, values: np.ndarray, fmt: str = "16") -> None:  # type: ignore[type-arg]
    count = values.shape[1]
    wfdb.wrsamp(
        name,
        fs=100,
        units=["mV"] * count,
        sig_name=[f"s{i}" for i in range(count)],
        p_signal=values,
        fmt=[fmt] * count,
        base_time=daytime(10, 0),
        base_date=datetime(2020, 6, 1).date(),
        write_dir=str(folder),
    )


@settings(max_examples=25, deadline=None)
@given(
    samples=st.integers(2, 40),
    count=st.integers(1, 3),
    fmt=st.sampled_from(["16", "24", "32", "212"]),
    seed=st.integers(0, 99),
)
def test_values_there_and_back(
    samples: int, count: int, fmt: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("wfdb")
    values = np.random.default_rng(seed).normal(0, 1, (samples, count))
    values[0] = np.nan
    values[-1] = [1.0 + i for i in range(count)]
    make(folder, "a", values, fmt)
    recording = read_recordings(folder)["a"]
    resolution = 1e-2 if fmt == "212" else 1e-3
    np.testing.assert_allclose(recording.values, values, atol=resolution * 2)
    assert recording.info.period == 0.01


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(1, 5000), st.sampled_from("NVAL+")), min_size=1, max_size=20
    )
)
def test_annotations_there_and_back(
    rows: list[tuple[int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("wfdb")
    make(folder, "a", np.random.default_rng(0).normal(0, 1, (50, 1)))
    rows = sorted(rows, key=lambda row: row[0])
    samples = np.array([sample for sample, _ in rows])
    wfdb.wrann("a", "atr", samples, [symbol for _, symbol in rows], fs=100, write_dir=str(folder))
    events = read_events(folder / "a.atr")
    assert events.event.tolist() == [symbol for _, symbol in rows]
    np.testing.assert_allclose(events.time, samples / 100)


def test_labels_of_the_file_itself_long_gaps_and_notes(tmp_path: Path) -> None:
    make(tmp_path, "a", np.random.default_rng(0).normal(0, 1, (50, 1)))
    samples = np.array([5, 5000, 3_000_000])
    wfdb.wrann(
        "a", "atr", samples, ["N", "Z", "+"], aux_note=["", "odd", "(AFIB"], fs=250,
        custom_labels=[(42, "Z", "a label of our own")], write_dir=str(tmp_path),
    )  # fmt: skip
    events = read_events(tmp_path)
    assert events.event.tolist() == ["N", "Z", "+"]
    np.testing.assert_allclose(events.time, samples / 250)
    assert read_events(tmp_path, labels="aux_note").event.tolist() == ["odd", "(AFIB"]
    raw = (tmp_path / "a.atr").read_bytes()
    for length in (1, len(raw) - 3, len(raw) - 11):
        (tmp_path / "a.atr").write_bytes(raw[:length])
        with pytest.raises(InputError, match="it is truncated"):
            read_events(tmp_path)


def test_the_start_is_kept_in_a_given_zone(tmp_path: Path) -> None:
    make(tmp_path, "a", np.random.default_rng(0).normal(0, 1, (50, 2)))
    local = read_recordings(tmp_path)
    assert local.infos[0].start == datetime(2020, 6, 1, 10, 0, tzinfo=UTC)
    assert "its start has no time zone" in local.notes[0]
    info = read_recordings(tmp_path, zone="+02:00").infos[0]
    assert info.start == datetime(2020, 6, 1, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("a.dat", "../a.dat", "must lie beside the header|invalid syntax"),
        ("a.dat", "https://x/a.dat", "must lie beside the header|invalid syntax"),
        ("a 2 100", "a 2 0", "sampling rate|cannot be read"),
        (" 50 ", " ", "how long the record is|cannot be read"),
        (" 50 ", " 5000 ", "it is truncated"),
    ],
)
def test_a_header_that_lies(tmp_path: Path, old: str, new: str, message: str) -> None:
    make(tmp_path, "a", np.random.default_rng(0).normal(0, 1, (50, 2)))
    header = tmp_path / "a.hea"
    assert old in header.read_text()
    header.write_text(header.read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        read_recordings(tmp_path)


def test_a_missing_signal_file_is_named(tmp_path: Path) -> None:
    make(tmp_path, "a", np.random.default_rng(0).normal(0, 1, (50, 2)))
    (tmp_path / "a.dat").unlink()
    with pytest.raises(InputError, match=r"a\.dat: no such file"):
        read_recordings(tmp_path)
    with pytest.raises(InputError, match=r"a\.atr: no such file"):
        read_events(tmp_path)


def test_a_missing_extra_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a", np.random.default_rng(0).normal(0, 1, (50, 2)))
    monkeypatch.setitem(sys.modules, "wfdb", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'bdl-events\[ecg\]'$"):
        read_recordings(tmp_path)
