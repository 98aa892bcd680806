"""Formats that live outside the package, in Python and on the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from bdl.cli.generated_options import Fields
from bdl.cli.options import takes
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats import read_events, read_recordings, write_events
from bdl.formats.event_files import convert_events
from bdl.formats.events import EventFormat
from bdl.formats.recordings import RecordingFormat
from bdl.recording import Recording, Recordings


class ToyRecordings(RecordingFormat):
    """Numbers separated by spaces.

    Parameters
    ----------
    rate
        Samples per second.
    """

    kind: Literal["toy"] = "toy"
    suffixes: ClassVar[tuple[str, ...]] = (".toy",)
    rate: float = 1.0

    def read(self, path: Path) -> Recordings:
        values = np.array(path.read_text().split(), np.float32)
        recording = Recording.of(values, id=path.stem, period=1 / self.rate)
        return Recordings.of([recording], files=[path])


class ToyEvents(EventFormat):
    """Lines of recording, type and seconds."""

    kind: Literal["toy"] = "toy"
    suffixes: ClassVar[tuple[str, ...]] = (".toyevents",)
    scale: float = 1.0

    def read(self, path: Path) -> Events:
        rows = [line.split() for line in path.read_text().splitlines()]
        recordings, types, times = zip(*rows, strict=True)
        return Events.of(recordings, types, [float(time) * self.scale for time in times])

    def write(self, events: Events, path: Path, recordings: Recordings | None = None) -> None:
        rows = zip(events.recording, events.event, events.time / self.scale, strict=True)
        path.write_text("\n".join(f"{id} {kind} {time}" for id, kind, time in rows))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "walk.toy").write_text("1 2 3 4")
    (tmp_path / "walk.toyevents").write_text("walk beep 1.5")
    return tmp_path


def test_recordings_are_recognised_and_take_their_options(folder: Path) -> None:
    for recordings in (
        read_recordings(folder / "walk.toy", rate=2.0),
        read_recordings(folder, rate=2.0),
        read_recordings(folder / "walk.toy", format="toy", rate=2.0),
        read_recordings(folder, format=ToyRecordings(rate=2.0)),
    ):
        assert recordings.infos[0].period == 0.5
        assert recordings["walk"].values.ravel().tolist() == [1, 2, 3, 4]
        assert recordings.files("walk") == (folder / "walk.toy",)
    with pytest.raises(ConfigError, match=r"unknown option period .*format toy has rate"):
        read_recordings(folder / "walk.toy", period=1.0)
    with pytest.raises(ConfigError, match=r"recording format 'doc' is not known; .*csv, .*toy"):
        read_recordings(folder, format="doc")


def test_a_named_format_reads_any_suffix(folder: Path) -> None:
    (folder / "walk.txt").write_text("x,y\n1,2\n")
    recordings = read_recordings(folder / "walk.txt", format="csv", period=1.0)
    assert recordings["walk"].values.tolist() == [[1, 2]]
    with pytest.raises(InputError, match=r"files of one format expected, got \.txt"):
        read_recordings(folder / "walk.txt", period=1.0)


def test_events_are_recognised_read_and_written(folder: Path) -> None:
    file = folder / "walk.toyevents"
    assert read_events(file, scale=2.0).time.tolist() == [3.0]
    assert read_events(file, format="toy").time.tolist() == [1.5]
    assert read_events(file, defaults={"period": 5.0}).time.tolist() == [1.5]
    write_events(read_events(file), folder / "again.toyevents", format="toy", scale=2.0)
    assert (folder / "again.toyevents").read_text() == "walk beep 0.75"
    with pytest.raises(ConfigError, match=r"unknown option period .*format toy has scale"):
        read_events(file, period=5.0)


def test_options_of_a_conversion_belong_to_one_of_its_formats(folder: Path) -> None:
    file = folder / "walk.toyevents"
    convert_events(file, folder / "k.csv", target_format="kaggle", scale=2.0, period=0.5)
    assert read_events(folder / "k.csv", period=0.5).time.tolist() == [3.0]
    with pytest.raises(ConfigError, match=r"unknown option labels .*toy has scale; .*bdl has"):
        convert_events(file, folder / "b.csv", labels="symbol")


def test_options_of_the_command_line_include_those_of_all_formats(folder: Path) -> None:
    received: list[dict[str, Any]] = []
    app = typer.Typer(rich_markup_mode="markdown")  # as in bdl.cli

    @app.command()
    @takes(options=Fields(RecordingFormat))
    def show(*, options: dict[str, Any]) -> None:
        received.append(options)

    result = CliRunner().invoke(app, ["--rate", "2", "--channel", "x"])
    assert result.exit_code == 0, result.output
    assert received == [{"rate": 2.0, "channels": ["x"]}]
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    assert "Samples per second. (Only toy.) [default: 1.0]" in shown


def test_an_entry_point_brings_a_format_to_the_command_line(folder: Path) -> None:
    """A package with an entry point, as somebody else would write it."""
    (folder / "toys.py").write_text(
        "import numpy as np\n"
        "from bdl.formats.recordings import RecordingFormat\n"
        "from bdl.recording import Recording, Recordings\n"
        "class Bells(RecordingFormat):\n"
        "    '''Bells.'''\n"
        "    kind: str = 'bells'\n"
        "    suffixes = ('.bells',)\n"
        "    rate: float = 1.0\n"
        "    def read(self, path):\n"
        "        values = np.array(path.read_text().split(), np.float32)\n"
        "        one = Recording.of(values, id=path.stem, period=1 / self.rate)\n"
        "        return Recordings.of([one])\n"
    )
    about = folder / "toys-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[bdl.formats.recordings]\nbells = toys:Bells\n")
    (folder / "a.bells").write_text("1 2 3 4 5 6 7 8")
    script = f"import sys; sys.path.insert(0, {str(folder)!r}); from bdl.cli import main; main()"
    for words in ([], ["--format", "bells"]):
        command = [sys.executable, "-c", script, "inspect", str(folder / "a.bells"), "--rate", "4"]
        done = subprocess.run(command + words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "every 0.25 s (4 Hz) x 1" in done.stdout
