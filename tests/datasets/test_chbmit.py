"""Both layouts of CHB-MIT, simulated and damaged."""

from __future__ import annotations

import hashlib
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pytest

from bdl import datasets
from bdl.datasets import CHBMIT
from bdl.datasets.chbmit import published
from bdl.datasets.chbmit.eeg_files import CHANNELS
from bdl.errors import ConfigError, InputError

edfio = pytest.importorskip("edfio")
SHORT = 240 / 86400


@pytest.fixture(scope="module")
def physionet_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("physionet")
    CHBMIT().simulate(folder, recordings=7, days=SHORT, seed=3)
    return folder


@pytest.fixture(scope="module")
def kaggle_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kaggle")
    CHBMIT(source="kaggle").simulate(folder, recordings=3, days=SHORT, seed=3)
    return folder


@pytest.fixture
def physionet(physionet_files, tmp_path):
    return shutil.copytree(physionet_files, tmp_path / "physionet")


@pytest.fixture
def kaggle(kaggle_files, tmp_path):
    return shutil.copytree(kaggle_files, tmp_path / "kaggle")


def write_summary(folder, name, *parts):
    """A summary of one case; a part is (file, announced seizures, [(start, end), ...])."""
    lines = []
    for file, count, times in parts:
        lines += [f"File Name: {file}", f"Number of Seizures in File: {count}"]
        for k, (start, end) in enumerate(times, start=1):
            lines += [f"Seizure {k} Start Time: {start} seconds"] * (start is not None)
            lines += [f"Seizure {k} End Time: {end} seconds"] * (end is not None)
    (folder / name / f"{name}-summary.txt").write_text("\n".join(lines))


def test_physionet(physionet):
    write_summary(physionet, "chb02", ("chb02_01.edf", 2, [(10, 20), (100, 131)]))
    benchmark = datasets.load("chbmit", physionet)
    assert len(benchmark.recordings) == 7
    assert set(benchmark.recordings.groups.values()) == {"chb01", "chb02"}
    assert benchmark.events.times("chb02_01", "onset").tolist() == [10.0, 100.0]
    assert benchmark.events.times("chb02_01", "offset").tolist() == [20.0, 131.0]
    assert benchmark.settings.event_free == "count"
    values = benchmark.recordings["chb01_01"].values
    assert values.shape == (240 * 256, 21)
    assert 5 < values.std() < 300


def test_recordings_without_a_seizure_can_be_left_out(physionet, kaggle):
    for name in ("chb01", "chb02"):
        files = sorted(file.name for file in (physionet / name).glob("*.edf"))
        write_summary(physionet, name, *((file, 0, []) for file in files))
    with pytest.raises(InputError, match="none of the 7 recordings has a seizure"):
        datasets.load("chbmit", physionet, positive_only=True)
    parts = [(f"chb01_{k:02d}.edf", k % 2, [(10, 20)] * (k % 2)) for k in range(1, 7)]
    write_summary(physionet, "chb01", *parts)
    every = datasets.load("chbmit", physionet)
    positive = datasets.load("chbmit", physionet, positive_only=True)
    assert positive.recordings.ids == ("chb01_01", "chb01_03", "chb01_05")
    assert positive.events == every.events
    assert positive.settings.event_free == "ignore"
    assert "left out, without a seizure: 4 recordings" in positive.notes
    folder = kaggle / "seizure_256Hz_dataset"
    shutil.copy(folder / "chb01_01.ftr", folder / "chb09_01.ftr")
    assert "chb09_01" in datasets.load("chbmit", kaggle).recordings
    assert "chb09_01" not in datasets.load("chbmit", kaggle, positive_only=True).recordings


def test_kaggle(kaggle):
    benchmark = datasets.load("chbmit", kaggle, checksums=True)
    assert len(benchmark.recordings) == 3
    assert set(benchmark.events.recordings) == set(benchmark.recordings.ids)
    assert benchmark.settings.event_free == "ignore"
    notes = "\n".join(benchmark.notes)
    assert "events table: SHA-256 differs from the paper's" in notes
    assert "Feather files: checksums differ from the paper's" in notes


def test_both_layouts_hold_the_same_signal(tmp_path):
    """Up to the 16 bits of EDF, where a case has a seizure anyway."""
    for source in ("physionet", "kaggle"):
        folder = tmp_path / source
        CHBMIT(source=source).simulate(folder, recordings=1, days=SHORT, seed=11)
    edf = datasets.load("chbmit", tmp_path / "physionet").recordings["chb01_01"].values
    ftr = datasets.load("chbmit", tmp_path / "kaggle").recordings["chb01_01"].values
    # The seizure that Kaggle's layout enforces changes a stretch; the beginning is common.
    np.testing.assert_allclose(edf[:2000], np.clip(ftr[:2000], -1600, 1600), atol=0.03)


def test_checksums_that_match(kaggle, monkeypatch):
    table = kaggle / "seizure_events.csv"
    monkeypatch.setattr(published, "TABLE_SHA256", hashlib.sha256(table.read_bytes()).hexdigest())
    files = sorted((kaggle / "seizure_256Hz_dataset").glob("*.ftr"))
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in files]
    listing = "\n".join(lines) + "\n"
    wanted = hashlib.sha256(listing.encode()).hexdigest()
    assert wanted in published.manifests(files)
    monkeypatch.setattr(published, "FEATHER_SHA256", wanted)
    notes = "\n".join(datasets.load("chbmit", kaggle, checksums=True).notes)
    assert "SHA-256 matches" in notes
    assert "checksums match" in notes


def test_missing_values_are_zero(kaggle):
    file = next((kaggle / "seizure_256Hz_dataset").glob("*.ftr"))
    table = feather.read_table(file)
    first = table.column(0).to_numpy().copy()
    first[5] = np.nan
    feather.write_feather(table.set_column(0, CHANNELS[0], pa.array(first)), str(file))
    values = datasets.load("chbmit", kaggle).recordings[file.stem].values
    assert values[5, 0] == 0
    assert np.isfinite(values).all()


def test_one_person_twice(kaggle):
    folder = kaggle / "seizure_256Hz_dataset"
    shutil.copy(folder / "chb01_01.ftr", folder / "chb21_01.ftr")
    shutil.copy(folder / "chb01_01.ftr", folder / "chb17a_03.ftr")
    groups = datasets.load("chbmit", kaggle).recordings.groups
    assert groups["chb21_01"] == groups["chb01_01"] == "chb01"
    assert groups["chb17a_03"] == "chb17"
    groups = datasets.load("chbmit", kaggle, group="case").recordings.groups
    assert groups["chb21_01"] == "chb21"
    with pytest.raises(ConfigError, match="group: 'person' or 'case' expected"):
        datasets.load("chbmit", kaggle, group="patient")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (("chb02_01.edf", 1, []), "1 seizures announced, but 0 start and 0 end times"),
        (("chb02_01.edf", 1, [(5, None)]), "1 start and 0 end"),
        (("chb02_01.edf", 1, [("soon", 9)]), "'soon' is not a number"),
        (("chb02_01.edf", 1, [(5, 241)]), "from 5 to 241 s of 'chb02_01' is not within"),
        (("chb02_01.edf", 1, [(9, 5)]), "from 9 to 5 s"),
    ],
)
def test_bad_summaries(physionet, part, message):
    write_summary(physionet, "chb02", part)
    with pytest.raises(InputError, match=message):
        datasets.load("chbmit", physionet)


def test_summary_of_something_else(physionet):
    (physionet / "chb02/chb02-summary.txt").write_text("Minutes of the meeting\n")
    with pytest.raises(InputError, match="no line 'File Name"):
        datasets.load("chbmit", physionet)
    (physionet / "chb02/chb02-summary.txt").write_text("File Name: chb02_01.edf\n")
    with pytest.raises(InputError, match="no line 'Number of Seizures"):
        datasets.load("chbmit", physionet)


def test_unlisted_and_absent_files_are_noted(physionet):
    write_summary(physionet, "chb02", ("chb02_09.edf", 0, []))
    notes = "\n".join(datasets.load("chbmit", physionet).notes)
    assert "not in any summary: chb02_01" in notes
    assert "in a summary but without a file: chb02_09" in notes


def rewrite(file, rename):
    """Rewrite an EDF file with other labels; a label of None drops the signal."""
    edf = edfio.read_edf(file)
    signals = []
    for signal in edf.signals:
        label = rename(signal.label)
        if label is not None:
            signal.label = label
            signals.append(signal)
    edfio.Edf(signals).write(file)


def test_differently_named_channels(physionet):
    file = physionet / "chb02/chb02_01.edf"
    before = datasets.load("chbmit", physionet).recordings["chb02_01"].values
    old = {"T8-P8": "T4-T6", "T7-P7": "EEG T3-T5", "FP1-F7": "Fp1-F7"}
    rewrite(file, lambda label: old.get(label, label))
    after = datasets.load("chbmit", physionet, strict=True).recordings["chb02_01"].values
    np.testing.assert_array_equal(before, after)


def test_missing_channels_are_zero_and_noted(physionet):
    file = physionet / "chb02/chb02_01.edf"
    rewrite(file, lambda label: None if label == "FZ-CZ" else label)
    benchmark = datasets.load("chbmit", physionet)
    assert (benchmark.recordings["chb02_01"].values[:, CHANNELS.index("FZ-CZ")] == 0).all()
    assert "1 recordings lack some of the 21 channels" in "\n".join(benchmark.notes)
    with pytest.raises(InputError, match="FZ-CZ missing"):
        datasets.load("chbmit", physionet, strict=True)


def test_another_montage_is_left_out(physionet):
    rewrite(physionet / "chb02/chb02_01.edf", lambda label: label.split("-")[0] + "-CS2")
    benchmark = datasets.load("chbmit", physionet)
    assert "chb02_01" not in benchmark.recordings
    assert "another montage: chb02_01" in "\n".join(benchmark.notes)


def test_damaged_and_half_folders(physionet, kaggle, tmp_path):
    (physionet / "chb02/chb02_01.edf").write_bytes(b"not an EDF file")
    with pytest.raises(InputError, match=r"chb02_01\.edf"):
        datasets.load("chbmit", physionet)
    (kaggle / "seizure_256Hz_dataset/chb01_01.ftr").unlink()
    with pytest.raises(InputError, match=r"'chb01_01' has no chb01_01\.ftr"):
        datasets.load("chbmit", kaggle)
    (kaggle / "seizure_events.csv").unlink()
    with pytest.raises(InputError, match=r"seizure_events\.csv: missing"):
        datasets.load("chbmit", kaggle)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"seizure_events\.csv with .* or chbNN-summary"):
        datasets.load("chbmit", tmp_path / "empty")


def test_feather_without_a_channel(kaggle):
    file = kaggle / "seizure_256Hz_dataset/chb01_01.ftr"
    feather.write_feather(feather.read_table(file).drop_columns(["CZ-PZ"]), str(file))
    with pytest.raises(InputError, match="CZ-PZ"):
        datasets.load("chbmit", kaggle)


@pytest.mark.parametrize(
    "text", ["series_id,start,stop\na,1,2\n", "series_id,onset,offset\na,x,2\n"]
)
def test_changed_table(kaggle, text):
    (kaggle / "seizure_events.csv").write_text(text)
    with pytest.raises(InputError, match="onset"):
        datasets.load("chbmit", kaggle)
