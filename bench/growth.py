"""Time over the size of the work: ×1, ×4, ×16, a fitted exponent and a plot.

The exponent is the slope of log time over log size (least squares): 1 is linear. An exponent above
1.1 is marked. Processor time is measured, which other programs on the machine affect less than the
wall clock.

    python -m bench.growth [PLOT.svg]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

FACTORS = (1, 4, 16)
ROUNDS = 6
MOST = 1.1
Work = Callable[[], object]


@dataclass(frozen=True)
class Growth:
    """Seconds at each size of one kind of work."""

    name: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """Slope of log seconds over log size."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)[0])


def timed(work: Work, minimum: float = 0.02) -> float:
    """Processor seconds of a run; short work is repeated for at least ``minimum`` seconds."""
    begin, count = process_time(), 0
    while count == 0 or process_time() - begin < minimum:
        work()
        count += 1
    return (process_time() - begin) / count


def measure(name: str, base: int, make: Callable[[int], Work]) -> Growth:
    """Time ``make(size)()`` at each size, the minimum of some rounds; making is not timed.

    Every round goes through all sizes, so that a period in which the machine is slow affects all.
    """
    works = [make(base * factor) for factor in FACTORS]
    for work in works:
        work()
    rounds = [[timed(work) for work in works] for _ in range(ROUNDS)]
    sizes = tuple(base * factor for factor in FACTORS)
    return Growth(name, sizes, tuple(min(times) for times in zip(*rounds, strict=True)))


def scoring() -> list[Growth]:
    """The evaluator, as recordings, detections and bootstrap replicates grow."""
    from bdl.evaluation import bootstrap, match
    from bench.evaluation import TOLERANCES, events_of, make, ours

    def recordings(n: int) -> Work:
        data = make(n, 35 * n, 110 * n)
        return lambda: ours(*data)

    def detections(n: int) -> Work:
        data = make(100, 3_500, n)
        return lambda: ours(*data)

    truth, detected = map(events_of, make(100, 3_500, 11_000))
    matches = match(truth, detected, TOLERANCES)

    def replicates(n: int) -> Work:
        return lambda: bootstrap({"one": matches}, replicates=n)

    return [
        measure("scoring: recordings", 100, recordings),
        measure("scoring: detections in 100 recordings", 20_000, detections),
        measure("bootstrap: replicates", 250, replicates),
    ]


def decoding() -> list[Growth]:
    """Decoders, as bins and recordings grow."""
    from bdl.decoding import ExpectedAP, Peaks
    from bench.decoding import TOLERANCES, density, ours

    def peaks(n: int) -> Work:
        recording = density(np.random.default_rng(0), 0, n)
        return lambda: Peaks(smooth=50.0, separation=1800.0).decode(recording)

    def expected(n: int) -> Work:
        recording = density(np.random.default_rng(0), 0, n)
        return lambda: ExpectedAP(tolerances=TOLERANCES).decode(recording)

    def grid(n: int) -> Work:
        rng = np.random.default_rng(0)
        many = [density(rng, i) for i in range(n)]
        return lambda: ours(many, 1.0)

    return [
        measure("decoding, peaks: bins", 50_000, peaks),
        measure("decoding, expected AP: bins", 10_000, expected),
        measure("decoding, sleep grid: recordings", 1, grid),
    ]


def learning() -> list[Growth]:
    """Features and targets, as samples and events grow; the recurrence, as bins and items do."""
    import torch

    from bdl.binning import bin_features
    from bdl.encoders import Recurrent
    from bdl.encoders.allocator import keep_buffers
    from bdl.features import Features
    from bdl.kernels import Gaussian
    from bdl.recording import Recording
    from bdl.targets import Crop, event_targets

    keep_buffers()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)

    def features(n: int) -> Work:
        recording = Recording.of(rng.normal(size=(n, 2)).astype(np.float32), id="a", period=5.0)
        return lambda: bin_features(recording, Features(stride=10, scaling="none"))

    def targets(n: int) -> Work:
        places = [np.sort(rng.integers(0, 1_000 * n, n))]
        kernel = Gaussian(sigma=1.0)
        crop = Crop(0, 1_000 * n, stride=100)
        return lambda: event_targets(places, kernel, crop, period=0.01)

    module = Recurrent().build(8, 2, False)

    def train(batch: int, bins: int) -> Work:
        x = torch.randn(batch, bins, 8)
        return lambda: module(x).square().mean().backward()

    return [
        measure("features: samples", 250_000, features),
        measure("targets: events (and samples)", 250, targets),
        measure("GRU training step: bins, batch 4", 1_000, lambda n: train(4, n)),
        measure("GRU training step: batch, 1,000 bins", 4, lambda n: train(n, 1_000)),
    ]


def run_growth() -> list[Growth]:
    """All growths, on one thread: waiting threads would count as work."""
    with threadpool_limits(1):
        return scoring() + decoding() + learning()


def growth_table(rows: list[Growth]) -> str:
    """As a Markdown table."""
    lines = ["| work | ×1 | ×4 | ×16 | exponent |", "|---|---:|---:|---:|---:|"]
    for row in rows:
        cells = " | ".join(
            f"{s:.4g} s ({n:,})" for s, n in zip(row.seconds, row.sizes, strict=True)
        )
        mark = "" if row.exponent <= MOST else f" (above {MOST})"
        lines.append(f"| {row.name} | {cells} | {row.exponent:.2f}{mark} |")
    return "\n".join(lines)


def plot(rows: list[Growth]) -> str:
    """Time over size, both logarithmic and relative to ×1, as an SVG; the dashed line is linear."""
    width, height, left, top = 820, 420, 60, 20
    inner = 380
    highest = max(max(FACTORS), *(s / row.seconds[0] for row in rows for s in row.seconds))

    def at(factor: float, times: float) -> tuple[float, float]:
        across = np.log(factor) / np.log(max(FACTORS))
        up = np.log(max(times, 0.5) / 0.5) / np.log(highest / 0.5)
        return left + inner * across, top + inner * (1 - up)

    def line(points: list[tuple[float, float]], style: str) -> str:
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        return f'<polyline points="{text}" fill="none" {style}/>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        line([at(f, f) for f in FACTORS], 'stroke="#888" stroke-dasharray="6 4"'),
    ]
    for factor in FACTORS:
        x, y = at(factor, 0.5)
        parts.append(f'<text x="{x:.0f}" y="{y + 16:.0f}" text-anchor="middle">×{factor}</text>')
        x, y = at(1, factor)
        parts.append(f'<text x="{x - 10:.0f}" y="{y + 4:.0f}" text-anchor="end">×{factor}</text>')
    for i, row in enumerate(rows):
        color = f"hsl({i * 360 // len(rows)} 70% 42%)"
        points = [at(f, s / row.seconds[0]) for f, s in zip(FACTORS, row.seconds, strict=True)]
        parts.append(line(points, f'stroke="{color}" stroke-width="2"'))
        y = top + 20 + 24 * i
        parts.append(f'<rect x="470" y="{y - 9}" width="18" height="4" fill="{color}"/>')
        text = escape(f"{row.name}: {row.exponent:.2f}")
        parts.append(f'<text x="496" y="{y}">{text}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    measured = run_growth()
    print(growth_table(measured))
    if len(sys.argv) == 2:
        Path(sys.argv[1]).write_text(plot(measured))
