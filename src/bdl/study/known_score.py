"""The cross-validated score of a detector on the user's own data, from a finished evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bdl.datasets.tables import Tables
from bdl.detector.cross_validation import CrossValidated, CrossValidation
from bdl.detector.presets import PresetName
from bdl.errors import StudyError
from bdl.formats.data_files import DataFiles
from bdl.runs.file_stamps import file_stamps
from bdl.study.fingerprint import DataFingerprint
from bdl.study.own_data import reported, without_seed
from bdl.study.protocol import Row
from bdl.study.stages import OPERATING_POINT
from bdl.study.study_reader import StudyReader


def known_score(
    run: str | Path,
    data: Tables,
    folder: Path,
    *,
    preset: PresetName,
    detector: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> CrossValidation:
    """The cross-validated score of a detector from the run directory of its evaluation.

    Parameters
    ----------
    run
        The run directory.
    data, folder
        The data, and the folder that their paths are relative to.
    preset, detector, settings
        As in `bdl.study.own_data.project_protocol`. The seed may differ.

    Raises
    ------
    StudyError
        If there is no finished evaluation, or it is one of other data or settings.
    """
    study = StudyReader(run)
    protocol, results = study.protocol, study.results
    row = protocol.rows[0]
    if row.preset is None or not isinstance(protocol.data, Tables):
        raise StudyError(f"{run}: a study of another kind")
    if dict(detector.get("training", {})).get("budget") is not None:
        raise StudyError(f"{run}: an evaluation with other settings, without a budget")
    expected = Row.of_preset(row.name, preset, without_seed(detector)[0])
    if _without_seed(row) != _without_seed(expected) or protocol.settings != dict(settings):
        raise StudyError(f"{run}: an evaluation with other settings")
    _check_data(study, protocol.data, data, folder)
    scores: dict[str, CrossValidated] = {}
    chosen: dict[str, CrossValidated] = {}
    names = {(score.metric.name, score.stage) for score in reported(protocol.data.tolerances)}
    for record in results.estimates:
        if record.row == row.name and (record.metric, record.stage) in names:
            group = chosen if record.stage == OPERATING_POINT else scores
            group[record.metric] = CrossValidated(**record.estimate.plain())
    groups = study.benchmark(folder).recordings.groups
    tested = study.outputs.test
    return CrossValidation(
        folds=len(study.get_json("split.json")["parts"]),
        groups=len({groups[id] for id in tested}),
        recordings=len(tested),
        scores=scores,
        chosen=chosen,
    )


def _without_seed(row: Row) -> dict[str, Any]:
    """What a row trains, without the seed and the number of processes, as plain data."""
    plain = row.model_dump(mode="json")
    training = dict(plain["detector"].get("training", {}))
    plain["detector"]["training"] = {
        key: value for key, value in training.items() if key not in ("seed", "workers")
    }
    return plain


def _check_data(study: StudyReader, evaluated: Tables, data: Tables, folder: Path) -> None:
    """Raise an error if files, or how they are read, are not those of the evaluation."""
    for name in DataFiles.model_fields:
        if getattr(evaluated, name) != getattr(data, name):
            raise StudyError(f"{study.url}: an evaluation of other data ({name} differs)")
    if study.get_json("files.json") == file_stamps(data.files(folder), folder):
        return
    then, now = study.get_json("data.json"), DataFingerprint.of(study.benchmark(folder))
    if changes := now.changes(DataFingerprint(**then)):
        raise StudyError(f"{study.url}: an evaluation of other data ({'; '.join(changes)} changed)")
