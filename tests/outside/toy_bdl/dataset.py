"""A data set: clicks in noise, in the formats of this package."""

from typing import ClassVar

import numpy as np

from bdl.datasets import Benchmark, Dataset, Scale, Settings
from bdl.formats import read_events, read_recordings

SAMPLES = 300


class Clicks(Dataset):
    """Clicks in noise."""

    kind: str = "clicks"

    licence = "public domain"
    requires = "nothing: it is simulated"
    settings: ClassVar = Settings(
        types=("click",),
        tolerances=(2.0, 5.0),
        stride=2,
        window=100.0,
        reference_spacing=50.0,
        sigma=1.0,
        separation=5.0,
    )
    scales: ClassVar = {
        "tiny": Scale(recordings=6, epochs=2, window=100.0, folds=2, tiny=True, replicates=10)
    }

    def read(self, path):
        recordings = read_recordings(path, pattern="*.numbers")
        return Benchmark(
            self.kind, recordings, read_events(path / "clicks.lines"), (), self.settings
        )

    def simulator(self):
        return write


def write(folder, *, recordings, days, seed, progress):
    """Write recordings of noise with six clicks each."""
    lines = []
    for number in range(recordings):
        rng = np.random.default_rng([seed, number])
        values = rng.normal(size=SAMPLES)
        clicks = np.sort(rng.choice(SAMPLES, 6, replace=False))
        values[clicks] += 20
        (folder / f"r{number}.numbers").write_text("\n".join(f"{value:.4f}" for value in values))
        lines += [f"r{number} click {click}.0" for click in clicks]
        progress(number + 1, recordings)
    (folder / "clicks.lines").write_text("\n".join(lines) + "\n")
