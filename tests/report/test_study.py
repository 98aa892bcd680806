"""The report of a study: what its steps recorded, and what its figures rest on."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from typer.testing import CliRunner

from bdl.cli import app
from bdl.datasets import Sleep
from bdl.report.study_content import study_content
from bdl.runs.digest import digest
from bdl.runs.run_directory import RunDirectory
from bdl.study.protocol import BootstrapSettings, Protocol, Row
from bdl.study.runner import run_study
from bdl.study.splits import Folds
from bdl.study.study_reader import StudyReader
from bdl.training import Training
from bdl.workers import Workers

GRU = {"kind": "recurrent", "width": 4, "blocks": 1}
RunOf = Callable[[str], Path]
Embedded = Callable[[str], dict[str, Any]]


def protocol(regime: str) -> Protocol:
    """Two rows, two folds, two seeds; the second row's name sorts before the first's."""
    calibration = {"calibration": 0.3, "calibration_seed": 5} if regime == "nested" else {}
    selection = {"selection_seed": 6} if regime == "nested" else {}
    return Protocol(
        name=f"small-{regime}",
        data="sleep",
        regime=regime,
        split=Folds(folds=2, seed=4, **calibration),
        rows=(
            Row(name="Density <b>", objective="bdl-hard", encoder=GRU, learning_rates=(3e-3, 0.1)),
            Row(name="Classes", objective="seg-ce", encoder=GRU),
        ),
        training=Training(epochs=3, checkpoint_epochs=(1, 3), batch=2, accelerator="cpu"),
        window=43200.0,
        **selection,
        seeds=(7, 8),
        metrics=("mAP", "F1@60"),
        bootstrap=BootstrapSettings(replicates=10, seed=9),
    )


def lags() -> Protocol:
    """One objective at two lags and offline, under names that have nothing in common."""
    forward = {**GRU, "bidirectional": False}
    method: dict[str, Any] = {"method": "Density", "objective": "bdl-hard"}
    rows = (
        Row(name="at once", encoder=forward, lag=0, **method),
        Row(name="BDL lag 600", encoder=forward, lag=600, **method),
        Row(name="whole", encoder=GRU, **method),
    )
    return protocol("validation").replace(rows=rows, seeds=(7,))


@pytest.fixture(scope="module")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> RunOf:
    """The finished run of a regime, made when it is first asked for."""
    folder = tmp_path_factory.mktemp("runs")
    Sleep().simulate(folder / "data", recordings=6, days=2, seed=3)

    @cache
    def made(regime: str) -> Path:
        planned = lags() if regime == "lags" else protocol(regime)
        run_study(planned, folder / regime, data=folder / "data", workers=Workers(threads=1))
        return folder / regime

    return made


def page_of(run: Path, out: Path) -> str:
    """The page that ``bdl report`` writes of a run."""
    done = CliRunner().invoke(app, ["report", str(run), "--out", str(out)])
    assert done.exit_code == 0, done.output
    return out.read_text("utf-8")


def results(run: Path, kind: str, row: str, *, rate: str = "") -> list[dict[str, Any]]:
    marks = [
        json.loads(f.read_text()) for f in sorted(run.glob(f"steps/{kind}/{row}/*/*/done.json"))
    ]
    return [mark["result"] for mark in marks if rate in mark["step"]]


def provenance(html: str) -> dict[str, str]:
    items = re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", html.split('class="provenance"')[1])
    return {unescape(name): unescape(value) for name, value in items}


def mean(curves: list[list[float]]) -> list[float]:
    """At each epoch the mean of the curves that reach it."""
    longest = max(map(len, curves))
    return [float(np.mean([c[i] for c in curves if len(c) > i])) for i in range(longest)]


def test_nested_curves_are_those_of_the_final_models(
    run_of: RunOf, tmp_path: Path, embedded: Embedded
) -> None:
    run = run_of("nested")
    drawn = embedded(page_of(run, tmp_path / "r.html"))["figures"]
    chosen = json.loads((run / "frozen.json").read_text())["choices"]
    for place, (slug, name) in enumerate(
        (("00-density-b", "Density <b>"), ("01-classes", "Classes"))
    ):
        finals = [result["losses"] for result in results(run, "final", slug)]
        assert len(finals) == 4
        assert {len(losses) for losses in finals} == {
            choice["epoch"] for choice in chosen if choice["row"] == name
        }
        loss, progress = drawn["loss"]["data"][place], drawn["progress"]["data"][place]
        assert unescape(loss["name"]) == unescape(progress["name"]) == name
        assert loss["y"] == pytest.approx(mean(finals))
        assert loss["x"] == [float(i + 1) for i in range(len(loss["y"]))]
        scored = []
        for choice in (choice for choice in chosen if choice["row"] == name):
            rate, fold = choice["learning_rate"], choice["fold"]
            file = next(run.glob(f"steps/select/{slug}/fold-{fold}/rate-{rate:g}-*/done.json"))
            result = json.loads(file.read_text())["result"]
            assert len(result["losses"]) == 3
            scored.append([checkpoint["score"] for checkpoint in result["tried"]])
        assert progress["x"] == [1.0, 3.0]
        assert progress["y"] == pytest.approx(np.mean(scored, axis=0).tolist())


@pytest.mark.slow
def test_rows_of_a_method_are_one_curve_over_the_lag(
    run_of: RunOf, tmp_path: Path, embedded: Embedded
) -> None:
    run = Path(shutil.copytree(run_of("lags"), tmp_path / "run"))

    def lag_curves(**changes: Any) -> dict[str, list[str]]:
        """The lags of each curve by its name, of a run whose second row is changed."""
        bound = RunDirectory(run).get_json("protocol.json")
        bound["protocol"]["rows"][1].update(changes)
        RunDirectory(run).put_json("protocol.json", bound)
        figure = embedded(page_of(run, tmp_path / "r.html"))["figures"]["lag"]
        texts = figure["layout"]["xaxis"]["ticktext"]
        return {c["name"]: [texts[int(place)] for place in c["x"]] for c in figure["data"]}

    figures = embedded(page_of(run, tmp_path / "r.html"))["figures"]
    assert len(figures["alarms"]["data"]) == 6  # three rows, onsets and wakeups
    assert lag_curves() == {"Density": ["0", "600", "offline"]}
    # Without a method, as in runs of earlier versions, it is the objective.
    assert lag_curves(method="") == {"Density": ["0", "offline"], "bdl-hard": ["600"]}
    other = {"kind": "bdl", "kernel": {"kind": "gaussian", "sigma": 30.0}}
    assert [*lag_curves(objective=other).values()] == [["0", "offline"], ["600"]]
    # No score is hidden by another of the same method and lag.
    same = lag_curves(method="Density", lag=0)
    assert same == {"at once": ["0"], "BDL lag 600": ["0"], "Density": ["offline"]}


@pytest.mark.slow
def test_validation_curves_are_those_of_the_chosen_rate(
    run_of: RunOf, tmp_path: Path, embedded: Embedded
) -> None:
    run = run_of("validation")
    html = page_of(run, tmp_path / "r.html")
    drawn = embedded(html)["figures"]
    assert drawn["progress"]["layout"]["yaxis"]["title"]["text"] == "validation mAP"
    assert "chosen on the recordings that are reported" in html
    selected = []
    for seed in (7, 8):
        by_rate = [
            results(run, "validate", "00-density-b", rate=f"seed-{seed}-rate-{rate}")
            for rate in ("0.003", "0.1")
        ]
        selected += max(by_rate, key=lambda fits: sum(fit["score"] for fit in fits))
    assert len(selected) == 4
    assert drawn["loss"]["data"][0]["y"] == pytest.approx(mean([fit["losses"] for fit in selected]))
    tried = [[t["score"] for t in fit["tried"]] for fit in selected]
    assert drawn["progress"]["data"][0]["y"] == pytest.approx(np.mean(tried, axis=0).tolist())


@pytest.mark.parametrize("regime", ["nested", pytest.param("validation", marks=pytest.mark.slow)])
def test_provenance_names_all_that_the_figures_rest_on(
    run_of: RunOf, tmp_path: Path, regime: str
) -> None:
    run = run_of(regime)
    html = page_of(run, tmp_path / "r.html")
    shown = provenance(html)
    read = {name: RunDirectory(run).get_json(f"{name}.json") for name in ("data", "environment")}
    assert shown["protocol hash"] == protocol(regime).digest()
    parts = json.loads((run / "split.json").read_text())["parts"]
    assert shown["split hash"] == digest(parts)
    assert shown["data fingerprint"] == digest(read["data"])
    choices = json.loads((run / "frozen.json").read_text())["choices"]
    assert shown["hash of the frozen choices"] == digest(choices)
    opened = [e["time"] for e in RunDirectory(run).ledger() if e["event"] == "test opened"]
    assert [shown["test part opened"]] == opened
    seeds = "split 4; calibration 5; selection 6; models 7, 8; bootstrap 9"
    assert shown["seeds"] == (seeds if regime == "nested" else "split 4; models 7, 8; bootstrap 9")
    for name in ("bdl", "torch", "numpy", "python"):
        assert f"{name} {read['environment'][name]}" in shown["versions"]
    assert "Scores are means over seeds" in html
    assert "Simulated data: 6 recordings" in html
    assert shown["left open by the paper"] == "nothing"
    assert "learning_rates:" in html.split("<summary>The protocol</summary>")[1]
    assert html.index("Density &lt;b&gt;</td>") < html.index("Classes</td>")  # the protocol's order


def test_scores_are_means_over_seeds_with_their_spread(
    run_of: RunOf, tmp_path: Path, embedded: Embedded
) -> None:
    run = run_of("nested")
    html = page_of(run, tmp_path / "r.html")
    curves = json.loads((run / "results.json").read_text())["curves"]
    for place, curve in enumerate(c for c in curves if c["stage"] == "tuned"):
        band, line = embedded(html)["figures"]["ap"]["data"][2 * place : 2 * place + 2]
        assert unescape(line["name"]) == curve["row"]
        assert line["y"] == pytest.approx(curve["mean"])
        high, low = band["y"][: len(line["y"])], band["y"][len(line["y"]) :][::-1]
        assert np.subtract(high, line["y"]) == pytest.approx(curve["sd"])
        assert np.subtract(line["y"], low) == pytest.approx(curve["sd"])
        assert "standard deviation over seeds" in band["name"]
    results = StudyReader(run).results
    scores = study_content(run).systems[1].scores
    for metric in ("mAP", "F1@60"):
        seeds = [*results.values("Classes", "tuned", metric, seed=None, fold=None).values()]
        assert len(seeds) == 2
        assert scores[metric].value == pytest.approx(np.mean(seeds))
    seeds = [*results.values("Classes", "tuned", "mAP", seed=None, fold=None).values()]
    assert f'{np.mean(seeds):.3f} <span class="range">± {np.std(seeds):.3f}</span>' in html


def test_a_run_without_curves_still_gives_a_report(
    run_of: RunOf, tmp_path: Path, embedded: Embedded
) -> None:
    old = Path(shutil.copytree(run_of("nested"), tmp_path / "old"))
    outputs = RunDirectory(old).get_json("outputs.json")
    for row in outputs["rows"].values():
        del row["loss"], row["score"]
    RunDirectory(old).put_json("outputs.json", outputs)
    html = page_of(old, tmp_path / "r.html")
    assert "No training curves: the study was run before they were recorded." in html
    assert set(embedded(html)["figures"]) == {"ap", "pr", "alarms", "timing", "counts"}


def test_a_report_needs_no_selection_step_and_writes_nothing_into_the_run(
    run_of: RunOf, tmp_path: Path
) -> None:
    before = page_of(run_of("nested"), tmp_path / "before.html")
    run = Path(shutil.copytree(run_of("nested"), tmp_path / "run"))
    shutil.rmtree(run / "steps/select")
    RunDirectory(run).put_json("ledger/later-note.json", {"event": "noted", "time": "later"})
    files = {file: file.stat().st_mtime_ns for file in sorted(run.rglob("*"))}
    assert page_of(run, tmp_path / "after.html") == before
    assert {file: file.stat().st_mtime_ns for file in sorted(run.rglob("*"))} == files


def test_a_run_directory_on_another_file_system_is_read(run_of: RunOf, tmp_path: Path) -> None:
    here = run_of("nested")
    memory = fsspec.filesystem("memory")
    memory.put(str(here), "/nested", recursive=True)
    url = "memory://nested"
    done = CliRunner().invoke(app, ["report", url, "--out", str(tmp_path / "there.html")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "there.html").read_text() == page_of(here, tmp_path / "here.html")
