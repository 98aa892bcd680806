"""`bdl evaluate`: nested cross-validation on one's own files, and presets as rows of a study."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

from bdl.datasets import Settings, Tables
from bdl.detector import DetectorSettings
from bdl.encoders import Encoder
from bdl.errors import BdlError, ConfigError, InputError, StudyError
from bdl.evaluation import Regions, bootstrap, match
from bdl.evaluation.counts import count_events
from bdl.formats import read_annotated
from bdl.report.study_content import study_content
from bdl.report.summary import summarise
from bdl.study import catalogue, verify_study
from bdl.study.known_score import known_score
from bdl.study.own_data import project_protocol
from bdl.study.protocol import BootstrapSettings, Protocol, Row, parse_protocol
from bdl.study.runner import run_study
from bdl.study.scale import shrink
from bdl.study.splits import Folds
from bdl.study.status import status_of
from bdl.study.study_reader import StudyReader
from bdl.training import Training
from bdl.workers import Workers
from calling import call, call_json
from projects import QUICK, write_project

Contents = Callable[[Path], dict[str, bytes]]
FEW = ("--folds", 3, "--bootstrap", 20, "--threads", 1, "--quiet")


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A project, and what its evaluation told."""
    project = write_project(tmp_path_factory.mktemp("own"))
    return project, call_json("evaluate", project, *FEW, "--baseline", "segmentation")


def test_one_command_gives_every_score_with_its_interval(
    evaluated: tuple[Path, dict[str, Any]],
) -> None:
    project, output = evaluated
    assert output["out"] == str(project / "evaluation")
    assert {name: output[name] for name in ("recordings", "groups", "folds", "failed")} == {
        "recordings": 6, "groups": 3, "folds": 3, "failed": [],
    }  # fmt: skip
    assert [*output["rows"]] == ["fast", "segmentation"]
    for row in output["rows"].values():
        assert [*row["tuned"]] == ["mAP", "AP@8", "AP@20", "mF1", "F1@20"]
        rates = row["operating point"]
        assert {name.split("@")[0] for name in rates} == {
            "F1", "sensitivity", "precision", "false_alarms_per_day",
        }  # fmt: skip
        assert len(rates["F1@20>=0"]["interval"]) == 2
        low, high = row["tuned"]["mAP"]["interval"]
        assert 0 <= low <= row["tuned"]["mAP"]["value"] <= high <= 1
    [difference] = [change for change in output["differences"] if change["metric"] == "mAP"]
    values = [output["rows"][name]["tuned"]["mAP"]["value"] for name in ("fast", "segmentation")]
    assert difference["value"] == pytest.approx(values[0] - values[1])
    text = call("evaluate", project, *FEW, "--baseline", "segmentation")
    assert max(map(len, text.splitlines())) <= 80
    assert "sensitivity" in text


def test_the_report_has_the_scores_of_the_evaluation(
    evaluated: tuple[Path, dict[str, Any]],
) -> None:
    project, output = evaluated
    content = study_content(project / "evaluation")
    unknown = tuple(replace(system, scores={}, difference=None) for system in content.systems)
    # As stored, and computed again, as for an earlier run directory without intervals.
    for reported in (content, replace(content, systems=unknown)):
        summaries = summarise(reported)
        for row in summaries:
            scores = output["rows"][row.name]["tuned"]
            for metric in ("mAP", "AP@8", "AP@20"):
                assert row.ap[metric].to_dict() == scores[metric]
            assert row.best_f1 == scores["mF1"]["value"]
        difference = summaries[1].difference
        assert difference is not None
        [expected] = [pair for pair in output["differences"] if pair["metric"] == "mAP"]
        assert difference.value == expected["value"]
        assert [difference.low, difference.high] == expected["interval"]
    page = project / "report.html"
    call("report", project, "--out", page)
    value, (low, high) = output["rows"]["fast"]["tuned"]["mAP"].values()
    shown = f'<td>{value:.3f} <span class="range">[{low:.3f}, {high:.3f}]</span></td>'
    assert shown in page.read_text()
    assert "20 bootstrap replicates over 3 groups, seed 0" in page.read_text()


def test_a_finished_evaluation_is_verified_with_its_data(
    evaluated: tuple[Path, dict[str, Any]],
) -> None:
    assert verify_study(str(evaluated[0] / "evaluation")).recordings == 6


def test_the_test_labels_stay_sealed_until_the_choices_are_frozen(
    evaluated: tuple[Path, dict[str, Any]],
) -> None:
    run = StudyReader(evaluated[0] / "evaluation")
    noted = [entry["event"] for entry in run.ledger() if entry["event"] != "step"]
    assert noted[:4] == ["started", "frozen", "test opened", "finished"]
    frozen = run.get_json("frozen.json")["choices"]
    assert len(frozen) == 6
    assert all(choice["operating_point"]["threshold"] >= 0 for choice in frozen)
    for row, thresholds in evaluated[1]["thresholds"].items():
        points = [choice["operating_point"] for choice in frozen if choice["row"] == row]
        assert thresholds == [point["threshold"] for point in points]
    status = status_of(run.url)
    assert status.done == status.total == {"detector": 6, "score": 1}
    assert all(score is not None for row in status.live.values() for score in row)


def test_lost_steps_come_back_with_the_same_bytes(
    evaluated: tuple[Path, dict[str, Any]], contents: Contents
) -> None:
    project = evaluated[0]
    run = project / "evaluation"
    before = contents(run)
    shutil.rmtree(next(run.glob("steps/detector/00-fast/fold-1")))
    shutil.rmtree(next(run.glob("steps/score-*")))
    output = call_json("evaluate", project, *FEW, "--baseline", "segmentation")
    assert contents(run) == before
    assert output["rows"] == evaluated[1]["rows"]


def test_no_leak(tmp_path: Path, contents: Contents) -> None:
    """Noise in place of the test labels of a fold changes no choice and no weight of it."""
    runs = []
    for name in ("clean", "noise"):
        project = write_project(tmp_path / name)
        split = Folds(by="group", folds=3, seed=0)
        tested = _tested(project, split)
        if name == "noise":
            file = tmp_path / name / "events.csv"
            table, rng = pl.read_csv(file), np.random.default_rng(5)
            noise = pl.Series(rng.uniform(0, 399, len(table)))
            inside = pl.col("recording").is_in(tested)
            table.with_columns(time=pl.when(inside).then(noise).otherwise("time")).write_csv(file)
        call("evaluate", project, *FEW)
        runs.append(contents(project / "evaluation"))
    clean, noise_run = runs
    kept = [name for name in clean if name.startswith("steps/detector/00-fast/fold-0")]
    assert any(name.endswith("model.safetensors") for name in kept)
    for name in kept:
        assert clean[name] == noise_run[name], name
    chosen = [json.loads(run["frozen.json"])["choices"] for run in runs]
    assert chosen[0][0] == chosen[1][0]
    assert chosen[0][1:] != chosen[1][1:]
    assert clean["split.json"] == noise_run["split.json"]
    assert clean["results.json"] != noise_run["results.json"]


def _tested(project: Path, split: Folds) -> list[str]:
    """Recordings of the test part of fold 0."""
    from bdl.study.splits import make_split

    files = sorted((project.parent / "signals").glob("*.csv"))
    groups = {file.stem: file.stem[:2] for file in files}
    return [*make_split(split, groups, calibrate=False)[0].test]


def test_nothing_is_scored_outside_the_annotated_spans(tmp_path: Path) -> None:
    project = write_project(tmp_path, annotated="../annotated.csv")
    names = sorted(file.stem for file in (tmp_path / "signals").glob("*.csv"))
    spans = "\n".join(f"{name},0,{200 + 20 * i}" for i, name in enumerate(names))
    (tmp_path / "annotated.csv").write_text(f"recording,start,end\n{spans}\n")
    output = call_json("evaluate", project, *FEW)
    study = StudyReader(project / "evaluation")
    benchmark = study.benchmark()
    regions = Regions.annotated(
        read_annotated(tmp_path / "annotated.csv", benchmark.recordings).infos
    )
    scores = [
        match(
            benchmark.events, study.detections("fast"), (8.0, 20.0), types=("on", "off"),
            recordings=benchmark.recordings.ids, regions=limits,
        ).mean_average_precision()
        for limits in (regions, None)
    ]  # fmt: skip
    value = output["rows"]["fast"]["tuned"]["mAP"]["value"]
    assert value == pytest.approx(scores[0])
    assert value != pytest.approx(scores[1])
    content = study_content(project / "evaluation")
    assert content.matches[0].mean_average_precision() == pytest.approx(value)
    [summary] = summarise(content)
    assert summary.ap["mAP"].to_dict() == output["rows"]["fast"]["tuned"]["mAP"]
    assert content.days == pytest.approx(sum(200 + 20 * i for i in range(6)) / 86400)


def test_hapt_as_plain_tables_scores_as_the_data_set_does(
    real: Callable[[str], Path], tmp_path: Path
) -> None:
    source, users = real("hapt"), ("user01", "user02", "user03")
    published = tmp_path / "hapt"
    (published / "recordings").mkdir(parents=True)
    for file in sorted((source / "recordings").glob("*.parquet")):
        if file.stem.endswith(users):
            shutil.copy(file, published / "recordings")
    segments = pl.read_csv(source / "segments.csv").filter(pl.col("user").is_in(users))
    segments.write_csv(published / "segments.csv")
    from bdl.datasets import HAPT

    benchmark = HAPT().load(published)
    (tmp_path / "signals").mkdir()
    for file in sorted((published / "recordings").glob("*.parquet")):
        if file.stem in benchmark.recordings.ids:
            pl.read_parquet(file).write_csv(tmp_path / "signals" / f"{file.stem}.csv")
    events = benchmark.events
    columns = {"recording": [*events.recording], "event": [*events.event], "time": events.time}
    pl.DataFrame(columns).write_csv(tmp_path / "events.csv")
    tolerances = benchmark.settings.tolerances
    call(
        "new", tmp_path / "mine", "--recordings", tmp_path / "signals", "--period", 0.02,
        "--group-pattern", "_(user[0-9]+)$", "--events", tmp_path / "events.csv",
    )  # fmt: skip
    config = yaml.safe_load((tmp_path / "mine" / "bdl.yaml").read_text())
    quick = {"encoder": QUICK["encoder"], "training": {"updates": 5}}
    config["detector"] = {"tolerances": [*tolerances], **quick}  # the rest is chosen for the data
    (tmp_path / "mine" / "bdl.yaml").write_text(yaml.safe_dump(config))
    output = call_json("evaluate", tmp_path / "mine", *FEW)
    protocol = Protocol(
        name="published",
        data="hapt",
        split=Folds(by="group", folds=3, seed=0),
        rows=(Row.of_preset("fast", "fast", quick),),
        seeds=(0,),
        bootstrap=BootstrapSettings(by="group", replicates=20),
    )
    results = run_study(protocol, tmp_path / "run", data=published, workers=Workers(threads=1))
    for metric in ("mAP", "mF1"):
        estimate = results.estimate("fast", "tuned", metric)
        assert estimate is not None
        assert output["rows"]["fast"]["tuned"][metric] == estimate.to_dict()
    ours = StudyReader(tmp_path / "mine" / "evaluation").detections("fast")
    assert ours == StudyReader(tmp_path / "run").detections("fast")


def test_every_protocol_runs_on_own_tables(tmp_path: Path) -> None:
    write_project(tmp_path)
    names = sorted(file.stem for file in (tmp_path / "signals").glob("*.csv"))
    spans = "\n".join(f"{name},0,{250 + 20 * i}" for i, name in enumerate(names))
    (tmp_path / "annotated.csv").write_text(f"recording,start,end\n{spans}\n")
    protocol = Protocol(
        name="mixed",
        data={
            "kind": "tables", "recordings": "signals", "tolerances": (8.0, 20.0),
            "annotated": "annotated.csv",
            "layout": {"period": 1.0, "group_pattern": "^(g[0-9])"},
        },
        settings={"window": 200.0},
        split=Folds(by="recording", folds=3, seed=0, calibration=0.3),
        rows=(
            Row(name="Hard", objective="bdl-hard", encoder=QUICK["encoder"]),
            Row.of_preset("Fast", "fast", {"encoder": QUICK["encoder"]}),
        ),
        training={"epochs": 9, "checkpoint_epochs": (9,)},
        seeds=(0,),
        differences=(("Fast", "Hard"),),
        bootstrap=BootstrapSettings(replicates=20, seed=3),
        analyses=("counts",),
    )  # fmt: skip
    small = shrink(protocol, Tables.scales["tiny"])
    results = run_study(small, tmp_path / "run", data=tmp_path, workers=Workers(threads=1))
    assert results.values("Hard", "tuned", "mAP", seed=0, fold=None)
    assert results.values("Fast", "tuned", "mAP", seed=0, fold=None)
    assert [difference.stage for difference in results.differences] == ["tuned", "tuned"]
    kinds = {row.name: row.encoder.kind for row in small.rows}
    assert kinds == {"Hard": "recurrent", "Fast": "recurrent"}
    content = study_content(tmp_path / "run", data=tmp_path)
    summaries = summarise(content)
    for summary, matches in zip(summaries, content.matches, strict=True):
        assert summary.ap["mAP"] == results.estimate(summary.name, "tuned", "mAP")
        # What the study has not stored is drawn as it draws: recordings, though there are groups.
        replicates = small.bootstrap.replicates
        drawn = bootstrap({"row": matches}, replicates=replicates, seed=3, metric="AP@8")
        assert summary.ap["AP@8"] == drawn.systems["row"]
    stored, shown = results.differences[0].estimate, summaries[1].difference
    assert shown is not None  # Hard minus Fast, as Hard is the first row
    assert (shown.value, shown.low, shown.high) == (-stored.value, -stored.high, -stored.low)
    assert content.recordings is not None
    regions = Regions.annotated(content.recordings.infos)
    for system in content.systems:
        counts = count_events(system.densities.values(), content.truth, regions=regions)
        [ratio] = results.values(system.name, "tuned", "count ratio", seed=0, fold=None).values()
        assert ratio == pytest.approx(counts.ratio)
        whole = count_events(system.densities.values(), content.truth)
        assert ratio != pytest.approx(whole.ratio)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--folds", 4), r"4 folds need .* the data has 3; give fewer \(split.folds, --folds\)"),
        (
            ("--baseline", "forest"),
            r"preset \(best, paper\), an objective .*segmentation.* decoder \(expected-ap, .*peaks",
        ),
        (("--objective", "bdl-soft"), "'bdl-soft' is not known"),
    ],
)
def test_what_evaluate_refuses(tmp_path: Path, words: tuple[object, ...], message: str) -> None:
    project = write_project(tmp_path)
    with pytest.raises(BdlError, match=message):
        call("evaluate", project, "--quiet", *words)


def test_what_was_refused_can_be_mended_in_the_same_directory(tmp_path: Path) -> None:
    project = write_project(tmp_path)
    with pytest.raises(ConfigError, match=r"4 folds need .*--folds"):
        call("evaluate", project, "--folds", 4, "--quiet")
    table = pl.read_csv(tmp_path / "events.csv")
    rare = pl.DataFrame({"recording": ["g0_r0"], "event": ["rare"], "time": [200.0]})
    pl.concat([table, rare]).write_csv(tmp_path / "events.csv")
    with pytest.raises(ConfigError, match=r"fold \d: no event 'rare' in the training part"):
        call("evaluate", project, *FEW)
    table.write_csv(tmp_path / "events.csv")
    call("evaluate", project, *FEW, "--selection-folds", 0, "--threads", 1)
    assert (project / "evaluation" / "results.json").exists()


def test_any_objective_decoder_or_preset_is_a_baseline(tmp_path: Path) -> None:
    write_project(tmp_path)
    layout = {"period": 1.0}
    data = Tables(recordings="signals", tolerances=(8.0, 20.0), layout=layout)
    names = ("bce-hard", "seg-focal", "forward-mass", "peaks", "best")
    protocol, _ = project_protocol(data, tmp_path, folds=3, baselines=names)
    rows = {row.name: row for row in protocol.rows}
    assert [*rows] == ["fast", *names]
    assert rows["bce-hard"].objective.kind == "bce"
    assert rows["seg-focal"].objective.kind == "segmentation"
    assert rows["forward-mass"].detector == {"decoder": "forward-mass"}
    assert rows["peaks"].detector["decoder"]["separation"] == 20.0
    assert rows["best"].preset == "best"


def test_the_seed_of_the_project_is_that_of_its_evaluation(tmp_path: Path) -> None:
    training = {**QUICK["training"], "seed": 7}
    project = write_project(tmp_path, detector={**QUICK, "training": training})
    with pytest.raises(ConfigError, match=r"seed 3 \(--seed\) contradicts the seed 7"):
        call("evaluate", project, *FEW, "--seed", 3)
    call("evaluate", project, *FEW, "--selection-folds", 0)
    protocol = StudyReader(project / "evaluation").protocol
    assert (protocol.seeds, protocol.split.seed) == ((7,), 7)
    call("evaluate", project, *FEW, "--selection-folds", 0, "--seed", 7)
    assert protocol.rows[0].detector["training"] == QUICK["training"]


def test_the_score_of_a_detector_with_a_budget_is_not_known(
    evaluated: tuple[Path, dict[str, Any]],
) -> None:
    project = evaluated[0]
    with pytest.raises(StudyError, match="with other settings, without a budget"):
        known_score(
            project / "evaluation", Tables(recordings="../signals"), project, preset="fast",
            detector={**QUICK, "training": {"batch": 4, "budget": "10m"}}, settings={},
        )  # fmt: skip


def test_an_evaluation_has_no_budget(tmp_path: Path) -> None:
    training = {**QUICK["training"], "updates": None, "budget": "10m"}
    project = write_project(tmp_path, detector={**QUICK, "training": training})
    with pytest.raises(ConfigError, match=r"budget \(--budget\): gives other models on another"):
        call("evaluate", project, *FEW)
    updates = ("--updates", QUICK["training"]["updates"])  # replace the budget of the file
    call("evaluate", project, *FEW, "--selection-folds", 0, *updates)
    training = StudyReader(project / "evaluation").protocol.rows[0].detector["training"]
    assert "budget" not in training


def test_one_group_cannot_be_divided(tmp_path: Path) -> None:
    project = write_project(tmp_path, layout={"period": 1.0, "group_pattern": "^(g)"})
    with pytest.raises(ConfigError, match=r"of one group, 'g': .*--group-pattern"):
        call("evaluate", project, "--quiet")


def test_another_setting_needs_another_directory(evaluated: tuple[Path, dict[str, Any]]) -> None:
    with pytest.raises(BdlError, match=r"differs in .*rows.*another --out"):
        call("evaluate", evaluated[0], *FEW)


def test_a_folder_without_a_project_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"bdl.yaml is missing; `bdl new .*` makes one"):
        call("evaluate", tmp_path)


def test_events_of_unknown_recordings_are_refused(tmp_path: Path) -> None:
    project = write_project(tmp_path)
    with (tmp_path / "events.csv").open("a") as file:
        file.write("g9_r9,on,3\n")
    with pytest.raises(InputError, match=r"not among the 6 given, such as 'g9_r9'"):
        call("evaluate", project, "--quiet")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"preset": "fast", "stride": 4}, "stride has no effect beside preset"),
        ({"objective": "bdl-hard", "detector": {"tile": 9}}, "no effect without preset"),
        ({"preset": "quick"}, "fast, best or paper expected"),
        ({"preset": "fast", "detector": {"strid": 4}}, "strid: unknown key"),
        ({}, "objective: a value expected, got none"),
        (
            {"preset": "fast", "encoder": "gru", "detector": {"encoder": "trees"}},
            "encoder: given on the row and in its detector; keep one",
        ),
        (
            {"preset": "fast", "objective": "bdl-hard", "detector": {"objective": "seg-ce"}},
            "objective: given on the row and in its detector",
        ),
        ({"preset": "fast", "lag": 3.0, "detector": {"lag": 4.0}}, "lag: given on the row and"),
        ({"preset": "fast", "lag": 3.0, "encoder": "gru"}, "reads later bins without a limit"),
        (
            {"preset": "fast", "detector": {"training": {"seed": 5}}},
            "detector: training: seed: has no effect, because a study has its own; give seeds",
        ),
        (
            {"preset": "fast", "detector": {"training": {"budget": 60}}},
            "detector: training: budget: gives other models on another machine",
        ),
    ],
)
def test_rows_that_contradict_themselves(row: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Row(**{"name": "a", **row})


@pytest.mark.parametrize("preset", ["fast", "best", "paper"])
def test_a_row_with_a_preset_keeps_its_lag(preset: str) -> None:
    data = Settings(
        types=("on",), tolerances=(8.0,), stride=2, window=50.0, reference_spacing=20.0, sigma=4.0,
        separation=5.0,
    )  # fmt: skip
    for row in (
        Row(name="a", preset=preset, lag=3.0),
        Row(name="a", preset=preset, detector={"lag": 3.0}),
    ):
        stored = Row(**row.model_dump(mode="json"))
        assert stored == row
        settings = stored.detector_settings(data, Training())
        assert settings.lag == 3.0
        assert settings.encoder == DetectorSettings.preset(preset, lag=3.0).encoder
        assert settings.encoder.causal


def test_a_stored_row_of_a_preset_is_read_as_it_is() -> None:
    row = Row(name="a", preset="fast", lag=3.0).model_dump(mode="json")
    row["encoder"] = Encoder.parse("forward-gru").model_dump(mode="json")
    row["detector"] = {"objective": "seg-ce"}
    assert Row(**row).encoder.kind == "recurrent"


ONLY_PRESETS = {
    "name": "x",
    "data": "hapt",
    "split": {"kind": "folds", "folds": 2, "seed": 0},
    "rows": [{"name": "Fast", "preset": "fast"}],
}


@pytest.mark.parametrize(
    ("change", "unused"),
    [
        (
            {"training": {"epochs": 7, "batch": 2, "clip": 9, "accelerator": "gpu"}},
            "training.batch, training.clip, training.epochs",
        ),
        ({"training": {"augmentation": {"gain": 0.1}}}, "training.augmentation"),
        ({"learning_rates": [0.1]}, "learning_rates"),
        ({"window": 9.0, "selection_seed": 3}, "window, selection_seed"),
        ({"grid": "peaks"}, "grid"),
        (
            {"settings": {"stride": 99, "scaling": "robust", "tolerances": [2.0]}},
            "settings.stride, settings.scaling",
        ),
        (
            {
                "settings": {"stride": 99, "scaling": "robust", "jitter": 2},
                "rows": [{"name": "Paper", "preset": "paper"}],
            },
            "yaml: settings.scaling, settings.jitter",
        ),
        (
            {"split": {"kind": "folds", "folds": 2, "seed": 0, "calibration": 0.3}},
            "split.calibration",
        ),
        (
            {"split": {"kind": "holdout", "seed": 0, "calibration": 0.3, "calibration_seed": 1}},
            "split.calibration",
        ),
    ],
)
def test_keys_that_no_preset_uses_are_refused(
    tmp_path: Path, change: dict[str, Any], unused: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump({**ONLY_PRESETS, **change}))
    with pytest.raises(ConfigError, match=rf"{unused}: no effect, because every row has a preset"):
        call("study", "run", file, "--out", tmp_path / "run")
    mixed = [*ONLY_PRESETS["rows"], {"name": "Hard", "objective": "bdl-hard"}]
    split = {"kind": "folds", "folds": 2, "seed": 0, "calibration": 0.2}
    parse_protocol({**ONLY_PRESETS, "split": split, **change, "rows": mixed}, "mixed.yaml")


def test_the_preset_paper_takes_the_settings_of_the_data() -> None:
    rows = [{"name": "Paper", "preset": "paper"}]
    settings = {"settings": {"stride": 99}}
    assert parse_protocol({**ONLY_PRESETS, "rows": rows, **settings}, "mine.yaml").settings


def test_a_protocol_of_presets_has_the_device_and_what_it_extends(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    changes = {"rows": ONLY_PRESETS["rows"], "differences": [], "paper": {"tables": []}}
    device = {"training": {"accelerator": "gpu"}}
    file.write_text(yaml.safe_dump({"extends": "hapt-nested", **device, **changes}))
    protocol = catalogue.load(file)
    assert protocol.training.accelerator == "gpu"
    assert (protocol.split.seed, protocol.split.calibration_seed) == (20260718, 0)
    assert protocol.settings == {}
    assert protocol.learning_rates == Protocol.model_fields["learning_rates"].default
    stored = {**protocol.model_dump(mode="json"), "window": 9.0}  # of a version that took it
    assert parse_protocol(stored, "protocol.json").window == 9.0


def test_a_preset_needs_the_nested_regime() -> None:
    with pytest.raises(ConfigError, match="a preset needs the regime nested"):
        Protocol(
            name="x", data="hapt", regime="validation", split=Folds(folds=2, seed=0),
            rows=(Row.of_preset("a", "fast", {}),),
        )  # fmt: skip


def test_tolerances_are_proposed_where_none_are_given(tmp_path: Path) -> None:
    write_project(tmp_path)
    data = Tables(recordings="signals", layout={"period": 1.0, "group_pattern": "^(g[0-9])"})
    protocol, benchmark = project_protocol(data, tmp_path, folds=3)
    assert protocol.data.tolerances == benchmark.settings.tolerances
    assert benchmark.settings.types == ("on", "off")
