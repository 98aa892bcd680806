"""Statistics of windows of several widths around every bin, for models without a state.

For a width of ``w`` bins and a bin ``b``, the window *before* holds the bins ``[b - w, b)`` and the
window *after* the bins ``[b, b + w)``, both cut at the ends of the recording. Per channel and width
there are six numbers: the mean before, the mean after and their difference (after minus before),
then the same of the population standard deviation. A bin is given by the mean and the standard
deviation of its samples, and the statistics are those of all samples of the window (of bins with
equally many samples). In the causal form the recent window holds ``[b - w + 1, b + 1)`` and the
earlier one ``[b - 2 w + 1, b - w + 1)``, and there are four numbers: the mean of the recent window
and its difference to that of the earlier one, and the same of the standard deviation. A statistic
of an empty window is NaN.

Running sums are kept in double precision, so that the cost per bin does not depend on the widths.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bdl.arrays import Floats, Longs, Singles
from bdl.compiled import compiled
from bdl.errors import ConfigError

# Last bins (bins, channels, 2), and the running sums before each of them and after the last.
Carried = tuple[Singles, Floats]

CENTRED = ("mean before", "mean after", "mean step", "std before", "std after", "std step")
CAUSAL = ("recent mean", "mean step", "recent std", "std step")


class WindowStatistics:
    """Window statistics of one recording, computed for any range of its bins.

    Parameters
    ----------
    means, spreads
        Arrays (bins, channels): mean and standard deviation of the samples of each bin, finite.
    widths
        Window widths in bins, each at least 1.
    causal
        Whether statistics of a bin use no later bin.
    carried
        What `carry` returned for the bins before, if the recording comes in parts.

    Examples
    --------
    >>> means, spreads = np.array([[0.0], [2.0], [4.0]], np.float32), np.zeros((3, 1), np.float32)
    >>> WindowStatistics(means, spreads, (2,)).rows(2, 3).tolist()
    [[4.0, 0.0, 1.0, 4.0, 3.0, 1.0, 0.0, -1.0]]
    >>> WindowStatistics(means, spreads, (1,), causal=True).rows(2, 3).tolist()
    [[4.0, 0.0, 4.0, 2.0, 0.0, 0.0]]
    """

    def __init__(
        self,
        means: Singles,
        spreads: Singles,
        widths: Sequence[int],
        *,
        causal: bool = False,
        carried: Carried | None = None,
    ) -> None:
        if means.ndim != 2 or means.shape != spreads.shape:
            raise ConfigError(
                "means and spreads of one shape (bins, channels) expected, "
                f"got {means.shape} and {spreads.shape}"
            )
        if any(width < 1 for width in widths):
            raise ConfigError(f"widths of at least one bin expected, got {tuple(widths)}")
        bins = np.stack([means, spreads], axis=2).astype(np.float32)
        self.widths = np.array(widths, dtype=np.int64)
        self.causal = causal
        if carried is None:
            carried = bins[:0], np.zeros((1, bins.shape[1], 2))
        earlier, sums = carried
        self.first = len(earlier)
        self.bins = np.concatenate([earlier, bins])
        self._sums = np.concatenate([sums[:-1], _running_sums(bins, sums[-1])])

    @property
    def columns(self) -> int:
        """Number of columns of `rows`."""
        channels: int = self.bins.shape[1]
        return channels * statistics_per_channel(len(self.widths), causal=self.causal)

    def rows(self, first: int = 0, stop: int | None = None) -> Singles:
        """Statistics of the bins ``[first, stop)``, an array (bins, columns).

        Columns are grouped by channel: mean and spread of the bin, then statistics by width.
        """
        bins = len(self.bins) - self.first
        stop = bins if stop is None else min(stop, bins)
        table = np.empty((max(stop - first, 0), self.columns), dtype=np.float32)
        _fill(self.bins, self._sums, self.widths, self.first + first, self.causal, table)
        return table

    def carry(self) -> Carried:
        """Return what the statistics of later bins need, for the causal form.

        Examples
        --------
        >>> values, zeros = np.arange(9, dtype=np.float32)[:, None], np.zeros((9, 1), np.float32)
        >>> whole = WindowStatistics(values, zeros, (2,), causal=True)
        >>> part = WindowStatistics(values[:7], zeros[:7], (2,), causal=True)
        >>> rest = WindowStatistics(
        ...     values[7:], zeros[7:], (2,), causal=True, carried=part.carry()
        ... )
        >>> np.array_equal(rest.rows(), whole.rows(7))
        True
        """
        begin = max(len(self.bins) - 2 * int(self.widths.max()), 0)
        return self.bins[begin:], self._sums[begin:]


def statistics_per_channel(widths: int, *, causal: bool) -> int:
    """Numbers per channel: mean and spread of the bin, and the statistics of each width.

    >>> statistics_per_channel(2, causal=False)
    14
    """
    return 2 + widths * len(CAUSAL if causal else CENTRED)


@compiled
def _running_sums(bins: Singles, start: Floats) -> Floats:
    """Sums of means and of mean squares over all bins before each one: (bins + 1, channels, 2)."""
    sums = np.empty((len(bins) + 1, bins.shape[1], 2))
    sums[0] = start
    for b in range(len(bins)):
        for c in range(bins.shape[1]):
            mean, spread = np.float64(bins[b, c, 0]), np.float64(bins[b, c, 1])
            sums[b + 1, c, 0] = sums[b, c, 0] + mean
            sums[b + 1, c, 1] = sums[b, c, 1] + mean * mean + spread * spread
    return sums


@compiled
def _mean_and_spread(sums: Floats, channel: int, low: int, high: int) -> tuple[float, float]:
    """Of the bins ``[low, high)``; NaN if there are none."""
    if high <= low:
        return np.nan, np.nan
    mean = (sums[high, channel, 0] - sums[low, channel, 0]) / (high - low)
    square = (sums[high, channel, 1] - sums[low, channel, 1]) / (high - low)
    return mean, np.sqrt(max(square - mean * mean, 0.0))


@compiled
def _fill(
    bins: Singles, sums: Floats, widths: Longs, first: int, causal: bool, table: Singles
) -> None:
    """Fill the table by windows before and after the bin, or causal, one width before its end."""
    total, channels = bins.shape[:2]
    size = 4 if causal else 6
    per_channel = 2 + size * len(widths)
    for row in range(len(table)):
        b = first + row
        for c in range(channels):
            table[row, c * per_channel] = bins[b, c, 0]
            table[row, c * per_channel + 1] = bins[b, c, 1]
        for k in range(len(widths)):
            middle = max(b + 1 - widths[k], 0) if causal else b
            low = max(b + 1 - 2 * widths[k], 0) if causal else max(b - widths[k], 0)
            high = b + 1 if causal else min(b + widths[k], total)
            for c in range(channels):
                place = c * per_channel + 2 + size * k
                mean_before, spread_before = _mean_and_spread(sums, c, low, middle)
                mean_after, spread_after = _mean_and_spread(sums, c, middle, high)
                if causal:
                    table[row, place] = mean_after
                    table[row, place + 1] = mean_after - mean_before
                    table[row, place + 2] = spread_after
                    table[row, place + 3] = spread_after - spread_before
                else:
                    table[row, place] = mean_before
                    table[row, place + 1] = mean_after
                    table[row, place + 2] = mean_after - mean_before
                    table[row, place + 3] = spread_before
                    table[row, place + 4] = spread_after
                    table[row, place + 5] = spread_after - spread_before
