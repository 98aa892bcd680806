"""``bdl decode`` and ``bdl calibrate`` on saved densities."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bdl import formats
from bdl.decoding import ExpectedAP, PeakGrid, Peaks, calibrate, decode
from bdl.density import Density
from bdl.errors import BdlError
from bdl.events import Events
from bdl.formats.densities import write_densities
from bdl.intervals import IntervalType
from calling import call, call_json

SLEEP = IntervalType("sleep", "onset", "wakeup")
DECODE = ("decode", "{}/densities", "--out", "{}/x.csv")
CALIBRATE = ("calibrate", "{}/densities", "--events", "{}/truth.csv", "--out", "{}/x.json")


@pytest.fixture
def saved(tmp_path: Path) -> tuple[list[Density], Events]:
    rng = np.random.default_rng(1)
    densities, parts = [], []
    for id in ("a", "b"):
        values = rng.random((60, 2)).astype(np.float32) ** 6 / 4
        times = np.array([100.0, 400.0])
        for j, time in enumerate(times):
            values[int(time) // 10, j] += 0.7
        densities.append(Density(id, values, ("onset", "wakeup"), 1.0, 10, 600))
        parts.append(Events.of(id, ["onset", "wakeup"], times))
    truth = Events.concat(parts)
    write_densities(tmp_path / "densities", densities)
    formats.write_events(truth, tmp_path / "truth.csv")
    return densities, truth


def test_decode_writes_what_the_library_decodes(
    tmp_path: Path, saved: tuple[list[Density], Events]
) -> None:
    decoder = Peaks(threshold=0.1, smooth=5.0, alternate=True)
    (tmp_path / "decoder.json").write_text(json.dumps(decoder.model_dump(mode="json")))
    out = tmp_path / "detections.csv"
    result = call_json(
        *("decode", tmp_path / "densities", "--out", out, "--decoder", tmp_path / "decoder.json"),
        *("--interval", "sleep=onset,wakeup", "--pairs", tmp_path / "pairs.csv"),
    )
    want = decode(saved[0], decoder, (SLEEP,))
    assert formats.read_events(out) == want
    counts = {name: int((want.event == name).sum()) for name in want.types}
    assert (result["detections"], result["types"]) == (len(want), counts)
    table = pl.read_csv(tmp_path / "pairs.csv")
    assert table.columns == ["recording", "name", "start", "end", "score"]
    assert set(table["recording"]) == {"a", "b"}


def test_decode_without_a_decoder_uses_the_default(
    tmp_path: Path, saved: tuple[list[Density], Events]
) -> None:
    out = tmp_path / "detections.parquet"
    arguments = ("decode", tmp_path / "densities", "--out", out)
    output = call(*arguments, "--tolerance", 20, "--tolerance", 50)
    want = decode(saved[0], ExpectedAP(tolerances=(20.0, 50.0)))
    assert formats.read_events(out) == want
    assert output.startswith(f"{len(want):,} detections in 2 recordings: {out}\n")


def test_calibrate_then_decode(tmp_path: Path, saved: tuple[list[Density], Events]) -> None:
    grid = PeakGrid(smooths=(0.0, 10.0), separation=50.0, alternations=(False, True))
    (tmp_path / "grid.yaml").write_text(json.dumps(grid.model_dump(mode="json")))
    arguments = (
        *("calibrate", tmp_path / "densities", "--events", tmp_path / "truth.csv"),
        *("--out", tmp_path / "best.json"),
        *("--grid", tmp_path / "grid.yaml", "--tolerance", 12, "--interval", "sleep=onset,wakeup"),
    )
    assert "chosen" in call(*arguments)
    want = calibrate(saved[0], saved[1], grid, tolerances=[12.0], intervals=(SLEEP,))
    assert json.loads((tmp_path / "best.json").read_text()) == want.to_dict()
    assert call_json(*arguments) == want.to_dict()
    out = tmp_path / "detections.csv"
    assert not want.decoder.alternate  # so that --interval has no effect
    call("decode", tmp_path / "densities", "--out", out, "--decoder", tmp_path / "best.json")
    assert formats.read_events(out) == decode(saved[0], want.decoder)


def test_decoders_are_named_or_written_as_a_mapping(
    tmp_path: Path, saved: tuple[list[Density], Events]
) -> None:
    out = tmp_path / "detections.csv"
    call("decode", tmp_path / "densities", "--out", out, "--decoder", "peaks", "--threshold", 0.2)
    assert formats.read_events(out) == decode(saved[0], Peaks(threshold=0.2))
    mapping = "{kind: peaks, smooth: 5}"
    call("decode", tmp_path / "densities", "--out", out, "--decoder", mapping)
    assert formats.read_events(out) == decode(saved[0], Peaks(smooth=5.0))
    call(
        *("decode", tmp_path / "densities", "--out", out),
        *("--decoder", "expected-ap", "--tolerance", 20),
    )
    assert formats.read_events(out) == decode(saved[0], ExpectedAP(tolerances=(20.0,)))


def test_detections_are_written_in_every_format(
    tmp_path: Path, saved: tuple[list[Density], Events]
) -> None:
    words = ("decode", tmp_path / "densities", "--decoder", "{kind: peaks, threshold: 0.4}")
    want = decode(saved[0], Peaks(threshold=0.4))
    for kind, out in (
        ("audacity", "labels"),
        ("audacity", "labels.v2"),
        ("bids", "bids"),
        ("dcase", "found.tsv"),
        ("kaggle", "kaggle.csv"),
        ("label-studio", "tasks.json"),
        ("wfdb", "wfdb"),
    ):
        call(*words, "--to", kind, "--out", tmp_path / out)
        options = {"period": 1.0} if kind == "kaggle" else {}
        found = formats.read_events(tmp_path / out, format=kind, **options)
        for id in ("a", "b"):
            for name in ("onset", "wakeup"):
                times = want.times(id, name)
                np.testing.assert_allclose(found.times(id, name), times, atol=0.5, err_msg=kind)
    call(*words, "--to", "wfdb", "--extension", "det", "--out", tmp_path / "beats")
    assert sorted(file.name for file in (tmp_path / "beats").iterdir()) == ["a.det", "b.det"]


def test_grids_are_known_by_name(tmp_path: Path, saved: tuple[list[Density], Events]) -> None:
    for grid in ("expected-ap", "fraud", "{kind: peaks, smooths: [0, 5]}"):
        call(
            *("calibrate", tmp_path / "densities", "--events", tmp_path / "truth.csv"),
            *("--out", tmp_path / "best.json"),
            *("--grid", grid, "--tolerance", 12),
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["decode", "{}/densities", "--out", "{}/x.csv"], "--tolerance"),
        (["decode", "{}/nothing", "--out", "{}/x.csv", "--tolerance", "5"], "manifest.json"),
        (
            ["decode", "{}/densities", "--out", "{}/x.csv", "--decoder", "{}/none.json"],
            "No such file",
        ),
        (["decode", "{}/densities", "--out", "{}/x.csv", "--decoder", "{}/truth.csv"], "truth.csv"),
        (["decode", "{}/densities", "--out", "{}/x.csv", "--interval", "a=b"], "NAME=ONSET,OFFSET"),
        ([*CALIBRATE], "--tolerance"),
        ([*CALIBRATE, "--tolerance", "5", "--grid", "slep"], "sleep"),
        ([*CALIBRATE, "--tolerance", "5", "--grid", "{kind: peaks, smoth: 5}"], "smoth"),
        (["decode", "{}/densities", "--out", "{}/x.csv", "--decoder", "peeks"], "peaks"),
        ([*DECODE, "--decoder", "peaks", "--tolerance", "5"], "--tolerance has no effect"),
        ([*DECODE, "--tolerance", "5", "--min-gap", "3"], "--min-gap.*--pairs"),
        ([*CALIBRATE, "--tolerance", "5", "--metric", "mAPP"], "mF1"),
        ([*DECODE, "--tolerance", "5", "--to", "bids", "--period", "2"], "unknown option period"),
        ([*DECODE, "--tolerance", "5", "--period", "2"], "period: .* no effect without --to"),
        ([*DECODE, "--tolerance", "5", "--to", "bids", "--extension", "x"], "unknown option ext"),
        ([*DECODE[:3], "{}/x.txt", "--tolerance", "5"], "--out .*x.txt: a suffix among"),
    ],
)
def test_an_error_is_reported_and_nothing_is_written(
    tmp_path: Path,
    saved: tuple[list[Density], Events],
    arguments: list[str],
    message: str,
) -> None:
    before = sorted(tmp_path.iterdir())
    with pytest.raises(BdlError, match=message):
        call(*(argument.replace("{}", str(tmp_path)) for argument in arguments))
    assert sorted(tmp_path.iterdir()) == before
