"""Window statistics, compared with sliding windows: `python -m bench.window_statistics`."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from bdl.window_statistics import WindowStatistics
from bench.row import Row, best, table

BINS, CHANNELS = 20_000, 6
WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128)  # as in the encoder


def _sliding(means: np.ndarray, spreads: np.ndarray) -> np.ndarray:
    """Mean and standard deviation of every window before and after a bin, window by window."""
    bins, channels = means.shape
    squares = means**2 + spreads**2
    columns = [np.stack([means, spreads], axis=2)]
    for width in WIDTHS:
        edge = np.full((width, channels), np.nan)

        def windows(values: np.ndarray, width: int = width, edge: np.ndarray = edge) -> np.ndarray:
            return sliding_window_view(np.concatenate([edge, values, edge]), width, axis=0)

        average = np.nanmean(windows(means), axis=2)
        spread = np.sqrt(np.maximum(np.nanmean(windows(squares), axis=2) - average**2, 0))
        parts = []
        for statistic in (average, spread):
            before, after = statistic[:bins], statistic[width : width + bins]
            parts += [before, after, after - before]
        columns.append(np.stack(parts, axis=2))
    return np.concatenate(columns, axis=2).reshape(bins, -1)


def run() -> list[Row]:
    """All widths of boosted trees for a recording of six channels."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(BINS, CHANNELS)).astype(np.float32)
    spreads = rng.uniform(size=(BINS, CHANNELS)).astype(np.float32)

    def ours() -> np.ndarray:
        return WindowStatistics(means, spreads, WIDTHS).rows()

    def plain() -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return _sliding(means.astype(np.float64), spreads.astype(np.float64))

    rows = ours()
    np.testing.assert_allclose(rows[1:], plain()[1:], atol=1e-4)
    return [
        Row(
            f"window statistics, {BINS:,} bins x {CHANNELS}, {len(WIDTHS)} widths up to 128",
            best(ours),
            best(plain),
            limit=best(rows.copy),
            note="numpy's sliding windows; required 20; limit: one copy of the table",
        )
    ]


if __name__ == "__main__":
    print(table(run()))
