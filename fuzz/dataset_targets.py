"""The published files of the data sets, pickles among them."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import wfdb

from bdl.datasets import load
from bdl.datasets.bowshock import CHANNELS as BOWSHOCK
from bdl.datasets.bowshock import EVENTS as CROSSINGS
from bdl.datasets.bowshock import TABLE
from bdl.datasets.chbmit import CHBMIT
from bdl.datasets.fraud import CHANNELS as FRAUD
from bdl.datasets.hapt import FORMAT
from bdl.datasets.sleep import Sleep
from fuzz.target import Target, check_events, check_recordings, contents

GOLDEN = Path(__file__).parents[1] / "tests" / "datasets" / "golden" / "pandas-1.5.3.pkl"


def targets() -> Iterator[Target]:
    """One target per data set and published form, and one per protocol of pickle."""
    for name, write, options in (
        ("sleep", _sleep, {}),
        ("fraud", _fraud, {}),
        ("chbmit physionet", _physionet, {"source": "physionet"}),
        ("chbmit kaggle", _kaggle, {"source": "kaggle"}),
        ("hapt", _hapt, {}),
        ("mitdb", _mitdb, {}),
        ("mitdb afib", _mitdb, {"task": "afib"}),
        ("tables", _tables, {}),
    ):
        files = _files(write)
        damaged = tuple(file for file in files if file != "SIMULATED")
        yield Target(f"data set {name}", files, damaged, _reader(name.split()[0], **options))
    frame = _frame()
    pickles = {f"protocol {protocol}": pickle.dumps(frame, protocol) for protocol in (2, 4, 5)}
    pickles["pandas 1.5.3"] = GOLDEN.read_bytes()
    stamps = b"events\n2012-03-01 00:00:08\n2012-03-01 00:01:00\n"
    for name, content in pickles.items():
        files = {TABLE: content, CROSSINGS: stamps}
        yield Target(f"pickle {name}", files, (TABLE,), _reader("bowshock", trust=True))
    files = {TABLE: pickles["protocol 4"], CROSSINGS: stamps}
    yield Target("data set bowshock", files, (CROSSINGS,), _reader("bowshock", trust=True))


def _reader(kind: str, **options: Any) -> Callable[[Path], None]:
    def read(folder: Path) -> None:
        benchmark = load(kind, folder, **options)
        check_recordings(benchmark.recordings)
        check_events(benchmark.events)

    return read


def _files(write: Callable[[Path], None]) -> dict[str, bytes]:
    with TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(Path(name))
        return contents(Path(name))


def _frame() -> pd.DataFrame:
    index = pd.date_range("2012-03-01", periods=40, freq="4s")
    values = np.random.default_rng(0).normal(size=(40, 5))
    return pd.DataFrame(values, index, pd.Index([*BOWSHOCK, "other"], dtype=object))


def _sleep(folder: Path) -> None:
    Sleep().simulate(folder, recordings=1, days=0.05, seed=0)


def _fraud(folder: Path) -> None:
    rng = np.random.default_rng(0)
    values = {name: rng.normal(size=60).round(3) for name in FRAUD}
    kinds = (np.arange(60) % 20 == 7).astype(int)
    pl.DataFrame({"Time": range(60), **values, "Class": kinds}).write_csv(folder / "creditcard.csv")


def _physionet(folder: Path) -> None:
    CHBMIT(source="physionet").simulate(folder, recordings=1, days=0.0001, seed=0)


def _kaggle(folder: Path) -> None:
    CHBMIT(source="kaggle").simulate(folder, recordings=1, days=0.0001, seed=0)


def _hapt(folder: Path) -> None:
    rng = np.random.default_rng(0)
    (folder / "recordings").mkdir()
    assert FORMAT.channels is not None
    columns = {name: rng.normal(size=50) for name in FORMAT.channels}
    pl.DataFrame(columns).write_parquet(folder / "recordings" / "exp01_user01.parquet")
    (folder / "segments.csv").write_text(
        "recording,activity,start_sample,end_sample\n"
        "exp01_user01,walking,2,20\nexp01_user01,walking_upstairs,30,45\n"
    )


def _tables(folder: Path) -> None:
    (folder / "recordings").mkdir()
    for name in "ab":
        rows = "".join(f"{0.5 * i},{i % 7}\n" for i in range(200))
        (folder / "recordings" / f"{name}.csv").write_text("time,x\n" + rows)
    events = "a,on,10\na,off,20.5\nb,on,5\nb,off,30\n"
    (folder / "events.csv").write_text("recording,event,time\n" + events)


def _mitdb(folder: Path) -> None:
    values = np.random.default_rng(0).normal(size=(100, 2))
    leads = ["MLII", "V1"]
    wfdb.wrsamp("100", 360, ["mV"] * 2, leads, values, fmt=["212"] * 2, write_dir=str(folder))
    notes = ["(N", "", "(AFIB", "", "(N", ""]
    places = np.arange(1, 7) * 10
    wfdb.wrann("100", "atr", places, list("+N+N+V"), aux_note=notes, fs=360, write_dir=str(folder))
