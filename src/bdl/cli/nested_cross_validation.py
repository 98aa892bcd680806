"""The command that scores a detector on the user's own data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option, Typer

from bdl.cli import console
from bdl.cli.detector_options import (
    DETECTOR_OPTIONS,
    PresetOption,
    named_options,
    with_options,
)
from bdl.cli.fit_config import find_config, written_config
from bdl.cli.numbers import FOLDS, SEED
from bdl.cli.options import PROJECT, Json, Quiet, Replicates, takes
from bdl.errors import require
from bdl.workers import Workers

if TYPE_CHECKING:
    from bdl.datasets import Benchmark
    from bdl.study.protocol import Protocol
    from bdl.study.results import Results

commands = Typer()


@commands.command(epilog="Example: `bdl evaluate walks --folds 5 --baseline segmentation`")
@takes(workers=Workers, detector=DETECTOR_OPTIONS)
def evaluate(
    project: Annotated[Path, PROJECT],
    folds: Annotated[int, Option(parser=FOLDS, help="Number of folds, each tested once.")] = 5,
    baseline: Annotated[
        list[str] | None,
        Option(
            help="Row to compare with: an objective (such as segmentation), a decoder (such as "
            "peaks) or another preset (such as paper); may be repeated."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        Option(
            parser=SEED,
            help="Seed of the folds and of the models. [default: training.seed of bdl.yaml, or 0]",
        ),
    ] = None,
    target: Annotated[
        str | None, Option("--out", help="Run directory. [default: evaluation, in the project]")
    ] = None,
    preset: PresetOption = None,
    bootstrap: Replicates = 1000,
    quiet: Quiet = False,
    json: Json = False,
    *,
    workers: dict[str, Any],
    detector: dict[str, Any],
) -> None:
    """Score a detector on your own data by nested cross-validation.

    Whole groups are tested. Everything is chosen within the other groups: scaling, epoch, weights,
    decoder and threshold. Confidence intervals are over groups. After an interruption the same
    command resumes; `bdl report RUN` shows the detections.
    """
    from bdl.formats.outputs import check_output
    from bdl.study.own_data import project_protocol
    from bdl.study.runner import run_study

    require("torch", "train")
    path = find_config(project)
    run = target or str(path.parent / "evaluation")
    check_output(run, folder=True)
    config = written_config(path)
    with named_options():
        protocol, benchmark = project_protocol(
            config.tables(),
            path.parent,
            preset=preset or config.preset,
            detector=with_options(config.detector, detector),
            settings={"event_free": config.event_free},
            folds=folds,
            seed=seed,
            baselines=baseline or (),
            replicates=bootstrap,
        )
    console.err.notes(() if quiet else benchmark.notes)
    with console.progress(quiet=quiet) as report:
        results = run_study(
            protocol, run, data=path.parent, workers=Workers(**workers), report=report
        )
    if json:
        console.print_json({"out": run, **summary(protocol, benchmark, results)})
        return
    console.out.print(_text(protocol, benchmark, results))
    console.err.print(f"next: bdl report {run} --out report.html; bdl fit {project}")


def summary(protocol: Protocol, benchmark: Benchmark, results: Results) -> dict[str, Any]:
    """Return the scores of an evaluation as plain data."""
    from bdl.study.own_data import reported

    scores = reported(benchmark.settings.tolerances)
    rows: dict[str, dict[str, Any]] = {}
    for row in protocol.rows:
        for metric, stage, *_ in scores:
            estimate = results.estimate(row.name, stage, metric.name)
            if estimate is not None:
                by_stage = rows.setdefault(row.name, {}).setdefault(stage, {})
                by_stage[metric.name] = estimate.to_dict()
    return {
        **_size(protocol, benchmark),
        "rows": rows,
        "thresholds": {row.name: _thresholds(results, row.name) for row in protocol.rows},
        "differences": [
            {"row": d.row, "minus": d.minus, "metric": d.metric, **d.estimate.to_dict()}
            for d in results.differences
            if (d.metric, d.stage) in {(score.metric.name, score.stage) for score in scores}
        ],
        "failed": [*results.failed],
    }


def _thresholds(results: Results, row: str) -> list[float]:
    """Return the thresholds of a row, each chosen outside the test part of its fold."""
    from bdl.study.stages import SELECTION

    by_fold = [
        results.values(row, SELECTION, "threshold", seed=None, fold=fold) for fold in results.folds
    ]
    return [value for values in by_fold for value in values.values()]


def _size(protocol: Protocol, benchmark: Benchmark) -> dict[str, Any]:
    return {
        "recordings": len(benchmark.recordings),
        "groups": len({*benchmark.recordings.groups.values()}),
        "events": len(benchmark.events),
        "folds": protocol.split.model_dump()["folds"],
    }


def _text(protocol: Protocol, benchmark: Benchmark, results: Results) -> str:
    """Return the scores as text of at most 80 columns, with one line per score."""
    from bdl.study.own_data import reported
    from bdl.study.stages import OPERATING_POINT, TUNED

    size, tolerances = _size(protocol, benchmark), benchmark.settings.tolerances
    names = [row.name for row in protocol.rows]
    blocks = [
        f"{size['folds']} folds of {size['groups']} groups ({size['recordings']} recordings, "
        f"{size['events']:,} events); 95% CI over groups"
    ]
    for pair in (names[i : i + 2] for i in range(0, len(names), 2)):
        lines = [("", pair)]
        before = TUNED
        for metric, stage, words, digits in reported(tolerances):
            estimates = [results.estimate(name, stage, metric.name) for name in pair]
            if not any(estimates):
                continue
            if stage == OPERATING_POINT != before:
                lines.append((f"above the chosen threshold, within {max(tolerances):g} s:", []))
                thresholds = [_thresholds(results, name) for name in pair]
                ranges = [f"{min(t):.3g} to {max(t):.3g}" if t else "–" for t in thresholds]
                lines.append(("thresholds of the folds", ranges))
            lines.append((words, [e.text(digits) if e else "–" for e in estimates]))
            before = stage
        blocks += [f"{words:<24}  " + "".join(f"{t:<26}" for t in texts) for words, texts in lines]
    for difference in results.differences:
        if (difference.metric, difference.stage) == ("mAP", TUNED):
            words = f"mAP of {difference.row} minus {difference.minus}"
            blocks.append(f"{words:<34} {difference.estimate.text(3)}")
    blocks += [f"failed: {text}" for text in results.failed]
    return "\n".join(line.rstrip() for line in blocks)
