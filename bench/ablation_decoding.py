"""Ablation of decoders on the same densities: peaks, smoothed peaks, refinement, expected AP.

    python -m bench.ablation_decoding sleep
    python -m bench.ablation_decoding hapt --data FOLDER

One model is trained per fold (sleep: one split of simulated recordings); the densities of its
calibration and test recordings are kept in the folder ``--out``, so that decoding again trains
nothing. Every row of the table is one grid: its setting is chosen on the calibration recordings,
then the test recordings are scored once. HAPT's rows pool the test parts of five folds of users.
Rows marked "default" choose nothing: they are the decoder a user gets without calibration.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from bdl import Detector, Events
from bdl.datasets import Benchmark, Sleep, load
from bdl.decoding import ExpectedAPGrid, Grid, PeakGrid, calibrate, decode, default_decoder
from bdl.density import Density
from bdl.detector import DetectorSettings
from bdl.detector.selection import Selection
from bdl.formats.densities import read_densities, write_densities
from bench.experiments.common import Part, group_folds, in_memory, scores

DAY = 86400.0
TRAINING = {"batch": 8, "learning_rate": 1e-2, "accelerator": "cpu"}
THRESHOLDS = (0.001, 0.005, 0.02)
UNITS = (1.0, 1.5, 2.0, 3.0)
Fold = tuple[list[Density], list[Density]]


def grids(dataset: Benchmark, smooths: tuple[float, ...], separation: float) -> dict[str, Grid]:
    """The rows of the table."""
    alternations = (False, True)
    peaks = PeakGrid(separation=separation, alternations=alternations)
    mass = ExpectedAPGrid(thresholds=THRESHOLDS, refines=("none",), units=(1.0,))
    separations = (0.0, separation / 4, separation)
    return {
        "peaks": peaks,
        "peaks, smoothed (the paper's grid)": peaks.replace(smooths=(0.0, *smooths)),
        "peaks on bins, parabola": peaks.replace(clock="bins", refine="parabola"),
        "expected AP": mass,
        "expected AP, parabola": mass.replace(refines=("parabola",)),
        "expected AP, centroid": mass.replace(refines=("centroid",)),
        "expected AP, unit": mass.replace(units=UNITS),
        "expected AP, separation": mass.replace(separations=separations),
        "expected AP, all calibrated": mass.replace(
            refines=("none", "parabola", "centroid"),
            units=UNITS,
            separations=separations,
            alternations=alternations,
        ),
    }


def sleep(out: Path, objective: str, seed: int) -> tuple[Benchmark, list[Fold], dict[str, Grid]]:
    """Simulated sleep: 60 recordings of 10 days, 36 to train, 12 to calibrate, 12 to test."""
    data = out / "data"
    if not (data / "train_events.csv").exists():
        Sleep().simulate(data, recordings=60, days=10, seed=0)
    dataset = in_memory(load("sleep", data))
    order = np.random.default_rng(0).permutation(dataset.recordings.ids).tolist()
    part = Part(tuple(order[24:]), tuple(order[12:24]), tuple(order[:12]))
    settings = DetectorSettings.of(
        dataset.settings,
        objective=objective,
        selection=Selection(folds=0),
        window=2 * DAY,
        training={**TRAINING, "epochs": 40, "seed": seed},
    )
    detector = Detector(**dict(settings))
    fold = densities(out / f"{objective}-{seed}", dataset, part, detector)
    return dataset, [fold], grids(dataset, (50.0,), dataset.settings.separation)


def hapt(
    out: Path, objective: str, seed: int, data: Path, task: str
) -> tuple[Benchmark, list[Fold], dict[str, Grid]]:
    """HAPT: five folds of users, a fifth of the others for calibration."""
    dataset = in_memory(load("hapt", data, task=task))
    folds = []
    for number, part in enumerate(
        group_folds(dataset.recordings, folds=5, seed=0, calibration=0.2)
    ):
        settings = DetectorSettings.of(
            dataset.settings,
            objective=objective,
            selection=Selection(folds=0),
            training={**TRAINING, "epochs": 60, "seed": seed},
        )
        detector = Detector(**dict(settings))
        folds.append(
            densities(out / f"{task}-{objective}-{seed}-{number}", dataset, part, detector)
        )
    return dataset, folds, grids(dataset, (0.2, 0.5), dataset.settings.separation)


def densities(out: Path, dataset: Benchmark, part: Part, detector: Detector) -> Fold:
    """Densities of the calibration and the test recordings; trains if they are missing."""
    if not (out / "test").exists():
        begin = perf_counter()
        detector.fit(
            dataset.recordings.select(part.train),
            dataset.events.select(recordings=part.train),
            intervals=dataset.intervals,
            types=dataset.settings.types,
        )
        print(f"trained {out.name} in {perf_counter() - begin:.0f} s", flush=True)
        for name, ids in (("calibration", part.calibration), ("test", part.test)):
            write_densities(out / name, detector.densities(dataset.recordings.select(ids)))
    return [*read_densities(out / "calibration")], [*read_densities(out / "test")]


def measure(
    dataset: Benchmark, folds: list[Fold], detect: Callable[[Fold], Events]
) -> tuple[list[float], int]:
    """mAP, mF1 and the mean AP at each tolerance of all folds' test parts, pooled."""
    part = Part((), (), tuple(density.recording for _, test in folds for density in test))
    detections = Events.concat(detect(fold) for fold in folds)
    return scores(dataset, [detections], [part]), len(detections)


def table(dataset: Benchmark, folds: list[Fold], rows: dict[str, Grid]) -> str:
    """The figures in Markdown; the last column is the setting chosen in the first fold."""
    settings = dataset.settings
    heads = ["decoder", "mAP", "mF1", *(f"AP@{t:g} s" for t in settings.tolerances), "detections"]
    lines = [
        "| " + " | ".join([*heads, "chosen (first fold)"]) + " |",
        "|---" * (len(heads) + 1) + "|",
    ]

    def add(name: str, figures: list[float], count: int, chosen: str) -> None:
        cells = [name, *(f"{value:.3f}" for value in figures), f"{count:,}", chosen]
        lines.append("| " + " | ".join(cells) + " |")

    default = default_decoder("events", tolerances=settings.tolerances)
    figures, count = measure(dataset, folds, lambda fold: decode(fold[1], default))
    add("expected AP, default", figures, count, "")
    truth = dataset.events
    for name, grid in rows.items():
        chosen: list[str] = []

        def detect(fold: Fold, grid: Grid = grid, chosen: list[str] = chosen) -> Events:
            best = calibrate(
                fold[0],
                truth,
                grid,
                tolerances=settings.tolerances,
                intervals=dataset.intervals,
                event_free=settings.event_free,
            )
            setting = best.decoder.model_dump(mode="json", exclude={"kind", "tolerances"})
            fields = type(best.decoder).model_fields
            texts = [
                f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
                for name, value in setting.items()
                if value != fields[name].default
            ]
            chosen.append(", ".join(texts))
            return decode(fold[1], best.decoder, dataset.intervals)

        figures, count = measure(dataset, folds, detect)
        add(name, figures, count, chosen[0])
    return "\n".join(lines)


def main() -> None:
    """Train missing models and print one table per task, objective and seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", choices=["sleep", "hapt"])
    parser.add_argument("--data", type=Path, help="folder of HAPT")
    parser.add_argument("--out", type=Path, default=Path("runs/ablation_decoding"))
    parser.add_argument("--objective", default="bdl-hard")
    parser.add_argument("--task", default="walking", choices=["walking", "transitions"])
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    out = args.out / args.dataset
    if args.dataset == "sleep":
        prepared = sleep(out, args.objective, args.seed)
    else:
        if args.data is None:
            parser.error("hapt needs --data FOLDER")
        prepared = hapt(out, args.objective, args.seed, args.data, args.task)
    print(f"\n{args.dataset} {args.task if args.data else ''} {args.objective}\n")
    print(table(*prepared), flush=True)


if __name__ == "__main__":
    main()
