"""The tables of accuracy as Markdown, from the kept files.

    python -m bench.accuracy.tables [DATASET ...] [--rows ROW ...] [--reference best]

A table has the folds that all its rows have. Detections of these folds are pooled, the metrics are
averaged over seeds, and the confidence intervals are those of a paired bootstrap over groups. The
scores of models of different folds may have different scales, which affects the pooled ranking; the
mean of the mAPs of single folds is therefore reported as well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bdl import Events
from bdl.evaluation import BootstrapResult, Matches, Metric, bootstrap
from bench.accuracy.kept import KEPT, Truth, read_run, read_truth, run_file
from bench.accuracy.reported_f1 import ReportedF1
from bench.accuracy.tasks import TASKS

FIRST = (
    "best",
    "fast",
    "paper",
    "segmentation",
    "boosting",
    "peaks",
    "xqrs",
    "gqrs",
)


@dataclass(frozen=True)
class RowMatches:
    """Matches of a row, one per seed: ranked detections and reported ones.

    Beside them the mean of the mAPs of single folds, and CPU seconds per fold.
    """

    ranked: list[Matches]
    reported: list[Matches]
    mean_of_folds: float
    cpu: float


def main() -> None:
    """Print the tables."""
    for heading, text in tables(sys.argv[1:]):
        print(f"### {heading}\n\n{text}", flush=True)


def tables(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the name of each data set and its table, for arguments of the command line."""
    parser = argparse.ArgumentParser(description="Tables of accuracy from kept runs.")
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--out", type=Path, default=KEPT)
    parser.add_argument("--rows", nargs="+")
    parser.add_argument("--reference", default="best")
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument(
        "--summary", action="store_true", help="one table of all data sets: the reference and a row"
    )
    args = parser.parse_args(arguments)
    tasks = args.tasks or [task for task in TASKS if (args.out / task / "truth.parquet").exists()]
    if args.summary:
        yield "summary", summary(args.out, tasks, args.rows, args.reference, args.replicates)
        return
    for task in tasks:
        yield task, table(args.out / task, args.rows, args.reference, args.replicates)


def summary(
    out: Path, tasks: Sequence[str], rows: Sequence[str], reference: str, replicates: int
) -> str:
    """One line per data set: the reference row beside another one."""
    (other,) = (row for row in rows if row != reference)
    rows = reference, other
    lines = [
        f"| data | tolerances | mAP | {other} | difference | F1 at threshold | {other} | seeds |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for task in tasks:
        truth, folds, matches = read_rows(out / task, rows, reference)
        columns = measured(truth, matches, groups_of(truth, folds), replicates)
        tolerances = [f"{tolerance:g}" for tolerance in sorted(truth.scoring.tolerances)]
        within = " to ".join(dict.fromkeys((tolerances[0], tolerances[-1])))
        f1 = next(name for name in columns if name.startswith("F1 at threshold"))
        mean_ap, f1s = ([columns[name].systems[row].value for row in rows] for name in ("mAP", f1))
        cells = [TASKS[task].title, f"{within} s", *(f"{value:.3f}" for value in mean_ap)]
        cells += [difference(columns["mAP"], other), *(f"{value:.3f}" for value in f1s)]
        lines.append("| " + " | ".join([*cells, str(len(matches[reference].ranked))]) + " |")
    return "\n".join([*lines, ""])


def groups_of(truth: Truth, folds: Sequence[int]) -> dict[str, str]:
    """The groups of the recordings of some folds."""
    return {id: truth.groups[id] for fold in folds for id in truth.folds[fold]}


def read_rows(
    folder: Path, rows: Sequence[str] | None, reference: str
) -> tuple[Truth, list[int], dict[str, RowMatches]]:
    """The truth of a data set, the folds that all rows have, and their matches by row."""
    truth, runs = read_truth(folder), kept_runs(folder)
    names = sorted(name for name in runs if rows is None or name in rows)
    names.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    if not names:
        raise SystemExit(f"{folder}: nothing was run")
    folds = sorted(set.intersection(*(most_folds(runs[name]) for name in names)))
    if not folds:
        raise SystemExit(f"{folder}: no fold was run with all of {', '.join(names)}")
    names.sort(key=lambda name: name != reference)
    return truth, folds, {name: read_row(folder, truth, name, runs[name], folds) for name in names}


def table(folder: Path, rows: Sequence[str] | None, reference: str, replicates: int) -> str:
    """One table with its caption; the reference row comes first where there is one."""
    truth, folds, matches = read_rows(folder, rows, reference)
    names, reference = [*matches], next(iter(matches))
    groups_by_id = groups_of(truth, folds)
    columns = measured(truth, matches, groups_by_id, replicates)
    compared = [name for name, result in columns.items() if len(result.replicates) > 1]
    differences = [f"{reference} minus row, {name}" for name in compared]
    head = ["row", *columns, "mAP, mean of folds", *differences, "CPU s per fold", "seeds"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for name in names:
        cells = [f"{result.systems[name].value:.3f}" for result in columns.values()]
        row = matches[name]
        cells.append(f"{row.mean_of_folds:.3f}")
        cells += [difference(columns[column], name) for column in compared]
        cells += [f"{row.cpu:.0f}", str(len(row.ranked))]
        lines.append("| " + " | ".join([name, *cells]) + " |")
    groups = len({*groups_by_id.values()})
    caption = (
        f"Folds {', '.join(map(str, folds))} of {len(truth.folds)}: {len(groups_by_id)} recordings "
        f"of {groups} groups. "
        f"Tolerances {', '.join(f'{t:g}' for t in truth.scoring.tolerances)} s. "
        "Scores are means over the seeds of a row, differences have 95 % confidence intervals of a "
        "paired bootstrap over groups, models held fixed."
    )
    return "\n".join([*lines, "", caption, ""])


def kept_runs(folder: Path) -> dict[str, set[tuple[int, int]]]:
    """The (seed, fold) pairs kept of each row."""
    runs: dict[str, set[tuple[int, int]]] = {}
    for file in folder.glob("*.seed*.fold*.parquet"):
        name, seed, fold, _ = file.name.rsplit(".", 3)
        runs.setdefault(name, set()).add((int(seed[4:]), int(fold[4:])))
    return runs


def most_folds(runs: set[tuple[int, int]]) -> set[int]:
    """The folds of the seed of which most are kept."""
    seeds = sorted({seed for seed, _ in runs})
    return max(({fold for s, fold in runs if s == seed} for seed in seeds), key=len)


def read_row(
    folder: Path, truth: Truth, name: str, runs: set[tuple[int, int]], folds: Sequence[int]
) -> RowMatches:
    """Matches of the seeds of which all these folds are kept."""
    seeds = [s for s in sorted({s for s, _ in runs}) if all((s, f) in runs for f in folds)]
    ids = [id for fold in folds for id in truth.folds[fold]]
    ranked, reported, single, cpu = [], [], [], []
    for seed in seeds:
        fold_runs = [read_run(run_file(folder, name, seed, fold)) for fold in folds]
        both = zip(*(detected for detected, _ in fold_runs), strict=True)
        pooled = [truth.scoring.match(truth.events, _scored(parts), ids) for parts in both]
        for fold, (detected, _) in zip(folds, fold_runs, strict=True):
            part = truth.scoring.match(truth.events, detected.ranked, truth.folds[fold])
            single.append(part.mean_average_precision())
        ranked.append(pooled[0])
        reported.append(pooled[1])
        cpu += [about["cpu"] for _, about in fold_runs]
    return RowMatches(ranked, reported, float(np.mean(single)), float(np.mean(cpu)))


def measured(
    truth: Truth, rows: dict[str, RowMatches], groups: dict[str, str], replicates: int
) -> dict[str, BootstrapResult]:
    """Each column of the table by its heading, for all rows."""
    strictest = min(truth.scoring.tolerances)
    ranked: dict[str, str | Metric] = {
        "mAP": "mAP",
        f"AP@{strictest:g} s": f"AP@{strictest!r}",
        "best F1": "mF1",
    }
    reported: dict[str, str | Metric] = {"F1 at threshold": ReportedF1()}
    if truth.operating:
        reported = {
            f"F1 at threshold, {tolerance:g} s": ReportedF1(tolerance=tolerance)
            for tolerance in truth.operating
        }
    columns = {}
    for heading, metric in {**ranked, **reported}.items():
        kind = "ranked" if heading in ranked else "reported"
        columns[heading] = bootstrap(
            {name: getattr(row, kind) for name, row in rows.items()},
            clusters=groups,
            metric=metric,
            replicates=replicates if heading in ("mAP", *reported) else 1,
        )
    return columns


def difference(result: BootstrapResult, name: str) -> str:
    """The reference, which is the first system, minus a row, with its confidence interval."""
    first = next(iter(result.systems))
    if name == first:
        return ""
    change = result.differences[f"{name} - {first}"]
    return f"{-change.value:+.3f} [{-change.high:.3f}, {-change.low:.3f}]"


def _scored(parts: Sequence[Events]) -> Events:
    pooled = Events.concat(parts)
    return pooled if len(pooled) else Events.empty(scored=True)


if __name__ == "__main__":
    main()
