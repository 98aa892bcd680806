"""Readers of recordings, events and densities."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import edfio
import numpy as np
import polars as pl
import wfdb

from bdl.density import Density
from bdl.events import Events
from bdl.formats import open_store, prepare, read_events, read_recordings, write_events
from bdl.formats.densities import read_densities, write_densities
from bdl.recording import Recording, Recordings
from fuzz.target import Target, check_events, check_recordings, contents

ACTIGRAPH = """------------ Data File Created By ActiGraph GT3X+ v6.13.3 date format M/d/yyyy ---
Serial Number: X
Start Time 12:00:00
Start Date 3/1/2024
Epoch Period (hh:mm:ss) 00:01:00
--------------------------------------------------
Axis1,Axis2,Axis3
1,2,3
4,5,6
7,8,9
"""
GENEACTIV = "\n".join(
    ["Device Type,GENEActiv", "Measurement Frequency,1 Hz", *[""] * 97, "Time Zone,GMT +01:00"]
    + [f"2024-03-01 12:00:0{i}:000,{i},0.5,-0.5,12,0,25.1" for i in range(5)]
)
ACTIWATCH = """"Actiware Export File"
"Identity:","P7"
"Epoch Length:","60","seconds"

"Line","Date","Time","Off-Wrist Status","Activity","Marker","Interval Status",
"1","3/25/2024","12:00:00 PM","0","3","0","ACTIVE",
"2","3/25/2024","12:01:00 PM","0","4","0","ACTIVE",
"3","3/25/2024","12:02:00 PM","0","5","0","ACTIVE",
"""
EXPORTS = {"actigraph.csv": ACTIGRAPH, "actiwatch.csv": ACTIWATCH, "geneactiv.csv": GENEACTIV}
# Files with events, each with its format.
EVENT_FILES = {
    "own.csv": "bdl", "own.parquet": "bdl", "own.feather": "bdl", "spans.csv": "bdl",
    "utf16.csv": "bdl",
    "kaggle.csv": "kaggle", "a_events.tsv": "bids", "b_events.tsv": "seizures",
    "dcase.tsv": "dcase", "labels.txt": "audacity", "tasks.json": "label-studio",
    "only.edf": "edf", "only.bdl": "wfdb",
}  # fmt: skip
LOCAL = "date,time,x\n1.2.2024,23:59:00,1\n2.2.2024,00:00:00,2\n2.2.2024,00:01:00,3\n"


def recording() -> Recording:
    """Sixty samples of two channels."""
    values = np.random.default_rng(0).normal(size=(60, 2)).round(3)
    return Recording.of(values, id="a", period=0.5, channels=["x", "y"], group="g")


def events() -> Events:
    """An interval and a point."""
    return Events.of("a", ["walk:onset", "walk:offset", "beep"], [1.0, 2.5, 3.5])


def targets() -> Iterator[Target]:
    """All readers of this module, with files that they themselves or known libraries wrote."""
    with TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name)
        _write(folder)
        files = contents(folder)
        expected = Recordings.of([recording()])

        def part(*wanted: str) -> dict[str, bytes]:
            return {file: files[file] for file in wanted}

        for table in ("a.csv", "a.tsv", "a.feather", "a.stream.arrow", "columns.npz"):
            yield Target(f"recordings {table}", part(table), (table,), _recordings(table))
        for table in ("a.parquet", "a.npz"):  # with checksums
            read = _recordings(table, expected=expected)
            yield Target(f"recordings {table}", part(table), (table,), read)
        for table in EXPORTS:
            read = _recordings(table, zone="Europe/Berlin")
            yield Target(f"recordings {table}", part(table), (table,), read)
        yield Target(
            "recordings local.csv", part("local.csv"), ("local.csv",),
            _recordings("local.csv", zone="Europe/Berlin", regular=True, duplicates="mean"),
        )  # fmt: skip
        for file in ("a.edf", "a.bdf"):
            yield Target(f"recordings {file}", part(file), (file,), _recordings(file, regular=True))
        record = ("a.hea", "a.dat")
        yield Target("recordings wfdb", part(*record), record, _recordings("a.hea"))
        joined = ("joined.hea", *record)
        yield Target("recordings wfdb segments", part(*joined), joined, _recordings("joined.hea"))
        store = ("store/manifest.json", "store/a.npy")
        yield Target("store", part(*store), store, _store)
        kept = [name for name in files if name.startswith("densities/")]
        yield Target("densities", part(*kept), tuple(kept), _densities)
        for table, format in EVENT_FILES.items():
            yield Target(f"events {table}", part(table), (table,), _events(table, format))
        for file in ("a.edf", "a.bdf"):
            yield Target(f"events {file}", part(file), (file,), _events(file))
        yield Target("events a.atr", part("a.atr", "a.hea"), ("a.atr", "a.hea"), _events("a.atr"))


def _recordings(
    file: str, expected: Recordings | None = None, **options: object
) -> Callable[[Path], None]:
    def read(folder: Path) -> None:
        check_recordings(read_recordings(folder / file, **options), expected)

    return read


def _store(folder: Path) -> None:
    check_recordings(open_store(folder / "store"))
    read_recordings(folder / "store")


def _densities(folder: Path) -> None:
    for density in read_densities(folder / "densities"):
        assert np.isfinite(density.values).all()


def _events(file: str, format: str | None = None) -> Callable[[Path], None]:
    def read(folder: Path) -> None:
        check_events(read_events(folder / file, format=format, defaults={"period": 0.5}))

    return read


def _write(folder: Path) -> None:
    written = recording()
    columns = {"time": np.arange(60) * 0.5, "x": written.values[:, 0], "y": written.values[:, 1]}
    frame = pl.DataFrame({"recording": ["a"] * 60, **columns})
    frame.write_csv(folder / "a.csv")
    frame.write_csv(folder / "a.tsv", separator="\t")
    frame.write_ipc(folder / "a.feather")
    frame.write_ipc_stream(folder / "a.stream.arrow")
    import pyarrow.parquet as pq

    pq.write_table(frame.to_arrow(), folder / "a.parquet", write_page_checksum=True)
    about = {"channels": ["x", "y"], "period": 0.5, "group": "g"}
    np.savez(folder / "a.npz", values=written.values, **about, start="2024-03-01T12:00:00+01:00")
    np.savez_compressed(folder / "columns.npz", **columns)
    for name, text in (
        ("actigraph", ACTIGRAPH),
        ("actiwatch", ACTIWATCH),
        ("geneactiv", GENEACTIV),
    ):
        (folder / f"{name}.csv").write_text(text)
    (folder / "local.csv").write_text(LOCAL)
    for suffix, signal, whole in (
        ("edf", edfio.EdfSignal, edfio.Edf),
        ("bdf", edfio.BdfSignal, edfio.Bdf),
    ):
        notes = [edfio.EdfAnnotation(1.0, 2.0, "spindle"), edfio.EdfAnnotation(3.0, None, "cough")]
        signals = [signal(v, 4.0, label=n) for v, n in zip(written.values.T, "xy", strict=True)]
        whole(signals, data_record_duration=1, annotations=notes).write(folder / f"a.{suffix}")
    place = str(folder)
    values = written.values.astype(np.float64)
    wfdb.wrsamp("a", 100, ["mV"] * 2, ["x", "y"], values, fmt=["212"] * 2, write_dir=place)
    wfdb.wrann("a", "atr", np.arange(1, 21) * 2, list("NV") * 10, fs=100, write_dir=place)
    (folder / "joined.hea").write_text("joined/2 2 100 120\na 60\na 60\n")
    for name in ("own.csv", "own.parquet", "own.feather"):
        write_events(events(), folder / name)
    write_events(events(), folder / "kaggle.csv", format="kaggle", period=0.5)
    write_events(events(), folder / "a_events.tsv", format="bids")
    seizure = Events.of("b", ["seizure:onset", "seizure:offset"], [1.0, 2.5])
    write_events(seizure, folder / "b_events.tsv", format="seizures")
    write_events(events(), folder / "dcase.tsv", format="dcase")
    write_events(events(), folder / "labels.txt", format="audacity")
    write_events(events(), folder / "tasks.json", format="label-studio")
    write_events(events(), folder / "only.edf", format="edf")
    write_events(events(), folder / "only.bdl", format="wfdb", period=0.5)
    spans = "File;Start;End;Label\na;1,5;2,5;x\na;3;4;y\n"
    (folder / "spans.csv").write_text(spans)
    (folder / "utf16.csv").write_text(spans, encoding="utf-16")
    prepare(Recordings.of([written]), folder / "store")
    values32 = np.random.default_rng(1).random((6, 2), dtype=np.float32)
    write_densities(folder / "densities", [Density("a", values32, ("x", "y"), 0.5, 10, 60)])
