"""Every preset, really run at the tiny scale on simulated data, or real where there are some."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdl.study import catalogue
from bdl.study.cell_values import cell_value
from bdl.study.runner import run_study
from bdl.study.scale import scale_of, shrink
from bdl.study.table_formats import layouts
from bdl.study.workers import Workers

ONE_THREAD = Workers(threads=1)

SHARED = Path(__file__).parents[2] / "../shared/data"


@pytest.mark.slow
@pytest.mark.parametrize("name", catalogue.names())
def test_a_preset_runs_and_fills_its_tables(name: str, tmp_path: Path):
    data = None
    if name.startswith(("hapt", "mitdb")):
        data = SHARED / name.partition("-")[0]
        if not data.exists():
            pytest.skip(f"the recordings of {name} are not here")
    protocol = catalogue.load(name)
    scale = scale_of(protocol, "tiny")
    protocol = shrink(protocol, scale)
    results = run_study(protocol, tmp_path, data=data, scale=scale, workers=ONE_THREAD)
    assert not results.failed
    text = (tmp_path / "tables.md").read_text()
    assert text.startswith("Simulated data: ") == (data is None)
    for note in protocol.paper.notes:
        assert text.count(note) == len(layouts(protocol))
    for table in layouts(protocol):
        for line in table.lines:
            for cell in filter(None, line.cells):
                if cell.seed not in (None, *protocol.seeds) or (cell.fold or 0) >= 2:
                    continue
                if cell.over is not None:
                    continue  # a ratio to a score of zero is undefined
                value = cell_value(results, cell).value
                assert value is not None, (table.label, line.name, cell)
