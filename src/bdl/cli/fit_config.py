"""The configuration file of ``bdl fit``.

It is YAML (or JSON) with the keys of `FitConfig`; paths in it are relative to the file. Its key
``detector`` has the fields of `bdl.detector.DetectorSettings`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from bdl.config import read_yaml, validate
from bdl.datasets.tables import Tables
from bdl.detector.presets import PresetName
from bdl.errors import ConfigError
from bdl.evaluation.matching import EventFree
from bdl.formats.data_files import DataFiles

Plain = dict[str, Any]
CONFIG = "bdl.yaml"  # in the folder of a project


class FitConfig(DataFiles):
    """A configuration of ``bdl fit``: data, what to learn, and how."""

    detector: Plain = Field(default_factory=dict)  # fields of `bdl.detector.DetectorSettings`
    preset: PresetName = "fast"  # what ``detector`` changes
    event_free: EventFree = "ignore"  # whether held-out recordings without events count

    def tables(self) -> Tables:
        """Return the data as a data set."""
        files = {name: getattr(self, name) for name in DataFiles.model_fields}
        return Tables(**files, tolerances=self.detector.get("tolerances", ()))


def read_config(path: Path) -> FitConfig:
    """Read a configuration file; every problem is named with its key."""
    return written_config(path).below(path.parent)


def written_config(path: Path) -> FitConfig:
    """Read a configuration file, with its paths as they are written there."""
    try:
        plain = read_yaml(path)
    except ConfigError as error:
        raise ConfigError(f"{error}; the {CONFIG} of a project expected (`bdl new`)") from error
    config: FitConfig = validate(FitConfig, plain, str(path))
    return config


def find_config(project: Path) -> Path:
    """Return the configuration file of a project: its folder, or the file itself."""
    path = project / CONFIG if project.is_dir() else project
    if not path.is_file():
        raise ConfigError(
            f"{project}: no project: {path.name} is missing; `bdl new {project} --recordings … "
            "--events …` makes one"
        )
    return path
