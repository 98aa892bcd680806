"""The figures of the paper, drawn without a run and from a finished one."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bdl.cli import app
from bdl.errors import StudyError
from bdl.figures import draw_figures
from bdl.figures.overview import draw_overview, draw_window, run_gains
from bdl.figures.run_scores import ScorePair, backbones_of, curves_of
from bdl.figures.study_window import study_window
from bdl.figures.style import DARK, LIGHT, themed
from bdl.figures.tolerance_curves import draw_tolerances
from bdl.runs.run_directory import RunDirectory
from bdl.study.catalogue import load
from bdl.study.protocol import Protocol
from bdl.study.results import Results, ScoreRecord
from bdl.study.study_reader import StudyReader

pytest.importorskip("matplotlib")
Finished = tuple[Path, Results]


def test_without_a_run_the_same_bytes_are_drawn_each_time(tmp_path: Path):
    first, second = (draw_figures(tmp_path / name, theme="light") for name in ("a", "b"))
    names = {file.name for file in first.files}
    assert names == {f"{n}.{s}" for n in ("overview", "targets") for s in ("svg", "pdf", "png")}
    for one, other in zip(first.files, second.files, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert any("need the run directory" in note for note in first.notes)


@pytest.mark.slow
def test_the_command_draws_all_figures_of_a_run(finished: Finished, tmp_path: Path):
    done = CliRunner().invoke(app, ["figures", str(finished[0]), "--out", str(tmp_path / "f")])
    assert done.exit_code == 0, done.output
    names = {Path(line).name for line in done.stdout.splitlines()}
    stems = ("overview", "targets", "tolerance", "window")
    assert names == {
        f"{stem}{theme}.{suffix}"
        for stem in stems
        for theme in ("", "-dark")
        for suffix in ("svg", "pdf", "png")
    }
    assert all((tmp_path / "f" / name).stat().st_size > 2000 for name in names)


def test_curves_are_means_with_their_spread(finished: Finished, nested: Protocol):
    curves = curves_of(StudyReader(finished[0]))
    assert [curve.kind for curve in curves] == ["events", "state"]
    stored = [curve for curve in finished[1].curves if curve.stage == "tuned"]
    with themed(LIGHT):
        axes = draw_tolerances(curves, [], LIGHT).axes[0]
    for line, curve in zip(axes.lines, stored, strict=True):
        assert line.get_label() == curve.row
        assert line.get_ydata() == pytest.approx(curve.mean)
    assert not backbones_of(StudyReader(finished[0]))  # one encoder only


def test_backbones_have_the_names_of_their_encoders():
    protocol = load("sleep-architectures")
    records = tuple(
        ScoreRecord(row.name, "tuned", "mAP", number / 10, seed=0)
        for number, row in enumerate(protocol.rows)
    )
    study: Any = SimpleNamespace(protocol=protocol, results=Results(records))
    assert backbones_of(study) == [
        ScorePair("gru", state=0.1, events=0.0),
        ScorePair("unet", state=0.3, events=0.2),
        ScorePair("attention-unet", state=0.5, events=0.4),
    ]


def test_the_window_shows_density_and_transition_evidence(finished: Finished):
    study = StudyReader(finished[0])
    window = study_window(study)
    assert list(window.rows) == ["BDL", "Segmentation"]
    density = study.densities("BDL")[window.recording]
    inside = (density.times >= window.first) & (density.times <= window.last)
    for column, event in enumerate(density.types):
        assert window.rows["BDL"].values[event] == pytest.approx(density.values[inside, column])
    state = window.rows["Segmentation"]
    assert all((values >= 0).all() for values in state.values.values())
    # Evidence of onset and wake-up is the rise and the fall of the same probability.
    assert not np.any((state.values["onset"] > 0) & (state.values["wakeup"] > 0))
    assert window.intervals
    assert window.first <= window.events["onset"][0] <= window.last
    with themed(DARK):
        figure = draw_window(window, DARK)
        overview = draw_overview(window, run_gains(study), "run", DARK)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[1:] == ["Segmentation: transition evidence", "BDL: expected events per bin"]
    strict = f"{run_gains(study)[0].events:.3f}"
    assert strict in [text.get_text() for text in overview.axes[-1].texts]


def test_an_unfinished_run_is_refused(finished: Finished, tmp_path: Path):
    run = Path(shutil.copytree(finished[0], tmp_path / "run"))
    (run / "outputs.json").unlink()
    with pytest.raises(StudyError, match=r"outputs\.json is missing"):
        draw_figures(tmp_path / "out", [run])
    assert not (tmp_path / "out").exists()


def test_rows_are_in_the_order_of_the_protocol(finished: Finished, tmp_path: Path):
    run = RunDirectory(shutil.copytree(finished[0], tmp_path / "run"))
    content = run.get_json("protocol.json")
    content["protocol"]["rows"].reverse()
    run.put_json("protocol.json", content)
    assert list(study_window(StudyReader(run.url)).rows) == ["Segmentation", "BDL"]
