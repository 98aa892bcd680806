"""Every preset, really run at the tiny scale on simulated data, or real where there are some."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdl.study import catalogue
from bdl.study.cell_values import cell_value
from bdl.study.runner import run_study
from bdl.study.scale import scale_of, shrink
from bdl.study.table_formats import layouts
from bdl.workers import Workers

ONE_THREAD = Workers(threads=1)

SHARED = (Path(__file__).parents[2] / "../shared/data").resolve()


def some_recordings(source: Path, folder: Path) -> Path:
    """A folder with the first real recordings of a data set: enough to split."""
    if not source.exists():
        pytest.skip(f"the recordings of {source.name} are not here")
    folder.mkdir()
    if source.name == "mitdb":
        for file in sorted(source.iterdir())[: 3 * 6]:  # three files per record
            (folder / file.name).symlink_to(file)
        return folder
    (folder / "recordings").mkdir()
    for file in sorted((source / "recordings").iterdir())[:12]:
        (folder / "recordings" / file.name).symlink_to(file)
    ids = tuple(file.stem for file in (folder / "recordings").iterdir())
    rows = (source / "segments.csv").read_text().splitlines()
    kept = [row for row in rows[1:] if row.startswith(ids)]
    (folder / "segments.csv").write_text("\n".join([rows[0], *kept]) + "\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", catalogue.names())
def test_a_preset_runs_and_fills_its_tables(name: str, tmp_path: Path):
    data = None
    if name.startswith(("hapt", "mitdb")):
        data = some_recordings(SHARED / name.partition("-")[0], tmp_path / "data")
    protocol = catalogue.load(name)
    scale = scale_of(protocol, "tiny")
    protocol = shrink(protocol, scale)
    out = tmp_path / "run"
    results = run_study(protocol, out, data=data, scale=scale, workers=ONE_THREAD)
    assert not results.failed
    text = (out / "tables.md").read_text()
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
