"""The plan of a study as its run directory holds it."""

from __future__ import annotations

from bdl.study.fingerprint import DataFingerprint
from bdl.study.row_models import RowModel
from bdl.study.splits import Fold
from bdl.study.study_plan import StudyPlan
from bdl.study.study_reader import StudyReader


def plan_of(study: StudyReader) -> StudyPlan | None:
    """The plan of a study; None if it has not got that far."""
    split, data, models = (study.get_json(f"{name}.json") for name in ("split", "data", "models"))
    if split is None or data is None or models is None:
        return None
    return StudyPlan(
        study.protocol,
        tuple(Fold(**fold) for fold in split["parts"]),
        DataFingerprint(**data),
        {row: RowModel(**model) for row, model in models.items()},
    )
