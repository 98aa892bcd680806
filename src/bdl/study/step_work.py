"""The work of each kind of step, as it runs on a worker.

A worker reads the data for itself, looks at no label but those its step names, and leaves its
files whole or not at all. A training that diverges is a finding, recorded as ``failed``; anything
else that goes wrong is reported as text, so that the other steps go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bdl.datasets import Benchmark
from bdl.decoding import decode
from bdl.density import Density
from bdl.errors import BdlError, TrainingError
from bdl.events import Events
from bdl.study.decoders import best, choose, default_grid, grid_for
from bdl.study.run_directory import RunDirectory, StudyStep, timed
from bdl.study.run_reader import StepId
from bdl.study.step_files import pack_densities, pack_events, read_step_densities
from bdl.study.study_data import DataSource, Vault
from bdl.study.workers import limit_threads

Plain = dict[str, Any]
Outcome = tuple[Plain, dict[str, bytes]]


@dataclass(frozen=True)
class Worker:
    """What every worker is sent: where to write, where the data is, how many threads."""

    run: str
    source: DataSource
    threads: int

    def __call__(self, step: StudyStep) -> str | None:
        """Do one step; None, or what went wrong."""
        run = RunDirectory(self.run)
        if run.done(step.id) is not None:
            return None
        limit_threads(self.threads)
        try:
            with timed() as seconds:
                result, files = self.outcome(run, step)
            run.finish(step, result, files, seconds=seconds[0])
        except BdlError as error:
            return f"{step.name}: {error}"
        return None

    def outcome(self, run: RunDirectory, step: StudyStep) -> Outcome:
        """What a step finds, and the files it leaves."""
        dataset = self.source.load()
        try:
            return _KINDS[step.kind](run, dataset, step.inputs)
        except TrainingError as error:
            return {"status": "failed", "reason": str(error)}, {}


def _select(run: RunDirectory, dataset: Benchmark, inputs: Plain) -> Outcome:
    """Train at one rate and score every checkpoint on the recordings that may be chosen on."""
    from bdl.study import models

    known = [*inputs["train"], *inputs["chosen_on"]]
    vault = _vault(dataset, known)
    detector = _train(vault, dataset, inputs, inputs["checkpoints"])
    signals, truth = vault.signals(inputs["chosen_on"]), vault.labels(inputs["chosen_on"])
    fixed = inputs["stages"]["fixed"]
    tried = []
    for epoch in inputs["checkpoints"]:
        found = models.densities(detector, epoch, signals)
        grid = grid_for(inputs["stages"]["grid"], dataset, found[0].kind, found[0].period)
        decoder, score = (
            (fixed, _score(found, fixed, truth, dataset))
            if fixed
            else best(found, truth, grid, dataset)
        )
        tried.append({"epoch": epoch, "score": score, "decoder": decoder})
    top = max(tried, key=lambda one: one["score"])
    stages = choose(
        models.densities(detector, top["epoch"], signals), truth, dataset, inputs["stages"],
        top["decoder"],
    )  # fmt: skip
    return {
        "status": "ok",
        "epoch": top["epoch"],
        "score": top["score"],
        "decoders": stages,
        "tried": tried,
        "losses": _losses(detector),
    }, {}


def _final(run: RunDirectory, dataset: Benchmark, inputs: Plain) -> Outcome:
    """Retrain up to the chosen epoch; densities and detections of the test recordings."""
    from bdl.study import models

    vault = _vault(dataset, inputs["train"])
    epoch = inputs["epoch"]
    detector = _train(vault, dataset, inputs, [epoch])
    found = models.densities(detector, epoch, vault.signals(inputs["test"]))
    files = {"model.safetensors": models.weights(detector, epoch), **pack_densities(found)}
    for stage, decoder in inputs["decoders"].items():
        files[f"detections/{stage}.csv"] = pack_events(decode(found, decoder, dataset.intervals))
    return {"status": "ok", "epoch": epoch, "losses": _losses(detector)}, files


def _validate(run: RunDirectory, dataset: Benchmark, inputs: Plain) -> Outcome:
    """Train on the other folds; the best checkpoint on this one by the untuned decoder."""
    from bdl.study import models

    vault = _vault(dataset, [*inputs["train"], *inputs["chosen_on"]])
    detector = _train(vault, dataset, inputs, inputs["checkpoints"])
    signals, truth = vault.signals(inputs["chosen_on"]), vault.labels(inputs["chosen_on"])
    tried = []
    for epoch in inputs["checkpoints"]:
        found = models.densities(detector, epoch, signals)
        untuned = default_grid(dataset, found[0].kind, found[0].period)
        tried.append({"epoch": epoch, "score": best(found, truth, untuned, dataset)[1]})
    top = max(tried, key=lambda one: one["score"])
    found = models.densities(detector, top["epoch"], signals)
    files = {"model.safetensors": models.weights(detector, top["epoch"]), **pack_densities(found)}
    return {
        "status": "ok",
        "epoch": top["epoch"],
        "score": top["score"],
        "tried": tried,
        "losses": _losses(detector),
    }, files


def _tune(run: RunDirectory, dataset: Benchmark, inputs: Plain) -> Outcome:
    """Choose decoders on the pooled folds, and each fold's on the others; decode all."""
    folds = [read_step_densities(run, StepId(**step)) for step in inputs["densities"]]
    pooled = [density for fold in folds for density in fold]
    vault = _vault(dataset, [density.recording for density in pooled])
    truth = vault.labels([density.recording for density in pooled])
    stages = choose(pooled, truth, dataset, inputs["stages"])
    found = {stage: decode(pooled, decoder, dataset.intervals) for stage, decoder in stages.items()}
    crossed, chosen = [], []
    for number, fold in enumerate(folds):
        others = [one for other, part in enumerate(folds) if other != number for one in part]
        labels = vault.labels([density.recording for density in others])
        grid = grid_for(inputs["stages"]["grid"], dataset, fold[0].kind, fold[0].period)
        decoder = inputs["stages"]["fixed"] or best(others, labels, grid, dataset)[0]
        chosen.append(decoder)
        crossed.append(decode(fold, decoder, dataset.intervals))
    found["cross-fitted"] = Events.concat(crossed)
    files = {f"detections/{stage}.csv": pack_events(events) for stage, events in found.items()}
    return {"status": "ok", "decoders": stages, "cross-fitted": chosen}, files


_KINDS: dict[str, Callable[[RunDirectory, Benchmark, Plain], Outcome]] = {
    "select": _select,
    "final": _final,
    "validate": _validate,
    "tune": _tune,
}


def _vault(dataset: Benchmark, known: Iterable[str]) -> Vault:
    """All recordings, with the labels of the known ones only."""
    sealed = set(dataset.recordings.ids) - set(known)
    return Vault(dataset.recordings, dataset.events, sealed)


def _train(vault: Vault, dataset: Benchmark, inputs: Plain, checkpoints: Sequence[int]) -> Any:
    from bdl.study import models

    return models.train(
        inputs["model"],
        vault,
        dataset,
        inputs["train"],
        rate=inputs["rate"],
        seed=inputs["seed"],
        checkpoints=checkpoints,
    )


def _losses(detector: Any) -> list[float]:
    """Mean loss of each epoch; its seconds stay out, since a step's bytes tell no time."""
    return [float(epoch.loss) for epoch in detector.history]


def _score(densities: list[Density], decoder: Plain, truth: Events, dataset: Benchmark) -> float:
    from bdl.evaluation import match

    settings = dataset.settings
    return match(
        truth,
        decode(densities, decoder, dataset.intervals),
        settings.tolerances,
        types=settings.types,
        event_free=settings.event_free,
        recordings=[density.recording for density in densities],
    ).mean_average_precision()
