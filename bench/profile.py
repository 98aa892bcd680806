"""Profile of the processor time of the demonstration and of a small nested study.

    python -m bench.profile demo
    python -m bench.profile study

The study is the nested sleep study at its small scale with two rows and two folds, in one process.
Stages may contain each other (choosing decoders scores), so shares need not add up to one. Imports
are timed before the profile begins, which would slow them several times; elsewhere it costs little.
"""

from __future__ import annotations

import cProfile
import importlib
import pstats
import sys
import tempfile
import time
from pathlib import Path

STAGES = {  # the end of a file's path, the function
    "simulating recordings": ("datasets/dataset.py", "simulate"),
    "reading recordings": ("datasets/dataset.py", "load"),
    "binning features": ("bdl/binning.py", "bin_features"),
    "training": ("training/loop.py", "train"),
    "of it, forward": ("training/lightning_module.py", "training_step"),
    "of it, backward": ("", "<method 'run_backward' of 'torch._C._EngineBase' objects>"),
    "of it, optimiser": ("optim/adam.py", "adam"),
    "densities": ("bdl/inference.py", "logits"),
    "choosing decoders": ("decoding/calibration.py", "calibrate"),
    "bootstrap": ("evaluation/bootstrapping.py", "bootstrap"),
    "writing the page": ("report/page.py", "write_report"),
}


MODULES = (
    "bdl.demo",
    "bdl.study.runner",
    "bdl.study.model_fits",
    "bdl.training.loop",
    "bdl.report",
)


def demo(folder: Path) -> None:
    """The demonstration, as `make demo` runs it."""
    from bdl.demo import run

    run(folder / "demo")


def study(folder: Path) -> None:
    """The nested sleep study at its small scale, with two rows and two folds."""
    from bdl.study.catalogue import load
    from bdl.study.runner import run_study
    from bdl.study.scale import scale_of, shrink
    from bdl.workers import Workers

    protocol = load("sleep-nested")
    scale = scale_of(protocol, "small").replace(folds=2)
    names = ("BDL-Hard", "Segmentation CE")
    small = shrink(protocol, scale).replace(
        rows=tuple(row for row in protocol.rows if row.name in names),
        differences=(names,),
        paper=protocol.paper.replace(tables=()),
    )
    run_study(small, folder / "study", scale=scale, workers=Workers(threads=1))


def shares(profile: cProfile.Profile, total: float, imports: float) -> str:
    """Seconds and share of each stage, in Markdown."""
    entries = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total += imports
    lines = ["| stage | seconds | share |", "|---|---:|---:|"]
    lines.append(f"| importing | {imports:.1f} | {imports / total:.0%} |")
    for stage, (file, function) in STAGES.items():
        spent = max(
            (entry[3] for key, entry in entries.items() if _is(key, file, function)), default=0.0
        )
        lines.append(f"| {stage} | {spent:.1f} | {spent / total:.0%} |")
    return "\n".join([*lines, f"| all | {total:.1f} | 100% |"])


def _is(key: tuple[str, int, str], file: str, function: str) -> bool:
    return key[2] == function and key[0].replace("\\", "/").endswith(file or "~")


def main() -> None:
    """Profile one of the two."""
    work = {"demo": demo, "study": study}[sys.argv[1]]
    begin = time.process_time()
    for module in MODULES:
        importlib.import_module(module)
    imports = time.process_time() - begin
    profile = cProfile.Profile(time.process_time)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        profile.enable()
        work(Path(folder))
        profile.disable()
        total = time.process_time() - begin
    print(shares(profile, total, imports))


if __name__ == "__main__":
    main()
