"""Reading a study from its run directory: protocol, results, detections, densities.

Nothing is run, chosen or written.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from bdl.datasets import Benchmark
from bdl.density import Density
from bdl.errors import StudyError
from bdl.events import Events
from bdl.runs.run_reader import RunReader
from bdl.runs.step_files import read_step_densities, read_step_detections
from bdl.study.data_source import DataSource
from bdl.study.protocol import Protocol, parse_protocol
from bdl.study.results import Results
from bdl.study.study_outputs import StudyOutputs

NONE = "no evaluation or study was started here"
UNFINISHED = "the study is not finished; `bdl study status` shows how far it is"


class StudyReader(RunReader):
    """A study in its run directory, to be read; see `RunReader`.

    Examples
    --------
    >>> import tempfile
    >>> StudyReader(tempfile.mkdtemp()).protocol
    Traceback (most recent call last):
    bdl.errors.StudyError: ... no evaluation or study was started here
    """

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol of the study."""
        content = self._required("protocol.json", NONE)
        return parse_protocol(content["protocol"], f"{self.url}/protocol.json")

    @cached_property
    def results(self) -> Results:
        """The results of the finished study."""
        return Results.from_dict(self._required("results.json", UNFINISHED))

    @cached_property
    def outputs(self) -> StudyOutputs:
        """Outputs of the finished study for its report."""
        return StudyOutputs(**self._required("outputs.json", UNFINISHED))

    def detections(self, row: str) -> Events:
        """Detections of a row in all test recordings, at its first seed."""
        outputs = self.outputs.rows[row]
        return read_step_detections(self, outputs.detections, outputs.stage)

    def densities(self, row: str) -> dict[str, Density]:
        """Densities of a row by test recording, at its first seed."""
        densities = read_step_densities(self, self.outputs.rows[row].densities)
        return {density.recording: density for density in densities}

    def benchmark(self, data: Path | None = None, *, trust: bool = False) -> Benchmark:
        """The data of the study; see `data_source`."""
        return self.data_source(data, trust=trust).load()

    def data_source(self, data: Path | None = None, *, trust: bool = False) -> DataSource:
        """The data source of the study.

        Parameters
        ----------
        data
            Folder of the data set, if it has moved since the study ran.
        trust
            Whether data that can run code when read (a pickle) may be opened; what the study
            simulated into its own directory is trusted.
        """
        folder = Path(data or self.outputs.data)
        is_inside = folder.resolve() == Path(self.root).resolve() / "data"
        return DataSource.of(self.protocol, folder, trust=trust or is_inside)

    def _required(self, name: str, problem: str) -> Any:
        content = self.get_json(name)
        if content is None:
            raise StudyError(f"{self.url}: {problem} ({name} is missing)")
        return content
