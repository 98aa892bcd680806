"""The commands on data sets, run as a user runs them."""

from __future__ import annotations

import pytest

from bdl.errors import BdlError
from calling import call, call_json

AUDIT = ("audit", "--data", ".", "--dataset")


def test_stride_reproduces_the_papers_table():
    rows = call_json("stride", "--period", 5, "--stride", 10, "--tolerance", 60,
                     "--spacing", 86400)["rows"]  # fmt: skip
    rows += call_json("stride", "--period", 1 / 256, "--stride", 512, "--stride", 256,
                      "--tolerance", 1, "--spacing", 883_728 / 256)["rows"]  # fmt: skip
    figures = [
        (row["stride"], f"{row['expected']:.2e}", f"{row['collision_approximation']:.2e}")
        for row in rows
    ]
    assert figures == [
        (10, "5.79e-04", "1.67e-07"),
        (512, "5.79e-04", "1.68e-07"),
        (256, "2.90e-04", "4.20e-08"),
    ]
    assert [row["conservative"] for row in rows] == [True, False, True]


def test_stride_combines_what_is_repeated():
    table = call_json("stride", "--period", 5, "--stride", 10, "--stride", 20, "--tolerance", 60,
                     "--tolerance", 300, "--spacing", 86400, "--spacing", 3600)  # fmt: skip
    assert len(table["rows"]) == 8
    shown = call("stride", "--period", 5, "--stride", 10, "--tolerance", 60, "--spacing", 86400)
    assert "5.79e-04" in shown
    assert "1,728" in shown


def test_simulate_then_audit(tmp_path):
    call("simulate", "sleep", "--out", tmp_path, "--recordings", 2, "--days", 4, "--seed", 3)
    audited = call_json("audit", "--dataset", "sleep", "--data", tmp_path)
    assert audited["stride"] == 10
    assert audited["kernel"] == {"kind": "gaussian", "sigma": 250.0}
    for row in audited["types"]:
        assert row["mass"] == pytest.approx(row["placed"])
        assert row["largest_bin"] < 0.09
    assert any(note.startswith("licence") for note in audited["notes"])
    hard = ("audit", "--dataset", "sleep", "--data", tmp_path, "--kernel", "hard")
    shown = call(*hard, "--window", 86400)
    assert "largest bin" in shown
    with pytest.raises(BdlError, match="--sigma: Hard: sigma"):
        call(*hard, "--sigma", 60)
    wide = call_json("audit", "--dataset", "sleep", "--data", tmp_path, "--sigma", 500)
    assert wide["kernel"] == {"kind": "gaussian", "sigma": 500.0}


def test_pickles_need_trust(tmp_path):
    call("simulate", "bowshock", "--out", tmp_path, "--recordings", 1)
    with pytest.raises(BdlError, match="--option trust=yes"):
        call("audit", "--dataset", "bowshock", "--data", tmp_path)
    words = ("audit", "--dataset", "bowshock", "--data", tmp_path, "--option", "trust=yes")
    assert "crossing" in call(*words)


def test_list_shows_what_each_data_set_needs_and_its_options():
    rows = {row["name"]: row for row in call_json("data", "list")["datasets"]}
    assert {"sleep", "chbmit", "bowshock", "fraud", "hapt", "mitdb"} <= rows.keys()
    assert rows["hapt"]["options"]["task"].startswith("``walking``")
    assert rows["sleep"]["simulated"]
    assert not rows["hapt"]["downloaded"]
    shown = call("data", "list")
    assert "[bold]" not in shown
    assert "--option source=" in shown
    assert "bdl data fetch mitdb" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("simulate", "sleeep", "--out", "x"), "data set .sleeep. .* is not known; .* sleep"),
        (("simulate", "hapt", "--out", "x"), "hapt data cannot be simulated"),
        (
            ("simulate", "sleep", "--out", "x", "--option", "source=kaggle"),
            "its options are regular",
        ),
        (("audit", "--data", "/no/such", "--dataset", "sleep"), "no such file or folder"),
        ((*AUDIT, "hapt", "--option", "task=running"), "'walking' or 'trans"),
        ((*AUDIT, "sleep", "--option", "task=beats"), "no option 'task'"),
        ((*AUDIT, "sleep", "--option", "task"), "key=value expected"),
        (("data", "fetch", "hapt", "--out", "x"), "hapt data cannot be downloaded"),
    ],
)
def test_errors_are_messages(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BdlError, match=message):
        call(*words)
