"""The family of data sets: names, options, and what each variant carries."""

from __future__ import annotations

import pytest

from bdl import datasets
from bdl.config import Value
from bdl.datasets import CHBMIT, HAPT, BowShock, Dataset, Fraud, Sleep
from bdl.decoding import PeakGrid, TransitionGrid
from bdl.errors import ConfigError, InputError


class Holder(Value):
    data: Dataset = Sleep()


def test_a_field_takes_a_value_a_mapping_and_a_name():
    assert Holder(data="hapt").data == HAPT()
    assert Holder(data={"kind": "hapt", "task": "transitions"}).data == HAPT(task="transitions")
    held = Holder(data=CHBMIT(group="case"))
    assert Holder.model_validate_json(held.model_dump_json()) == held
    assert hash(held.data) == hash(CHBMIT(group="case"))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("sleeep", {}, "data set: kind: one of .*hapt.*sleep.* expected, got 'sleeep'"),
        ("hapt", {"tsk": "walking"}, "data set 'hapt' has no option 'tsk'; its options are task"),
        ("fraud", {"task": "x"}, "data set 'fraud' has no option 'task'; it has no options"),
        (
            "hapt",
            {"task": "running"},
            "HAPT: task: .*'walking' or 'transitions' expected, got 'running'",
        ),
        ("sleep", {"regular": "perhaps"}, "Sleep: regular: true or false expected"),
    ],
)
def test_wrong_names_and_options_are_errors_that_list_the_right_ones(name, options, message):
    with pytest.raises(ConfigError, match=message):
        datasets.load(name, "anywhere", **options)


def test_missing_folders_are_named(tmp_path):
    with pytest.raises(InputError, match="absent: no such file or folder; hapt data expected"):
        HAPT().load(tmp_path / "absent")


def test_a_published_form_can_be_required(tmp_path):
    CHBMIT(source="kaggle").simulate(tmp_path, recordings=1, days=60 / 86400)
    assert len(CHBMIT(source="kaggle").load(tmp_path).recordings) == 1
    with pytest.raises(InputError, match=r"chbNN-summary.txt .* expected; .* contains .*seizure_"):
        CHBMIT(source="physionet").load(tmp_path)


def test_only_data_that_can_run_code_needs_trust():
    assert BowShock().trusted() == BowShock(trust=True)
    assert Sleep().trusted() == Sleep()


def test_published_grids():
    assert Sleep.grids() == {
        "events": PeakGrid(
            thresholds=3, smooths=(0.0, 50.0), separation=1800.0, alternations=(False, True)
        ),
        "state": TransitionGrid(
            thresholds=3,
            windows=(600.0,),
            smooths=(0.0, 50.0),
            separation=1800.0,
            alternations=(False, True),
        ),
    }
    assert CHBMIT.grids()["events"].thresholds == 11
    assert CHBMIT.grids()["state"].windows == (10.0,)
    assert Fraud.grids() == {"events": PeakGrid(separation=1.0)}
    assert HAPT.grids() == {}
    assert "hapt" not in Dataset.kinds_with("grids")


def test_every_data_set_describes_itself():
    for kind, dataset in Dataset.kinds().items():
        if kind.startswith("doctest"):
            continue
        assert dataset.summary(), kind
        assert dataset.requires, kind
        assert {"small", "tiny"} <= dataset.scales.keys()
        for scale in dataset.scales.values():
            dataset(**scale.options)


def test_the_package_offers_its_classes():
    assert {"Benchmark", "CHBMIT", "Dataset", "Sleep", "load"} <= {*dir(datasets)}
    with pytest.raises(AttributeError):
        _ = datasets.Slep
