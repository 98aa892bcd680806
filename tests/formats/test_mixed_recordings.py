"""Recordings of several rates, channel names and qualities, as clinics collect them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats import prepare, read_events, read_recordings
from bdl.formats.channel_names import channel_names, chosen_channels, common_name
from bdl.formats.polyphase import on_one_clock
from bdl.recording import Recording, Recordings
from calling import call_json

edfio = pytest.importorskip("edfio")


def edf(file: Path, labels: list[str], rate: int = 256, seconds: int = 10) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    times = np.arange(rate * seconds) / rate
    signals = [
        edfio.EdfSignal(50 * np.sin(2 * np.pi * (i + 1) * times), rate, label=label)
        for i, label in enumerate(labels)
    ]
    start = datetime(2024, 1, 15, 22, 30)
    edfio.Edf(
        signals, recording=edfio.Recording(startdate=start.date()), starttime=start.time()
    ).write(file)
    return file


def test_one_electrode_has_one_name(tmp_path: Path) -> None:
    edf(tmp_path / "a.edf", ["EEG Fp1-REF", "EEG T3-REF", "ECG"])
    edf(tmp_path / "b.edf", ["T7", "FP1", "ECG"])
    edf(tmp_path / "c.edf", ["EEG 1", "eeg t3-le", "ECG"])
    recordings = read_recordings(tmp_path, channels=("Fp1", "T7"), aliases={"EEG 1": "Fp1"})
    assert {info.channels for info in recordings.infos} == {("Fp1", "T7")}
    for id, columns in (("a", (0, 1)), ("b", (1, 0)), ("c", (0, 1))):
        times = np.arange(2560) / 256
        for values, column in zip(recordings[id].values.T, columns, strict=True):
            np.testing.assert_allclose(
                values, 50 * np.sin(2 * np.pi * (column + 1) * times), atol=0.01
            )
    assert read_recordings(tmp_path / "a.edf").infos[0].channels == ("Fp1", "T3", "ECG")
    with pytest.raises(InputError, match=r"channel 'Cz' is missing; it has Fp1.*--alias LABEL=Cz"):
        read_recordings(tmp_path / "a.edf", channels=("Cz",))


@given(st.lists(st.text("aFpP1 -", max_size=4), max_size=8))
def test_names_are_unique_and_every_label_finds_itself(labels: list[str]) -> None:
    names = channel_names(labels)
    assert len({*names}) == len(names)
    assert [*chosen_channels(names, labels, names, Path("a")).values()] == [*range(len(names))]


def test_derivations_and_other_signals_keep_their_labels() -> None:
    for label in ("FP1-F7", "EEG Fpz-Cz", "SaO2", "C3-A2", "EMG chin", "x", "REF"):
        assert common_name(label) == label


@settings(max_examples=60, deadline=None)
@given(
    old=st.sampled_from([100, 128, 200, 256, 500, 512]),
    new=st.sampled_from([50, 100, 128, 200, 250, 256]),
    frequency=st.floats(0.5, 8.0),
    level=st.floats(-100, 100),
)
def test_slow_waves_keep_their_form_and_place(
    old: int, new: int, frequency: float, level: float
) -> None:
    times = np.arange(old * 20) / old
    wave = np.sin(2 * np.pi * frequency * times) + level
    resampled = on_one_clock(Recordings.of([Recording.of(wave, id="a", period=1 / old)]), new)["a"]
    assert resampled.info.samples == -(-len(wave) * new // old)
    later = np.arange(resampled.info.samples) / new
    expected = np.sin(2 * np.pi * frequency * later) + level
    middle = slice(new, -new)
    np.testing.assert_allclose(resampled.values[middle, 0], expected[middle], atol=0.005)


def test_what_the_new_clock_cannot_hold_is_removed_not_aliased() -> None:
    times = np.arange(512 * 20) / 512
    wave = np.sin(2 * np.pi * 90 * times)  # at 100 Hz it would look like a wave of 10 Hz
    resampled = on_one_clock(Recordings.of([Recording.of(wave, id="a", period=1 / 512)]), 100.0)
    assert np.abs(resampled["a"].values[100:-100]).max() < 0.01


def test_gaps_stay_gaps_and_offsets_their_time() -> None:
    values = np.ones(1000)
    values[400:600] = np.nan
    start = datetime(2024, 10, 27, tzinfo=UTC)
    source = Recording.of(
        values, id="a", period=0.01, start=start, offset_changes=[(500, 3600)], group="p"
    )
    resampled = on_one_clock(Recordings.of([source]), 50.0)
    info = resampled.infos[0]
    assert (info.start, info.offset_changes, info.group) == (start, ((250, 3600),), "p")
    assert np.flatnonzero(np.isnan(resampled["a"].values[:, 0])).tolist() == [*range(200, 300)]
    assert "1 recordings resampled from 100 Hz to 50 Hz" in resampled.notes[0]
    same = on_one_clock(resampled, 50.0)
    assert same["a"].values is not None
    assert len(same.notes) == len(resampled.notes)
    with pytest.raises(ConfigError, match="--rate"):
        on_one_clock(resampled, -1.0)


def test_one_odd_file_is_left_out_when_asked(tmp_path: Path) -> None:
    edf(tmp_path / "a.edf", ["Fp1"])
    (tmp_path / "b.edf").write_bytes(b"not an EDF file" * 100)
    with pytest.raises(InputError, match=r"b\.edf"):
        read_recordings(tmp_path)
    recordings = read_recordings(tmp_path, invalid="skip")
    assert recordings.ids == ("a",)
    assert recordings.notes[0].startswith("left out: ")
    assert recordings.left_out == recordings.notes[:1]
    store = prepare(recordings, tmp_path / "store")
    assert store.left_out == recordings.left_out
    assert store.select(["a"]).left_out == recordings.left_out
    other = replace(recordings, notes=("left out: nothing, this is free text",), left_out=())
    assert prepare(other, tmp_path / "other").left_out == ()
    (tmp_path / "a.edf").unlink()
    with pytest.raises(InputError, match=r"b\.edf"):
        read_recordings(tmp_path, invalid="skip")


def test_the_start_of_a_file_is_used(tmp_path: Path) -> None:
    file = edf(tmp_path / "a.edf", ["Fp1"])
    recordings = read_recordings(file)
    assert recordings.infos[0].local_time(np.array([0]))[0].tolist() == [22]
    assert "its start has no time zone" in recordings.notes[0]
    table = tmp_path / "events.csv"
    table.write_text("recording,event,time\na,spike,15.01.2024 22:30:05\n")
    assert read_events(table, recordings=recordings).time.tolist() == [5.0]
    berlin = read_recordings(file, zone="Europe/Berlin")
    assert berlin.infos[0].start == datetime(2024, 1, 15, 21, 30, tzinfo=UTC)
    assert read_events(table, recordings=berlin).time.tolist() == [5.0]


def test_bids_events_belong_to_the_recording_of_their_modality(tmp_path: Path) -> None:
    folder = tmp_path / "sub-01" / "eeg"
    edf(folder / "sub-01_task-rest_eeg.edf", ["Fp1"])
    edf(folder / "sub-02_task-rest_ieeg.edf", ["Fp1"])
    for name in ("sub-01", "sub-02"):
        (folder / f"{name}_task-rest_events.tsv").write_text(
            "onset\tduration\ttrial_type\n1.5\t2.0\tseizure\n"
        )
    recordings = read_recordings(tmp_path, pattern="**/*.edf")
    events = read_events(tmp_path, format="bids", recordings=recordings)
    assert events == Events.of(
        [id for id in ("sub-01_task-rest_eeg", "sub-02_task-rest_ieeg") for _ in range(2)],
        ["seizure:onset", "seizure:offset"] * 2,
        [1.5, 3.5] * 2,
    )


@pytest.mark.parametrize(("samples", "rate", "expected"), [(0, 2.0, 0), (1, 2.0, 2), (1, 0.5, 1)])
def test_the_shortest_recordings_are_resampled_too(samples: int, rate: float, expected: int):
    recording = Recording.of(np.full((samples, 1), 7.0), id="a", period=1.0)
    values = on_one_clock(Recordings.of([recording]), rate)["a"].values
    np.testing.assert_allclose(values, np.full((expected, 1), 7.0), rtol=1e-4)


def test_a_bids_folder_is_read_by_its_name_alone(tmp_path: Path) -> None:
    (tmp_path / "participants.tsv").write_text("participant_id\tage\nsub-01\t40\nsub-02\t50\n")
    noise = np.random.default_rng(0).normal(size=640)
    for name in ("sub-01_ses-1", "sub-01_ses-2", "sub-02_ses-1"):
        folder = tmp_path / name[:6] / name[7:] / "eeg"
        folder.mkdir(parents=True)
        edfio.Edf([edfio.EdfSignal(noise, 64, label="EEG Fp1-REF")]).write(
            folder / f"{name}_task-rest_eeg.edf"
        )
        (folder / f"{name}_task-rest_eeg.json").write_text("{}")
        (folder / f"{name}_task-rest_events.tsv").write_text(
            "onset\tduration\tvalue\n2\t3\tseizure\n7\tn/a\tn/a\n"
        )
    summary = call_json("inspect", tmp_path, "--events", tmp_path)
    assert summary["recordings"]["recordings"] == 3
    assert (summary["recordings"]["groups"], summary["recordings"]["largest_group"]) == (2, 2)
    assert summary["events"]["types"] == {"seizure:offset": 3, "seizure:onset": 3}
    assert summary["events"]["unknown_recordings"] == []
    assert summary["notes"] == [f"{tmp_path}: 3 rows without a type are left out"]


def test_where_no_file_can_be_read_the_first_is_told(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("time,x\n0,1\n5,2\n4,3\n")
    with pytest.raises(InputError, match=r"a\.csv: .*unsorted.* \(1 more files cannot be read"):
        read_recordings(tmp_path, invalid="skip")
