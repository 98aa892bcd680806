"""The documentation does what it says: every bash and python block is run, page by page.

A page runs in a folder of its own, with the files it takes for granted made small beforehand.
Blocks that cannot run anywhere (a download, hours of training) are marked `sh` with a title
that says so, or hold placeholders in capitals.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import clusters
from exports import write_actigraphy, write_log
from learning import quick
from pages import PAGES, ROOT, blocks, loosely, run_blocks


@contextmanager
def nothing(folder: Path) -> Iterator[Mapping[str, str]]:
    """A page that needs nothing beforehand."""
    yield {}


@contextmanager
def walks(folder: Path) -> Iterator[Mapping[str, str]]:
    """Sixteen recordings of two minutes with two walks each, and their events."""
    rng = np.random.default_rng(0)
    (folder / "walks").mkdir()
    rows = []
    for i in range(16):
        x = rng.normal(size=(6000, 3)) * 0.05
        for start in (20.0, 70.0):
            a, b = start + rng.uniform(0, 10), start + rng.uniform(20, 35)
            x[int(a * 50) : int(b * 50)] += 0.5
            rows += [(f"walk{i:02d}", "onset", a), (f"walk{i:02d}", "offset", b)]
        frame = pl.DataFrame({name: x[:, j].astype(np.float32) for j, name in enumerate("xyz")})
        frame.write_parquet(folder / "walks" / f"walk{i:02d}.parquet")
    table = pl.DataFrame(rows, schema=["recording", "event", "time"], orient="row")
    table.write_csv(folder / "events.csv")
    (folder / "recordings").symlink_to("walks")
    yield {}


@contextmanager
def log(folder: Path) -> Iterator[Mapping[str, str]]:
    """A log of six machines and a list of their faults."""
    write_log(folder)
    yield {}


@contextmanager
def actigraphy(folder: Path) -> Iterator[Mapping[str, str]]:
    """Exports of six participants, their diary, and the spans in which it is complete."""
    write_actigraphy(folder)
    [spans] = [
        block
        for block in blocks(ROOT / "docs" / "howto" / "actigraphy.md")
        if block.language == "csv"
    ]
    (folder / spans.title).write_text(spans.text)
    yield {}


@contextmanager
def tables(folder: Path) -> Iterator[Mapping[str, str]]:
    """The tables of the guide to scoring, and a second system."""
    for block in blocks(ROOT / "docs" / "howto" / "score.md"):
        if block.language == "csv":
            (folder / block.title).write_text(block.text)
    for name in ("theirs", "detections"):
        shutil.copy(folder / "mine.csv", folder / f"{name}.csv")
    yield {}


@contextmanager
def walk_model(folder: Path) -> Iterator[Mapping[str, str]]:
    """Two walks, a model that was hardly trained on them, and the tables of beats of the guide."""
    from bdl import Detector, IntervalType, read_events, read_recordings

    for block in blocks(ROOT / "docs" / "howto" / "formats.md"):
        if block.language == "csv":
            (folder / block.title).write_text(block.text)
    with walks(folder):
        for file in sorted((folder / "walks").iterdir())[2:]:
            file.unlink()
        recordings = read_recordings(folder / "walks", period=0.02)
        events = read_events(folder / "events.csv").select(recordings=recordings.ids)
        walk = IntervalType("walk", "onset", "offset")
        Detector(**quick(window=20.0)).fit(recordings, events, intervals=(walk,)).save(
            folder / "model.safetensors"
        )
        yield {}


@contextmanager
def ecg(folder: Path) -> Iterator[Mapping[str, str]]:
    """A minute of two leads with something like a beat every second."""
    wfdb = pytest.importorskip("wfdb")
    time = np.arange(60 * 360) / 360
    beat = np.exp(-((((time + 0.5) % 1.0) - 0.5) ** 2) / (2 * 0.01**2))
    noise = np.random.default_rng(0).normal(scale=0.02, size=(len(time), 2))
    (folder / "records").mkdir()
    wfdb.wrsamp(
        "r1", fs=360, units=["mV", "mV"], sig_name=["MLII", "V5"], fmt=["16", "16"],
        p_signal=beat[:, None] * [1.0, 0.6] + noise, write_dir=str(folder / "records"),
    )  # fmt: skip
    yield {}


@contextmanager
def nights(folder: Path) -> Iterator[Mapping[str, str]]:
    """Two nights in the layout of the sleep data."""
    from bdl.datasets import Sleep

    Sleep().simulate(folder / "cmi", recordings=2, days=2, seed=0)
    yield {}


@contextmanager
def annotated_edf(folder: Path) -> Iterator[Mapping[str, str]]:
    """EDF+ files, named like those the guide simulates, with seizures in their annotations."""
    edfio = pytest.importorskip("edfio")
    noise = np.random.default_rng(0).normal(size=300 * 32)
    for name in ("chb01_01", "chb02_03", "chb03_02", "chb04_05"):
        (folder / "annotated" / name[:5]).mkdir(parents=True)
        edfio.Edf(
            [edfio.EdfSignal(noise, 32, label="FP1-F7")],
            annotations=[edfio.EdfAnnotation(t, 30, "seizure") for t in (40, 200)],
        ).write(folder / "annotated" / name[:5] / f"{name}.edf")
    yield {}


@contextmanager
def both_clusters(folder: Path) -> Iterator[Mapping[str, str]]:
    """A Ray and a Dask cluster of this machine, and a folder that their workers see."""
    pytest.importorskip("ray")
    pytest.importorskip("distributed")
    (folder / "shared").mkdir()
    with clusters.ray() as ray, clusters.dask() as dask:
        yield {**ray, **dask, "SHARED": str(folder / "shared")}


@dataclass(frozen=True)
class Guide:
    """How a page is run: what is there before, what is made smaller, and what it leaves."""

    before: Callable[[Path], object] = nothing
    changes: tuple[tuple[str, str], ...] = ()
    leaves: tuple[str, ...] = ()
    slow: bool = True


def shorter(project: str) -> tuple[tuple[str, str], ...]:
    """A few updates of a small encoder instead of hundreds."""
    quick = "--updates 8 --encoder gru"
    return tuple(
        (f"bdl {command} {project}", f"bdl {command} {project} {quick}")
        for command in ("evaluate", "fit")
    )


QUICK = ("Detector(", "Detector(training={'updates': 4}, ")  # the same in Python
GUIDES = {
    "README.md": Guide(
        walks,
        (*shorter("mine"), ("Detector(", 'Detector(training={"updates": 4}, ')),
        ("mine/detections.csv", "detections.csv"),
    ),
    "docs/index.md": Guide(
        walks, (("Detector(", 'Detector(training={"updates": 4}, '),), ("model.safetensors",)
    ),
    "docs/tutorial.md": Guide(leaves=("report.html",)),
    "docs/datasets.md": Guide(
        nights,
        (
            ("--recordings 64 --days 14", "--recordings 2 --days 1"),
            ("--recordings 24", "--recordings 1 --days 0.004"),
            ("--recordings 60", "--recordings 4"),
            ("--recordings 80", "--recordings 4"),
        ),
        ("sim", "eeg", "feather", "shock", "fraud"),
    ),
    "docs/howto/actigraphy.md": Guide(actigraphy, shorter("project"), ("events.csv", "nights.csv")),
    "docs/howto/log.md": Guide(log, shorter("project"), ("report.html", "found.csv", "store")),
    "docs/howto/eeg.md": Guide(
        annotated_edf, leaves=("model.safetensors", "from-summaries.csv", "project")
    ),
    "docs/howto/export.md": Guide(
        walks,
        (
            ("--period 0.02 --out m", "--period 0.02 --updates 4 --out m"),
            ("--lag", "--updates 4 --lag"),
        ),
        ("model.onnx", "found.csv", "forward.onnx"),
    ),
    "docs/howto/formats.md": Guide(
        walk_model,
        (("recordings --out", "recordings --period 0.02 --out"),),
        ("bids/walk00_events.tsv", "annotations/walk00.bdl", "corrected.csv"),
    ),
    "docs/howto/install.md": Guide(slow=False),
    "docs/howto/serve.md": Guide(slow=False),
    "docs/howto/own-data.md": Guide(
        walks,
        (*shorter("project"), ("Detector(", 'Detector(training={"updates": 4}, ')),
        ("held-out.csv", "report.html", "nightly.csv", "nightly.csv.done.json"),
    ),
    "docs/howto/explore.md": Guide(
        walks, leaves=("queue.csv", "tuned.safetensors", "before-after.html", "curve.csv")
    ),
    "docs/howto/live.md": Guide(
        walks,
        (("bdl fit ", "bdl fit --updates 8 --encoder forward-gru "),),
        ("live.safetensors", "found.ndjson", "walk00.state"),
    ),
    "docs/howto/pretrained.md": Guide(ecg, leaves=("beats.csv",)),
    "docs/howto/quality.md": Guide(
        walks, (("--out model", "--updates 4 --encoder gru --out model"),), ("found.csv",)
    ),
    "docs/howto/ray.md": Guide(both_clusters, leaves=("shared/run-ray", "shared/run-dask")),
    "docs/howto/report.md": Guide(tables, leaves=("report.html", "study.html")),
    "docs/howto/score.md": Guide(tables, leaves=("report.html",), slow=False),
    "docs/howto/stride.md": Guide(slow=False),
    "docs/presets.md": Guide(slow=False),
    "docs/howto/study.md": Guide(leaves=("mine.html",)),
}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def running() -> Iterator[object]:
    for page in PAGES:
        if any(block.runs for block in blocks(page)):
            guide = GUIDES.get(name_of(page), Guide())
            marks = [pytest.mark.slow] if guide.slow else []
            yield pytest.param(page, id=name_of(page), marks=marks)


@pytest.mark.parametrize("page", [*running()])
def test_a_page_runs_as_printed(page: Path, tmp_path: Path) -> None:
    guide = GUIDES[name_of(page)]
    with guide.before(tmp_path) as variables:
        run_blocks(page, tmp_path, changes=guide.changes, environment=variables)
    for name in guide.leaves:
        assert (tmp_path / name).exists(), f"{name} is not there"
        if name.endswith(".html"):
            assert (tmp_path / name).stat().st_size > 1_000_000
    if page.name == "ray.md":
        tables = [json.loads((tmp_path / run / "results.json").read_text())
                  for run in ("run", "run-ray", "run-dask")]  # fmt: skip
        assert tables[0] == tables[1] == tables[2]
        shared = [
            (tmp_path / f"shared/run-{by}/results.json").read_bytes() for by in ("ray", "dask")
        ]
        assert shared[0] == shared[1]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_does_not_run_looks_like_it(page: Path) -> None:
    """A command that no test runs stands under a title that says why, or has a placeholder."""
    for block in blocks(page):
        shell = block.language in ("sh", "") and re.search("^(bdl|make|pip) ", block.text, re.M)
        if shell and not block.title:
            for line in filter(None, block.text.splitlines()):
                placeholder = re.search(r"\b[A-Z]{3,}\b", line.partition("#")[0])
                assert placeholder or "study list" in line, f"neither run nor a fragment: {line}"


def test_every_guide_is_a_page() -> None:
    assert {ROOT / name for name in GUIDES} <= {*PAGES}


def test_loosely_forgives_numbers_but_no_words() -> None:
    assert re.search(loosely("mAP 0.25   mF1 0.31"), "mAP 0.9 mF1 0.77")
    assert re.search(loosely("onset  300  0.1 (2)"), "onset 300 0.55 (13)")
    assert not re.search(loosely("mAP 0.25"), "recall 0.25")
