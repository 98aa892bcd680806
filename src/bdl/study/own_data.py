"""The nested cross-validation of a detector on the user's own data, as a protocol.

Folds are whole groups. In each, the detector is trained on the other folds and makes all choices
there; rows that it is compared with differ from it in one setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bdl.datasets import Benchmark
from bdl.datasets.tables import Tables
from bdl.decoding import Decoder
from bdl.detector.presets import PRESETS, PresetName
from bdl.errors import ConfigError
from bdl.evaluation.metrics import (
    F1,
    AveragePrecision,
    FalseAlarmRate,
    Metric,
    Precision,
    Sensitivity,
)
from bdl.objectives import Objective
from bdl.study.data_source import DataSource
from bdl.study.protocol import BootstrapSettings, Protocol, Row
from bdl.study.splits import Folds
from bdl.study.stages import OPERATING_POINT, TUNED


def project_protocol(
    data: Tables,
    folder: Path,
    *,
    preset: PresetName = "fast",
    detector: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    folds: int = 5,
    seed: int | None = None,
    baselines: Sequence[str] = (),
    replicates: int = 1000,
) -> tuple[Protocol, Benchmark]:
    """The protocol that scores a detector on the user's own data, and the data as they were read.

    Parameters
    ----------
    data
        The data; its tolerances are those of the detector, or proposed if there are none.
    folder
        Folder that the paths of the data are relative to.
    preset, detector
        Preset of the detector, and the fields of its settings that differ from it.
    settings
        Settings of the data that are changed, such as ``event_free``.
    folds
        Number of folds of groups.
    seed
        Seed of the folds and of the models; by default ``training.seed`` of the detector, or 0.
    baselines
        Rows to compare with: names of objectives and decoders, which differ from the detector in
        that setting, and other presets, with its tolerances, window and bins. ``segmentation``
        learns states instead of event times; for point events it classifies bins. ``paper`` is
        the published recipe.
    replicates
        Bootstrap replicates of the confidence intervals, which draw groups.
    """
    changes = dict(detector or {})
    tolerances = tuple(changes.get("tolerances", ())) or data.tolerances
    source = DataSource(
        dataset=data.replace(tolerances=tolerances),
        path=str(folder.resolve()),
        settings=dict(settings or {}),
    )
    benchmark = source.load()
    groups = sorted({*benchmark.recordings.groups.values()})
    if len(groups) < 2:
        raise ConfigError(
            f"all {len(benchmark.recordings)} recordings are of one group, {groups[0]!r}: a "
            "cross-validation needs two or more; is the group pattern right (layout.group_pattern, "
            "--group-pattern of bdl new)?"
        )
    tolerances = benchmark.settings.tolerances
    changes, configured = without_seed(changes)
    rows = [Row.of_preset(preset, preset, changes)]
    if None not in (seed, configured) and seed != configured:
        raise ConfigError(
            f"the seed {seed} (--seed) contradicts the seed {configured} of the detector "
            "(training.seed of bdl.yaml); give one of them"
        )
    chosen = seed if seed is not None else configured or 0
    for name in dict.fromkeys(baselines):
        rows.append(_baseline(name, preset, changes, benchmark))
    protocol = Protocol(
        name="evaluation",
        title="Cross-validation on own data",
        data=data.replace(tolerances=tolerances),
        settings=source.settings,
        split=Folds(by="group", folds=folds, seed=chosen),
        rows=tuple(rows),
        seeds=(chosen,),
        metrics=tuple(score.metric for score in reported(tolerances)),
        differences=tuple((preset, row.name) for row in rows[1:]),
        bootstrap=BootstrapSettings(by="group", replicates=replicates),
    )
    return protocol, benchmark


def without_seed(detector: Mapping[str, Any]) -> tuple[dict[str, Any], int | None]:
    """Settings of a detector without the seed of its training, which a study sets; and the seed.

    Examples
    --------
    >>> without_seed({"window": 9.0, "training": {"updates": 5, "seed": 1}})
    ({'window': 9.0, 'training': {'updates': 5}}, 1)
    """
    training = detector.get("training")
    if not isinstance(training, Mapping):
        return dict(detector), None
    others = {name: value for name, value in training.items() if name != "seed"}
    return {**detector, "training": others}, training.get("seed")


class ReportedScore(NamedTuple):
    """A score of an evaluation: what is measured of which detections, and how it is shown."""

    metric: Metric
    stage: str
    words: str
    digits: int = 3


def reported(tolerances: Sequence[float]) -> list[ReportedScore]:
    """The scores of an evaluation, those of the ranking first.

    Rates at the operating point, whose threshold was chosen outside the test part of each fold, are
    those within the largest tolerance. The best F1 is reported there too, for comparison: its
    threshold is chosen on the test parts themselves, so that it is optimistic.

    Examples
    --------
    >>> [score.words for score in reported((60.0, 300.0))][:3]
    ['mAP', 'AP within 60 s', 'AP within 300 s']
    """
    widest = max(tolerances)
    scores = [ReportedScore(AveragePrecision(), TUNED, "mAP")]
    for tolerance in tolerances:
        words = f"AP within {tolerance:g} s"
        scores.append(ReportedScore(AveragePrecision(tolerance=tolerance), TUNED, words))
    scores.append(ReportedScore(F1(), TUNED, "best F1"))
    if len(tolerances) > 1:
        scores.append(ReportedScore(F1(tolerance=widest), TUNED, f"best F1 within {widest:g} s"))
    at: dict[str, Any] = {"tolerance": widest, "threshold": 0.0}
    return [
        *scores,
        ReportedScore(F1(**at), OPERATING_POINT, "F1"),
        ReportedScore(Sensitivity(**at), OPERATING_POINT, "sensitivity"),
        ReportedScore(Precision(**at), OPERATING_POINT, "precision"),
        ReportedScore(FalseAlarmRate(**at), OPERATING_POINT, "false alarms per day", digits=1),
    ]


def _baseline(name: str, preset: str, changes: Mapping[str, Any], benchmark: Benchmark) -> Row:
    if name in PRESETS and name != preset:
        shared = {key: changes[key] for key in ("tolerances", "window") if key in changes}
        features = changes.get("features", {})
        binning = {key: features[key] for key in ("stride", "calendar") if key in features}
        return Row.of_preset(name, name, {**shared, "features": binning})
    if name in Objective.names():
        objective = name
        if name == "segmentation":
            objective = "seg-ce" if benchmark.intervals else "classifier"
        Objective.parse(objective).outputs(benchmark.settings.types, benchmark.intervals)
        return Row.of_preset(name, preset, {**changes, "objective": objective})
    if name in Decoder.names():
        decoder: Any = name
        if name == "peaks":
            separation = max(benchmark.settings.tolerances)
            decoder = {"kind": "peaks", "clock": "bins", "separation": separation}
        return Row.of_preset(name, preset, {**changes, "decoder": decoder})
    presets = ", ".join(other for other in PRESETS if other != preset)
    raise ConfigError(
        f"--baseline {name}: another preset ({presets}), an objective "
        f"({', '.join(Objective.names())}) or a decoder ({', '.join(Decoder.names())}) expected"
    )
