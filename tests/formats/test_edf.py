"""EDF, EDF+ and BDF, written by edfio and read by us."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime, time
from pathlib import Path

import edfio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import InputError, MissingExtraError
from bdl.formats import read_events, read_recordings


def make(
    file: Path,
    values: np.ndarray,  # type: ignore[type-arg]
    rate: float = 8.0,
    labels: tuple[str, ...] = ("C3", "C4"),
    annotations: list[edfio.EdfAnnotation] | None = None,
) -> edfio.Edf | edfio.Bdf:
    bdf = file.suffix == ".bdf"
    signal = edfio.BdfSignal if bdf else edfio.EdfSignal
    whole = edfio.Bdf if bdf else edfio.Edf
    made = whole(
        [
            signal(column, rate, label=label, physical_range=(-500, 500))
            for column, label in zip(values.T, labels, strict=True)
        ],
        recording=edfio.Recording(startdate=date(2020, 10, 25)),
        starttime=time(1, 30),
        data_record_duration=1,
        annotations=annotations,
    )
    made.write(file)
    return made


@pytest.mark.parametrize("suffix", [".edf", ".bdf"])
def test_values_channels_and_clock(tmp_path: Path, suffix: str) -> None:
    values = np.random.default_rng(0).uniform(-400, 400, (40, 2))
    made = make(tmp_path / f"night{suffix}", values)
    recordings = read_recordings(tmp_path / f"night{suffix}")
    info = recordings.infos[0]
    assert (info.id, info.samples, info.channels) == ("night", 40, ("C3", "C4"))
    assert (info.period, info.start) == (0.125, datetime(2020, 10, 25, 1, 30, tzinfo=UTC))
    expected = np.stack([signal.data for signal in made.signals], axis=1)
    np.testing.assert_allclose(recordings["night"].values, expected, rtol=1e-6, atol=1e-4)
    chunks = [*recordings.chunks(info.id)]
    np.testing.assert_array_equal(np.concatenate(chunks), recordings["night"].values)


def test_the_start_is_kept_in_a_given_zone_through_daylight_saving(tmp_path: Path) -> None:
    make(tmp_path / "a.edf", np.zeros((8 * 7200, 2)))
    info = read_recordings(tmp_path / "a.edf", zone="Europe/Zurich").infos[0]
    assert info.start == datetime(2020, 10, 24, 23, 30, tzinfo=UTC)
    assert info.offset_changes == ((8 * 5400, 3600),)


def test_channels_are_chosen_by_name_and_repeated_labels_numbered(tmp_path: Path) -> None:
    values = np.stack([np.full(16, v) for v in (1.0, 2.0, 3.0)], axis=1)
    make(tmp_path / "a.edf", values, labels=("T8-P8", "C3", "T8-P8"))
    recordings = read_recordings(tmp_path / "a.edf")
    assert recordings.infos[0].channels == ("T8-P8", "C3", "T8-P8 (2)")
    two = read_recordings(tmp_path / "a.edf", channels=("C3", "T8-P8"))["a"].values
    np.testing.assert_allclose(two[0], [2.0, 1.0], atol=0.02)
    with pytest.raises(InputError, match=r"channel 'X' is missing; it has T8-P8, C3"):
        read_recordings(tmp_path / "a.edf", channels=("X",))


def test_slower_signals_repeat_their_samples(tmp_path: Path) -> None:
    def write(rates: tuple[int, ...]) -> Path:
        signals = [
            edfio.EdfSignal(np.arange(rate * 4.0), rate, label=f"at{rate}") for rate in rates
        ]
        edfio.Edf(signals, data_record_duration=1).write(tmp_path / "a.edf")
        return tmp_path / "a.edf"

    recordings = read_recordings(write((8, 16)))
    assert "slower than 16 Hz repeat their samples: at8 (8 Hz)" in recordings.notes[0]
    assert recordings.infos[0].period == 1 / 16
    np.testing.assert_allclose(recordings["a"].values[:, 0], np.repeat(np.arange(32), 2), atol=0.01)
    np.testing.assert_allclose(recordings["a"].values[:, 1], np.arange(64), atol=0.01)
    odd = read_recordings(write((6, 16)))  # each value of the fast clock is the last one there was
    np.testing.assert_allclose(odd["a"].values[:, 0], np.arange(64) * 6 // 16, atol=0.01)
    assert read_recordings(tmp_path / "a.edf", channels=("at16",)).infos[0].samples == 64


texts = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=9)


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 39), st.none() | st.integers(1, 40), texts), max_size=6),
    suffix=st.sampled_from([".edf", ".bdf"]),
)
def test_annotations_there_and_back(
    rows: list[tuple[int, int | None, str]],
    suffix: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    kept = [(onset / 8, length, f"{'i' if length else 'p'}{text}") for onset, length, text in rows]
    file = tmp_path_factory.mktemp("edf") / f"a{suffix}"
    notes = [edfio.EdfAnnotation(onset, length, text) for onset, length, text in kept]
    make(file, np.zeros((40, 2)), annotations=notes)
    events = read_events(file)
    annotated = sorted(zip(events.event.tolist(), events.time.tolist(), strict=True))
    points = [(text, onset) for onset, length, text in kept if length is None]
    starts = [(f"{text}:onset", onset) for onset, length, text in kept if length]
    ends = [(f"{text}:offset", onset + length) for onset, length, text in kept if length]
    assert annotated == sorted(points + starts + ends)


def test_gaps_of_an_edf_plus_d_are_refused_or_filled(tmp_path: Path) -> None:
    file = tmp_path / "a.edf"
    values = np.repeat(np.arange(1.0, 5.0), 8)[:, None].repeat(2, axis=1)
    make(file, values, annotations=[edfio.EdfAnnotation(0.5, None, "x")])
    raw = file.read_bytes()
    # The third data record begins two seconds late.
    raw = raw.replace(b"EDF+C", b"EDF+D", 1).replace(b"+2\x14\x14", b"+4\x14\x14", 1)
    raw = raw.replace(b"+3\x14\x14", b"+5\x14\x14", 1)
    file.write_bytes(raw)
    with pytest.raises(InputError, match="16 missing samples in 1 gaps"):
        read_recordings(file)
    recordings = read_recordings(file, regular=True)
    values = recordings["a"].values[:, 0]
    assert np.isnan(values).tolist() == [False] * 16 + [True] * 16 + [False] * 16
    assert "filled" in recordings.notes[0]
    file.write_bytes(raw.replace(b"+5\x14\x14", b"+1\x14\x14", 1))
    with pytest.raises(InputError, match="before the one before ends"):
        read_recordings(file, regular=True)


def test_a_header_that_lies_about_its_length(tmp_path: Path) -> None:
    file = tmp_path / "a.edf"
    make(file, np.zeros((40, 2)))
    raw = file.read_bytes()
    for claimed, why in ((b"9       ", "it is truncated"), (b"3       ", "does not fit the file")):
        file.write_bytes(raw[:236] + claimed + raw[244:])
        with pytest.raises(
            InputError, match=f"a.edf: its header claims {claimed[:1].decode()} .*{why}"
        ):
            read_recordings(file)
        with pytest.raises(InputError, match=why):
            read_events(file)
    file.write_bytes(raw[:236] + b"-1      " + raw[244:])
    assert read_recordings(file).infos[0].samples == 40


def test_a_truncated_file_at_every_length(tmp_path: Path) -> None:
    file = tmp_path / "a.edf"
    make(file, np.zeros((40, 2)))
    raw = file.read_bytes()
    for length in range(1, len(raw), 37):
        file.write_bytes(raw[:length])
        with pytest.raises(InputError):
            read_recordings(file)


def test_a_missing_extra_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.edf"
    make(file, np.zeros((8, 2)))
    monkeypatch.setitem(sys.modules, "edfio", None)
    with pytest.raises(
        MissingExtraError, match=r"^edfio is not installed: pip install 'bdl-events\[eeg\]'$"
    ):
        read_recordings(file)
