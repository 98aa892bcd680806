"""The baselines find plain events, and tables come from kept files alone."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from bench.accuracy.kept import read_run, read_truth, run_file, write_run, write_truth
from bench.accuracy.rows import ablation_rows, find_row
from bench.accuracy.tables import table
from bench.accuracy.tasks import Task
from bench.baselines import Detected, Scoring, boosting, peaks
from bench.baselines.choice import best_threshold, calibration_groups
from bench.documents import PAGES_OF_TABLES, with_kept_tables
from bench.experiments.common import group_folds
from numpy.typing import NDArray

from bdl import Events, Recording, Recordings
from bdl.datasets import Benchmark, Settings

PERIOD = 0.1
IDS = ("a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2")
SCORING = Scoring(("spike",), (0.4, 1.0))


def spikes(id: str, seed: int) -> tuple[Recording, NDArray[np.float64]]:
    """A noisy channel with a bump every 20 s or so."""
    rng = np.random.default_rng(seed)
    values = 0.2 * rng.normal(size=2000)
    places = np.arange(100, 1900, 200) + rng.integers(0, 80, 9)
    for place in places:
        values[place - 2 : place + 3] += [1.0, 2.0, 4.0, 2.0, 1.0]
    return Recording.of(values, id=id, period=PERIOD, group=id[0]), places * PERIOD


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    """Eight recordings of four groups."""
    made = [spikes(id, seed) for seed, id in enumerate(IDS)]
    events = Events.concat(Events.of(recording.id, "spike", times) for recording, times in made)
    settings = Settings(
        types=SCORING.types,
        tolerances=SCORING.tolerances,
        stride=2,
        window=60.0,
        reference_spacing=20.0,
        sigma=0.4,
        separation=1.0,
    )
    return Benchmark(
        "spikes", Recordings.of([recording for recording, _ in made]), events, (), settings
    )


@pytest.mark.parametrize("baseline", [pytest.param(boosting, marks=pytest.mark.slow), peaks])
def test_a_baseline_finds_bumps(benchmark, baseline):
    part = group_folds(benchmark.recordings, folds=4, seed=0)[0]
    training, test = (benchmark.recordings.select(ids) for ids in (part.train, part.test))
    events = benchmark.events.select(recordings=part.train)
    detected = baseline(training, events, test, SCORING, 0)
    matches = SCORING.match(benchmark.events, detected.ranked, part.test)
    assert matches.mean_average_precision() > 0.95
    reported = SCORING.match(benchmark.events, detected.reported, part.test).tally(-np.inf)
    assert reported.f1.min() > 0.9


def test_no_group_is_fitted_on_and_calibrated_on(benchmark):
    fitted, aside = calibration_groups(benchmark.recordings)
    groups = benchmark.recordings.groups
    assert {groups[id] for id in fitted}.isdisjoint({groups[id] for id in aside})
    assert sorted(fitted + aside) == sorted(benchmark.recordings.ids)


def test_the_threshold_has_the_highest_f1():
    truth = Events.of("a", "spike", [1.0, 5.0, 9.0])
    detections = Events.of("a", "spike", [1.0, 3.0, 5.0, 7.0, 9.0], [0.9, 0.2, 0.8, 0.1, 0.5])
    assert best_threshold(SCORING.match(truth, detections, ["a"])) == 0.5


def test_a_table_comes_from_kept_files(benchmark, tmp_path):
    parts = group_folds(benchmark.recordings, folds=2, seed=0)
    write_truth(tmp_path, Task("spikes", "spikes", operating=(0.4,)), benchmark, parts)
    assert read_truth(tmp_path).scoring == SCORING
    rng = np.random.default_rng(0)
    for name, miss in (("best", 0.0), ("peaks", 0.5)):
        for fold, part in enumerate(parts):
            truth = benchmark.events.select(recordings=part.test)
            kept = truth._rows(rng.random(len(truth)) >= miss)
            ranked = Events.of(kept.recording, kept.event, kept.time, np.ones(len(kept)))
            file = run_file(tmp_path, name, 0, fold)
            write_run(file, Detected(ranked, ranked), {"cpu": 2.0})
            assert read_run(file)[0].reported == ranked
    head, _, best, other, *caption = table(tmp_path, None, "best", 50).splitlines()
    assert head.startswith("| row | mAP | AP@0.4 s | best F1 | F1 at threshold, 0.4 s |")
    assert best.startswith("| best | 1.000 | 1.000 | 1.000 | 1.000 |")
    assert other.startswith("| peaks | 0.")
    assert "8 recordings of 4 groups" in " ".join(caption)
    run_file(tmp_path, "peaks", 0, 1).unlink()  # the table is of the fold that both rows have
    assert "Folds 0 of 2" in table(tmp_path, None, "best", 50)


def test_a_kept_truth_of_other_folds_is_refused(benchmark, tmp_path):
    for folds in (2, 2, 4):
        parts = group_folds(benchmark.recordings, folds=folds, seed=0)
        if folds == 2:
            write_truth(tmp_path, Task("spikes", "spikes"), benchmark, parts)
    with pytest.raises(SystemExit, match="other folds"):
        write_truth(tmp_path, Task("spikes", "spikes"), benchmark, parts)


@pytest.mark.parametrize("name", ["paper", "segmentation", "fast", "best", *ablation_rows()])
def test_every_row_has_valid_settings(benchmark, name):
    pytest.importorskip("torch")
    detector = find_row(name).detector(Task("spikes", "spikes"), benchmark, seed=3)
    assert detector.settings.training.seed == 3
    assert detector.settings.tolerances == SCORING.tolerances


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES_OF_TABLES, ids=lambda page: page.name)
def test_the_documents_have_the_tables_of_the_kept_runs(page: Path) -> None:
    text = page.read_text("utf-8")
    made, count = with_kept_tables(text)
    assert count > 0
    number = re.compile(r"-?\d+\.\d+")
    assert number.sub("#", made) == number.sub("#", text)
    shown, now = (np.array(number.findall(each), float) for each in (text, made))
    np.testing.assert_allclose(now, shown, atol=0.0011)  # another processor may round otherwise
