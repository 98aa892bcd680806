"""The nested cross-validation of a detector on the user's own data, as a protocol.

Folds are whole groups. In each, the detector is trained on the other folds and makes all choices
there; rows that it is compared with differ from it in one setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bdl.datasets import Benchmark
from bdl.datasets.tables import Tables
from bdl.decoding import Decoder
from bdl.detector.presets import PRESETS, PresetName
from bdl.errors import ConfigError
from bdl.evaluation.metrics.metric import number
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
        metrics=tuple(metric for metric, _, _ in reported(tolerances)),
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


def reported(tolerances: Sequence[float]) -> list[tuple[str, str, str]]:
    """Name, stage and description of each score of an evaluation.

    Rates at the operating point, whose threshold was chosen outside the test part of each fold, are
    those within the largest tolerance. The best F1 is reported there too, for comparison: its
    threshold is chosen on the test parts themselves, so that it is optimistic.

    Examples
    --------
    >>> [words for _, _, words in reported((60.0, 300.0))][:3]
    ['mAP', 'AP within 60 s', 'AP within 300 s']
    """
    widest = number(max(tolerances))
    ranked = [("mAP", "mAP"), *((f"AP@{number(t)}", f"AP within {t:g} s") for t in tolerances)]
    ranked.append(("mF1", "best F1"))
    if len(tolerances) > 1:
        ranked.append((f"F1@{widest}", f"best F1 within {max(tolerances):g} s"))
    chosen = {"F1": "F1", "sensitivity": "sensitivity", "precision": "precision"}
    chosen["false_alarms_per_day"] = "false alarms per day"
    return [
        *((metric, TUNED, words) for metric, words in ranked),
        *((f"{metric}@{widest}>=0", OPERATING_POINT, words) for metric, words in chosen.items()),
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
