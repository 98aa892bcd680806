"""The adapters on the real recordings."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from bdl import datasets
from bdl.errors import ConfigError, InputError


def test_hapt_walking(real):
    benchmark = datasets.load("hapt", real("hapt"))
    assert len(benchmark.recordings) == 45
    assert len(set(benchmark.recordings.groups.values())) == 22
    assert benchmark.recordings.infos[0].group == "user01"
    table = pl.read_csv(real("hapt") / "segments.csv").filter(
        pl.col("activity").str.starts_with("walking")
    )
    assert len(benchmark.events) == 2 * table.height
    first = table.filter(pl.col("recording") == "exp01_user01").sort("start_sample")
    onsets = benchmark.events.times("exp01_user01", "walking:onset")
    np.testing.assert_allclose(onsets, (first["start_sample"].to_numpy() - 1) * 0.02)
    offsets = benchmark.events.times("exp01_user01", "walking:offset")
    assert (offsets > onsets).all()
    assert (benchmark.recordings["exp01_user01"].values[:, 0] != 0).any()


def test_hapt_transitions(real):
    benchmark = datasets.load("hapt", real("hapt"), task="transitions")
    assert benchmark.intervals[0].name == "transition"
    assert len(benchmark.events) == 2 * 266
    with pytest.raises(ConfigError, match="task: 'walking' or 'transitions' expected"):
        datasets.load("hapt", real("hapt"), task="running")


def test_hapt_segment_past_the_end(real, tmp_path):
    (tmp_path / "recordings").mkdir()
    shutil.copy(real("hapt") / "recordings/exp01_user01.parquet", tmp_path / "recordings")
    head = "recording,user,activity,start_sample,end_sample\n"
    (tmp_path / "segments.csv").write_text(head + "exp01_user01,user01,walking,20590,20599\n")
    with pytest.raises(InputError, match="is not within its 20598 samples"):
        datasets.load("hapt", tmp_path)
    (tmp_path / "segments.csv").write_text(head.replace("activity", "label"))
    with pytest.raises(InputError, match="activity missing"):
        datasets.load("hapt", tmp_path)


def test_mitdb_beats(real):
    benchmark = datasets.load("mitdb", real("mitdb"))
    assert len(benchmark.recordings) == 22
    assert len(benchmark.events) == 51_021
    assert benchmark.events.types == ("beat",)
    record = benchmark.recordings["101"]
    assert record.values.shape == (650_000, 2)
    # A beat is annotated at the peak of lead II.
    at = np.rint(benchmark.events.times("101", "beat")[5:50] * 360).astype(int)
    around = np.stack([record.values[i - 40 : i + 41, 0] for i in at])
    assert np.abs(around.argmax(axis=1) - 40).max() <= 6


def test_mitdb_flutter_is_not_annotated(real):
    """Record 207 has six episodes of ventricular flutter, in which no beat is annotated."""
    benchmark = datasets.load("mitdb", real("mitdb"))
    spans = {info.id: info.annotated for info in benchmark.recordings.infos if info.annotated}
    assert [*spans] == ["207"]
    bounds = np.ravel(spans["207"])
    assert len(bounds) == 2 * 7
    assert (np.diff(bounds) > 0).all()
    assert bounds[[0, -1]].tolist() == [0.0, benchmark.recordings.info("207").duration]
    np.testing.assert_allclose(bounds[1:3], [40.736, 50.972], atol=1e-3)
    beats = benchmark.events.times("207", "beat")
    assert len(beats) > 1_800
    assert (np.searchsorted(bounds, beats, side="right") % 2 == 1).all()
    assert (
        datasets.load("mitdb", real("mitdb"), task="afib").recordings.info("207").annotated is None
    )


def test_mitdb_leads_in_one_order(real):
    """Record 114 has lead II second in its file; it comes first like everywhere else."""
    import wfdb

    raw = wfdb.rdrecord(str(real("mitdb") / "114"), sampto=1000)
    assert raw.sig_name[1] == "MLII"
    values = datasets.load("mitdb", real("mitdb")).recordings["114"].values
    np.testing.assert_allclose(values[:1000, 0], raw.p_signal[:, 1], atol=1e-6)


def test_mitdb_afib(real):
    benchmark = datasets.load("mitdb", real("mitdb"), task="afib")
    onset, offset = benchmark.intervals[0].onset, benchmark.intervals[0].offset
    for id in benchmark.recordings.ids:
        on, off = benchmark.events.times(id, onset), benchmark.events.times(id, offset)
        assert len(on) == len(off)
        assert (off > on).all()
        assert (on[1:] >= off[:-1]).all()
    assert len(benchmark.events) == 48
    assert benchmark.settings.event_free == "count"


def test_mitdb_one_patient_with_two_records(real, tmp_path):
    for suffix in ("hea", "dat", "atr"):
        for name in ("201", "202"):
            shutil.copy(real("mitdb") / f"201.{suffix}", tmp_path / f"{name}.{suffix}")
    head = (tmp_path / "202.hea").read_text()
    (tmp_path / "202.hea").write_text(head.replace("201 2", "202 2").replace("201.dat", "202.dat"))
    assert set(datasets.load("mitdb", tmp_path).recordings.groups.values()) == {"201"}
    (tmp_path / "202.atr").unlink()
    with pytest.raises(InputError, match=r"202\.atr: no such file"):
        datasets.load("mitdb", tmp_path)


def test_fraud_rows_and_published_layout_agree(real, tmp_path):
    rows = datasets.load("fraud", real("fraud"))
    frame = pl.read_parquet(real("fraud") / "transactions.parquet")
    start = datetime(2013, 9, 1)
    stamps = pl.datetime_range(
        start, start + timedelta(seconds=frame.height - 1), "1s", eager=True
    ).dt.to_string("%Y-%m-%d %H:%M:%S")
    channels = [*(f"V{i}" for i in range(1, 29)), "Amount"]
    published = frame.select(channels).insert_column(0, stamps.alias(""))
    published.write_csv(tmp_path / "credit_card_fraud_dataset.csv")
    frauds = pl.DataFrame({"events": stamps.filter(frame["Class"] == 1)})
    frauds.write_csv(tmp_path / "credit_card_fraud_events.csv")
    benchmark = datasets.load("fraud", tmp_path)
    assert len(benchmark.recordings) == 80
    assert len(benchmark.events) == 492
    assert benchmark.events == rows.events
    assert benchmark.settings.event_free == "count"
    assert sum(info.samples for info in benchmark.recordings.infos) == 284_807
    for id in ("hour000", "hour079"):
        np.testing.assert_allclose(
            benchmark.recordings[id].values, rows.recordings[id].values, rtol=1e-6
        )
    # A fraud's place within its series is its place in the stream.
    at = np.flatnonzero(frame["Class"].to_numpy() == 1)
    assert benchmark.events.time.tolist() == (at % 3600).tolist()
