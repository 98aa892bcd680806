"""A simulated night with schematic outputs, for figures without a study."""

from __future__ import annotations

import tempfile

import numpy as np

from bdl.arrays import Floats
from bdl.datasets import Sleep
from bdl.figures.window import HOUR, RowOutput, Window, signal_means


def simulated_window(seed: int = 0) -> Window:
    """A night of a simulated wrist recording, with schematic outputs.

    Examples
    --------
    >>> window = simulated_window()
    >>> list(window.events), window.schematic
    (['onset', 'wakeup'], True)
    """
    with tempfile.TemporaryDirectory() as folder:
        Sleep().simulate(folder, recordings=1, days=4, seed=seed)
        benchmark = Sleep().load(folder)
        recording = next(iter(benchmark.recordings))
    onset, wakeup = (benchmark.events.times(recording.id, t)[1] for t in ("onset", "wakeup"))
    first, last = onset - 3 * HOUR, wakeup + 3 * HOUR
    time = np.arange(first, last, 50.0)

    def ramp(at: float, width: float) -> Floats:
        out: Floats = 1 / (1 + np.exp(-(time - at) / width))
        return out

    occupancy = ramp(onset + 500, 900) * (1 - ramp(wakeup - 700, 1100))
    change = np.gradient(occupancy)
    scale = np.abs(change).max()
    bells = {
        name: np.exp(-0.5 * ((time - at) / 150) ** 2)
        for name, at in (("onset", onset + 20), ("wakeup", wakeup - 30))
    }
    evidence = {
        "onset": np.maximum(change, 0) / scale * 0.5,
        "wakeup": np.maximum(-change, 0) / scale * 0.5,
    }
    signal_time, signal = signal_means(recording, first, last, points=2400)
    return Window(
        recording=recording.id,
        first=float(first),
        last=float(last),
        events={"onset": np.array([onset]), "wakeup": np.array([wakeup])},
        intervals=((float(onset), float(wakeup)),),
        signal_time=signal_time,
        signal=signal,
        rows={
            "Segmentation": RowOutput("state", time, evidence, occupancy),
            "BDL": RowOutput("events", time, bells, np.zeros(0)),
        },
        schematic=True,
    )
