"""Agreement of annotators, and where they differ."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bdl import Events, score, write_events
from bdl.errors import ConfigError, InputError
from bdl.review import agreement, disagreements
from bdl.review.agreement import Agreement
from calling import call


def f1(result: Agreement, first: str, second: str, event: str = "all") -> dict[float, float]:
    """F1 of two tables by tolerance; the order of names in a row is that of the tables."""
    return {
        row["tolerance"]: row["F1"]
        for row in result.rows
        if {row["first"], row["second"]} == {first, second} and row["event"] == event
    }


def test_events_exactly_the_tolerance_apart_do_not_agree_as_in_scoring() -> None:
    """Also where the times are decimal fractions, whose differences are rounded."""
    times = np.arange(50) * 10 + np.arange(50) / 10
    first, second = Events.of("a", "x", times), Events.of("a", "x", times + 0.3)
    assert score(first, second, [0.3]).mean_f1 == 0.0
    for tables in ({"A": first, "B": second}, {"A": second, "B": first}):
        assert f1(agreement(tables, [0.3, 0.31]), "A", "B") == {0.3: 0.0, 0.31: 1.0}
    assert len(disagreements(first, second, tolerance=0.3)) == 50
    assert len(disagreements(first, second, tolerance=0.31)) == 0


def test_f1_and_differences_of_three_annotators() -> None:
    tables = {
        "A": Events.of("a", ["on", "off"] * 2, [10.0, 20.0, 30.0, 40.0]),
        "B": Events.of("a", ["on", "off"] * 2, [11.0, 21.0, 31.0, 49.0]),
        "C": Events.of(["a", "b"], "on", [10.0, 5.0]),
    }
    result = agreement(tables, [2.0, 10.0])
    assert f1(result, "A", "B") == {2.0: 0.75, 10.0: 1.0}
    assert f1(result, "A", "B", "on") == {2.0: 1.0, 10.0: 1.0}
    assert f1(result, "A", "C", "on")[2.0] == pytest.approx(2 / 3)
    [row] = [r for r in result.rows if (r["first"], r["second"]) == ("A", "B")
             and r["event"] == "all" and r["tolerance"] == 2.0]  # fmt: skip
    assert (row["bias"], row["median"], row["pairs"]) == (1.0, 1.0, 3)
    assert "F1" in result.to_polars().columns
    # Recordings that one of them does not name are left out.
    assert next(r for r in result.rows if r["second"] == "C")["events of second"] == 1


def test_disagreements_are_a_queue() -> None:
    first = Events.of("a", "x", [10.0, 20.0, 100.0])
    second = Events.of(["a", "a", "a", "z"], "x", [10.5, 23.0, 200.0, 7.0])
    queue = disagreements(first, second, tolerance=1.0)
    assert [(i.kind, i.label, i.model) for i in queue] == [
        ("displaced", 20.0, 23.0), ("unsupported", 100.0, None), ("unlabelled", None, 200.0),
    ]  # fmt: skip


def test_tables_without_a_common_recording_are_refused() -> None:
    first, other = Events.of("a", "x", [1.0]), Events.of("b", "x", [1.0])
    with pytest.raises(InputError, match="no recording is named in both"):
        agreement({"A": first, "B": other}, [1.0])
    with pytest.raises(ConfigError, match="reach"):
        disagreements(first, first, tolerance=1.0, reach=np.inf)
    with pytest.raises(ConfigError, match="two or more"):
        agreement({"A": first}, [1.0])


def test_names_in_brackets_are_shown_as_they_are(tmp_path: Path) -> None:
    for name, times in (("ann", [10.0, 20.0]), ("bob", [10.0])):
        write_events(Events.of("[/red]", "[bold]x", times), tmp_path / f"{name}.csv")
    words = ("--events", tmp_path / "ann.csv", "--events", tmp_path / "bob.csv")
    output = call("review", *words, "--tolerance", 1)
    assert "[/red]" in output
    assert "[bold]x" in output
    assert "bob" in output.splitlines()[-1]


def test_the_command_compares_annotators(tmp_path: Path) -> None:
    write_events(Events.of("a", "x", [10.0, 20.0]), tmp_path / "ann.csv")
    write_events(Events.of("a", "x", [10.5, 22.0]), tmp_path / "bob.csv")
    words = ("review", "--events", tmp_path / "ann.csv", "--events", tmp_path / "bob.csv",
             "--tolerance", 1, "--tolerance", 5)  # fmt: skip
    output = json.loads(call(*words, "--json"))
    assert output["displaced"] == 1
    scores = {row["tolerance"]: row["F1"] for row in output["agreement"] if row["event"] == "all"}
    assert scores == {1.0: 0.5, 5.0: 1.0}
    assert "bob" in call(*words)
