"""The demonstration runs, resumes after an interruption, and gives the same bytes for a seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdl.demo import DemoResult, DemoSettings, run
from bdl.errors import ConfigError
from bdl.training import Training

TINY = DemoSettings(
    recordings=6, days=3.0, window=1.0, training=Training(updates=4, batch=4, learning_rate=1e-2)
)


def _tables(result: DemoResult) -> dict[str, bytes]:
    folder = result.page.parent
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.csv"))}


@pytest.mark.slow
def test_demo_is_whole_and_deterministic(tmp_path: Path) -> None:
    said: list[str] = []
    first = run(tmp_path / "a", TINY, announce=said.append)
    assert [system.name for system in first.content.systems] == [
        "Default",
        "Segmentation",
    ]
    assert any("training Segmentation" in line for line in said)
    assert "mAP" in first.page.read_text("utf-8")
    assert len(_tables(first)) == 2

    def stop(text: str) -> None:
        if "training Segmentation" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "b", TINY, announce=stop)
    again = run(tmp_path / "b", TINY)
    assert _tables(again) == _tables(first)


def test_demo_refuses_a_folder_with_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("do not mix")
    with pytest.raises(ConfigError, match="contains no demonstration"):
        run(tmp_path, TINY)


def test_demo_refuses_other_settings(tmp_path: Path) -> None:
    (tmp_path / "demo.json").write_text("{}")
    with pytest.raises(ConfigError, match="other settings"):
        run(tmp_path, TINY)
