"""Protocols: what is refused, what the hash covers, and that every preset hangs together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bdl.errors import ConfigError
from bdl.study import catalogue
from bdl.study.cost import training_count
from bdl.study.protocol import Protocol, parse_protocol
from bdl.study.scale import scale_of, shrink
from bdl.study.table_formats import layouts

STAGES = {"tuned", "default", "valid", "selection", "cross-fitted"}
PEAKS = {"kind": "peaks"}
STUDIES = [
    "sleep-objectives",
    "sleep-architectures",
    "sleep-holdout",
    "sleep-nested",
    "sleep-legacy-mse",
    "sleep-prior",
    "sleep-tolerance-width",
    "sleep-online",
    "sleep-online-smoothed",
    "sleep-online-learning-rate",
    "sleep-online-fairness",
    "sleep-causal-holdout",
    "sleep-right-target",
    "sleep-transformer",
    "sleep-transformer-large",
    "sleep-transformer-tuned",
    "sleep-local-transformer",
    "chbmit-compact",
    "chbmit-high-capacity",
    "chbmit-patient-holdout",
    "chbmit-patient-nested",
    "bowshock",
    "fraud",
    "hapt-nested",
    "mitdb-nested",
    "sleep-lag",
    "hapt-lag",
    "mitdb-lag",
]


def test_every_study_of_the_paper_has_a_preset():
    assert set(STUDIES) == set(catalogue.names())


@pytest.mark.parametrize("name", STUDIES)
def test_a_preset_hangs_together(name: str):
    protocol = catalogue.load(name)
    rows = {row.name: row for row in protocol.rows}
    stages = STAGES | {*protocol.decoders, *protocol.rescored}
    stages |= {grid.kind for grid in protocol.alternatives}
    stages |= {"adapted", "exponential", "peak fill", "integrated", "direct"}
    for table in layouts(protocol):
        for line in table.lines:
            assert len(line.cells) == len(table.columns), (table.label, line.name)
            for cell in filter(None, line.cells):
                assert set(cell.rows) <= set(rows)
                assert cell.over is None or cell.over in rows
                assert cell.stage in stages
                for row in cell.rows:
                    if cell.minus is not None and cell.over is None:
                        assert (row, cell.minus) in protocol.differences
                    if cell.seed is not None:
                        assert cell.seed in protocol.seeds_of(rows[row])
    for scale in ("small", "tiny"):
        small = shrink(protocol, scale_of(protocol, scale))
        assert [row.name for row in small.rows] == list(rows)
        assert training_count(small) <= training_count(protocol)


@pytest.mark.parametrize("name", STUDIES)
def test_a_protocol_goes_to_yaml_and_back(name: str):
    protocol = catalogue.load(name)
    text = yaml.safe_dump(protocol.model_dump(mode="json"))
    assert parse_protocol(yaml.safe_load(text), name) == protocol


def test_paper_seeds_and_grids_stand():
    nested = catalogue.load("sleep-nested")
    assert (nested.split.seed, nested.split.calibration_seed) == (20260718, 20260719)
    assert (nested.selection_seed, nested.seeds) == (301, (0, 1, 2))
    assert nested.learning_rates == (1e-3, 3e-3, 1e-2)
    assert nested.checkpoints == (5, 10, 15, 20)
    holdout = catalogue.load("sleep-holdout")
    assert (holdout.split.seed, holdout.split.calibration_seed) == (20260716, 20260717)
    assert holdout.selection_seed == 101
    assert catalogue.load("sleep-causal-holdout").seeds == (11, 12, 13)
    assert catalogue.load("chbmit-patient-nested").learning_rates == (3e-4, 1e-3, 3e-3)


def test_rows_that_are_called_causal_use_causal_decoders():
    protocol = catalogue.load("sleep-right-target")
    for table in protocol.paper.tables:
        for line in table.lines:
            stages = {cell.stage for cell in line.cells if cell is not None}
            if "(causal)" in line.name or "(lookahead)" in line.name:
                decoders = [protocol.decoders[stage] for stage in stages]
                for decoder in decoders:
                    causal = decoder.keep == "earlier" and decoder.looks_ahead is None
                    assert causal == ("(causal)" in line.name)


@pytest.mark.parametrize("name", STUDIES)
def test_what_the_paper_leaves_open_is_noted(name: str):
    protocol = catalogue.load(name)
    assert protocol.paper.note
    if protocol.split.kind == "folds" and protocol.regime == "validation":
        assert "The seed of the four folds is not published" in protocol.paper.note


def test_the_hash_covers_what_changes_a_figure_and_nothing_else(nested: Protocol):
    same = nested.replace(name="other", title="Other", notes="a word")
    assert same.digest() == nested.digest()
    for changed in (
        nested.replace(seeds=(1,)),
        nested.replace(training=nested.training.replace(clip=0.2)),
        nested.replace(split=nested.split.replace(seed=1)),
        nested.replace(rows=nested.rows[::-1]),
    ):
        assert changed.digest() != nested.digest()


def test_the_method_of_a_row_changes_no_hash():
    protocol = catalogue.load("hapt-lag")
    renamed = protocol.replace(rows=tuple(row.replace(method="x") for row in protocol.rows))
    assert renamed.digest() == protocol.digest()
    assert {row.method for row in protocol.rows} == {"BDL-Hard", "BDL-Gaussian", "Segmentation CE"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 3}, "epochs: unknown key"),
        ({"rows": [{"name": "a", "objective": "bdl-soft"}]}, "rows.0: "),
        ({"rows": [{"name": "a", "objective": "bdl-hard", "encoder": "gpt"}]}, "rows.0: "),
        ({"rows": []}, "rows"),
        ({"rows": [{"name": "a", "objective": "bdl-hard"}] * 2}, "rows need distinct names"),
        ({"split": {"kind": "folds", "folds": 1, "seed": 0}}, "folds"),
        ({"split": {"kind": "folds", "folds": 2, "seed": 0}}, "split.calibration"),
        ({"training": {"epochs": 4, "checkpoint_epochs": [5]}}, "checkpoint_epochs"),
        ({"learning_rates": []}, "learning_rates"),
        ({"learning_rates": [-1.0]}, "learning_rates"),
        ({"differences": [["a", "b"]]}, "a difference names the row"),
        ({"differences": [["BDL", "BDL"]]}, "a difference of the row 'BDL' with itself"),
        (
            {"differences": [["BDL", "Segmentation"]] * 2},
            "the difference 'BDL' minus 'Segmentation' is given twice",
        ),
        (
            {"rows": [{"name": "a", "objective": "bdl-hard", "decoder": "transitions"}]},
            "rows.0: decoder 'transitions' reads densities of kind 'state', but objective 'bdl'",
        ),
        ({"seeds": [1, 1]}, "seeds must be distinct"),
        (
            {"rows": [{"name": "a", "objective": "bdl-hard", "method": "b"}], "differences": []},
            "the method of a row has no effect",
        ),
        ({"training": {"learning_rate": 0.1}}, "give learning_rates"),
        ({"training": {"seed": 3}}, "give seeds"),
        ({"training": {"budget": "10m"}}, "on another machine"),
        ({"settings": {"strides": 3}}, "settings has no key 'strides'"),
        ({"data": {"kind": "sleep", "task": "x"}}, "has no option 'task'"),
        ({"decoders": {"a": {"kind": "peeks"}}}, "decoders.a"),
        ({"grid": "peeks"}, "grid"),
        ({"regime": "nest"}, "regime: 'nested' or 'validation' expected, got 'nest'"),
        ({"decoders": {"tuned": PEAKS}}, "decoders: stages need distinct names, and 'tuned' is"),
        ({"decoders": {"cross-fitted": PEAKS}}, "'cross-fitted' is one of those of every study"),
        ({"rescored": {"default": [1.0]}}, "rescored: stages need distinct names, and 'default'"),
        ({"rescored": {"selection": [1.0]}}, "'selection' is one of those of every study"),
        ({"rescored": {"raw": [1.0]}, "decoders": {"raw": PEAKS}}, "'raw' is one of decoders"),
        ({"alternatives": [PEAKS], "decoders": {"peaks": PEAKS}}, "'peaks' is one of alternatives"),
        ({"alternatives": [PEAKS, PEAKS]}, "'peaks' is one of alternatives"),
    ],
)
def test_a_wrong_protocol_is_refused_by_key(nested: Protocol, change: dict, message: str):
    data = {**nested.model_dump(mode="json"), **change}
    with pytest.raises(ConfigError) as caught:
        parse_protocol(data, "mine.yaml")
    assert message in str(caught.value)
    assert str(caught.value).startswith("mine.yaml: ")


MINE: dict[str, Any] = {
    "name": "mine",
    "data": "sleep",
    "split": {"kind": "folds", "folds": 2, "seed": 0, "calibration": 0.3},
    "rows": [{"name": "BDL", "objective": "bdl-hard"}],
}
STATE = {"rows": [{"name": "State", "objective": "seg-ce"}]}
OWN = {"rows": [{"name": "BDL", "objective": "bdl-hard", "decoder": "expected-ap"}]}
TREES = {"rows": [{"name": "Trees", "objective": "bdl-hard", "encoder": "trees"}]}
VALIDATION = {"regime": "validation", "split": {"kind": "folds", "folds": 2, "seed": 0}}


def own(**settings: object) -> dict[str, Any]:
    return {"rows": [{"name": "BDL", "objective": "bdl-hard", **settings}]}


def table(**cell: object) -> dict[str, Any]:
    line = {"name": "line", "cells": [cell]}
    return {"tables": [{"label": "mine", "caption": "Mine", "columns": ["a"], "lines": [line]}]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": "transitions"}, "grid: no effect, because it reads densities of kind 'state'"),
        (
            {"grid": "peaks", **STATE},
            "because it reads densities of kind 'events'",
        ),
        ({"grid": "peaks", **OWN}, "grid: no effect, because every row has a decoder of its own"),
        ({"alternatives": ["transitions"]}, "alternatives: transitions: no effect"),
        ({"decoders": {"raw": PEAKS}, **STATE}, "decoders: raw: no effect"),
        ({"analyses": ["counts"], **STATE}, "analyses: counts: no effect"),
        (
            {**VALIDATION, "split": {**MINE["split"], "calibration_seed": 4}},
            "split.calibration: no effect in the regime validation, which has no calibration; "
            "split.calibration_seed: no effect",
        ),
        ({**VALIDATION, "selection_seed": 0}, "selection_seed: no effect in the regime validation"),
        (
            {"learning_rates": [0.01], **own(learning_rates=[0.1])},
            "learning_rates: no effect, because every row has its own",
        ),
        ({"seeds": [1], **own(seeds=[2])}, "seeds: no effect, because every row has its own"),
        (
            {"training": {"batch": 4}, **own(batch=2)},
            "training.batch: no effect, because every row has its own",
        ),
        ({"learning_rates": [0.1, 0.2], **TREES}, "learning_rates: no effect"),
        ({"training": {"clip": 1.0}, **TREES}, "training.clip: no effect"),
        (own(encoder="trees", learning_rates=[0.1]), "learning_rates has no effect with the enc"),
        (own(encoder="trees", batch=4), "rows.0: batch has no effect with the encoder 'trees'"),
        ({"paper": table(of="NOPE")}, "line 'line': the study has no row 'NOPE'; expected one of"),
        ({"paper": table(of="BDL", minus="NOPE")}, "the study has no row 'NOPE'"),
        (
            {"paper": table(of="BDL", metric="zzz")},
            "the study has no metric 'zzz'; expected",
        ),
        ({"paper": table(of="BDL", metric="count ratio")}, "has no metric 'count ratio'"),
        ({"paper": table(of="BDL", stage="zzz")}, "the study has no stage 'zzz'; expected one of"),
    ],
)
def test_a_key_without_effect_is_refused(change: dict[str, Any], message: str):
    assert parse_protocol(MINE, "mine.yaml").name == "mine"
    with pytest.raises(ConfigError) as caught:
        parse_protocol({**MINE, **change}, "mine.yaml")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"grid": "peaks", "rescored": {"strict": [1.0]}, **OWN},  # which searches the grid
        {"grid": "transitions", "rows": [*MINE["rows"], *STATE["rows"]]},
        {"learning_rates": [0.1, 0.2], "rows": [*MINE["rows"], *TREES["rows"]]},
        {"training": {"epochs": 4, "accelerator": "cpu"}, **TREES},
        {"analyses": ["counts"], "paper": table(of="BDL", metric="count ratio")},
        {"analyses": ["states"], "paper": table(of="BDL", metric="state F1", stage="peak fill")},
        {"paper": table(of="BDL", metric="epoch", stage="selection")},
    ],
)
def test_a_key_with_effect_is_taken(change: dict[str, Any]):
    protocol = parse_protocol({**MINE, **change}, "mine.yaml")
    assert parse_protocol(protocol.model_dump(mode="json"), "stored") == protocol


def test_a_stored_protocol_is_read_with_keys_that_have_no_effect():
    plain = parse_protocol({**MINE, **TREES}, "mine.yaml").model_dump(mode="json")
    stored = {**plain, "learning_rates": [0.1, 0.2], "paper": table(of="NOPE")}
    assert parse_protocol(stored, "protocol.json").learning_rates == (0.1, 0.2)


def test_trees_are_trained_once_for_all_learning_rates():
    rows = {"rows": [*MINE["rows"], *TREES["rows"]]}
    protocol = parse_protocol({**MINE, **rows, "learning_rates": [0.1, 0.2]}, "mine.yaml")
    assert [protocol.rates_of(row) for row in protocol.rows] == [(0.1, 0.2), (0.1,)]


def test_null_takes_the_default_of_a_key_that_is_extended(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    rows = "rows: [{name: BDL, objective: bdl-hard, seeds: [1]}]\ndifferences: []\npaper: null\n"
    file.write_text(f"extends: sleep-nested\n{rows}")
    with pytest.raises(ConfigError, match=r"seeds: no effect.*null, if the protocol that is ext"):
        catalogue.load(file)
    file.write_text(f"extends: sleep-nested\n{rows}seeds: null\n")
    assert catalogue.load(file).seeds == Protocol.model_fields["seeds"].default


def test_a_yaml_file_of_ones_own_is_taken(tmp_path: Path, nested: Protocol):
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(nested.model_dump(mode="json")))
    assert catalogue.load(file) == nested
    file.write_text("extends: sleep-nested\nseeds: [4]\n")
    assert catalogue.load(file).seeds == (4,)


@pytest.mark.parametrize("text", ["- 1\n", "a: [\n", "extends: nothing\nname: x\n"])
def test_a_file_that_is_no_protocol_is_refused(tmp_path: Path, text: str):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"mine\.yaml"):
        catalogue.load(file)


def test_yaml_cannot_run_code(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text("name: !!python/object/apply:os.system ['true']\n")
    with pytest.raises(ConfigError, match="not YAML"):
        catalogue.load(file)
