"""Reading a study from its run directory: protocol, results, detections, densities.

Nothing is run, chosen or written: everything is what the run has left.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from bdl.datasets import Benchmark
from bdl.density import Density
from bdl.errors import InputError, StudyError
from bdl.events import Events
from bdl.study.data_source import DataSource
from bdl.study.outputs import StudyOutputs
from bdl.study.protocol import Protocol, parse_protocol
from bdl.study.results import Results
from bdl.study.run_reader import RunReader
from bdl.study.step_files import read_step_densities, unpack_events


class StudyReader(RunReader):
    """A study in its run directory, to be read; see `RunReader`.

    Examples
    --------
    >>> import tempfile
    >>> StudyReader(tempfile.mkdtemp()).protocol
    Traceback (most recent call last):
    bdl.errors.StudyError: ... no study was started here
    """

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol of the study."""
        content = self.get_json("protocol.json")
        if content is None:
            raise StudyError(f"{self.url}: no study was started here")
        return parse_protocol(content["protocol"], f"{self.url}/protocol.json")

    @cached_property
    def results(self) -> Results:
        """The results of the finished study."""
        content = self.get_json("results.json")
        if content is None:
            raise StudyError(
                f"{self.url}: the study is not finished; `bdl study status` shows how far it is"
            )
        return Results.from_dict(content)

    @cached_property
    def outputs(self) -> StudyOutputs:
        """What the finished study left for its report."""
        content = self.get_json("outputs.json")
        if content is None:
            raise InputError(f"{self.url}: no finished study here: outputs.json is missing")
        return StudyOutputs(**content)

    @cached_property
    def figures(self) -> dict[str, Any]:
        """Data of the figures of the finished study; see `bdl.study.figure_data`."""
        content: dict[str, Any] | None = self.get_json("figures.json")
        if content is None:
            raise StudyError(f"{self.url}: no finished study here: figures.json is missing")
        return content

    def detections(self, row: str) -> Events:
        """Detections of a row in all test recordings, at its first seed."""
        outputs = self.outputs.rows[row]
        name = f"detections/{outputs.stage}.csv"
        return Events.concat(unpack_events(self.read(step, name)) for step in outputs.detections)

    def densities(self, row: str) -> dict[str, Density]:
        """Densities of a row by test recording, at its first seed."""
        steps = self.outputs.rows[row].densities
        densities = [density for step in steps for density in read_step_densities(self, step)]
        return {density.recording: density for density in densities}

    def benchmark(self, data: Path | None = None, *, trust: bool = False) -> Benchmark:
        """The data of the study.

        Parameters
        ----------
        data
            Folder of the data set, if it has moved since the study ran.
        trust
            Whether data that can run code when read (a pickle) may be opened; what the study
            simulated into its own directory is trusted.
        """
        folder = Path(data or self.outputs.data)
        own = folder.resolve() == Path(self.root).resolve() / "data"
        return DataSource.of(self.protocol, folder, trust=trust or own).load()
