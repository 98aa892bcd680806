"""The first tour runs, goes on after an interruption, and gives the same bytes for a seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdl.demo import Result, Tour, run
from bdl.errors import ConfigError

TINY = Tour(recordings=6, days=3.0, window=1.0, epochs=2, batch=4)


def _tables(result: Result) -> dict[str, bytes]:
    folder = result.page.parent
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.csv"))}


@pytest.mark.slow
def test_tour_is_whole_and_deterministic(tmp_path: Path) -> None:
    told: list[str] = []
    first = run(tmp_path / "a", TINY, say=told.append)
    assert [system.name for system in first.content.systems] == [
        "BDL-Hard",
        "BDL-Hard, expected AP",
        "Segmentation",
    ]
    assert any("training Segmentation" in line for line in told)
    assert "mAP" in first.page.read_text("utf-8")
    assert len(_tables(first)) == 3

    def stop(text: str) -> None:
        if "training Segmentation" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "b", TINY, say=stop)
    again = run(tmp_path / "b", TINY)
    assert _tables(again) == _tables(first)


def test_tour_refuses_a_folder_with_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("do not mix")
    with pytest.raises(ConfigError, match="holds no tour"):
        run(tmp_path, TINY)


def test_tour_refuses_other_settings(tmp_path: Path) -> None:
    (tmp_path / "tour.json").write_text("{}")
    with pytest.raises(ConfigError, match="other settings"):
        run(tmp_path, TINY)
