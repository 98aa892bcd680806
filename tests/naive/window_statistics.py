"""Window statistics by slicing, bin by bin."""

import numpy as np


def window_statistics(means, spreads, widths, *, causal):
    means, spreads = np.asarray(means, dtype=np.float64), np.asarray(spreads, dtype=np.float64)
    rows = []
    for b in range(len(means)):
        row = []
        for c in range(means.shape[1]):
            row += [means[b, c], spreads[b, c]]
            for width in widths:
                if causal:
                    recent = slice(max(b + 1 - width, 0), b + 1)
                    earlier = slice(max(b + 1 - 2 * width, 0), max(b + 1 - width, 0))
                    for statistic in (mean, std):
                        now = statistic(means[recent, c], spreads[recent, c])
                        row += [now, now - statistic(means[earlier, c], spreads[earlier, c])]
                else:
                    before, after = slice(max(b - width, 0), b), slice(b, b + width)
                    for statistic in (mean, std):
                        low = statistic(means[before, c], spreads[before, c])
                        high = statistic(means[after, c], spreads[after, c])
                        row += [low, high, high - low]
        rows.append(row)
    return np.array(rows)


def mean(means, spreads):
    return means.mean() if len(means) else np.nan


def std(means, spreads):
    """Of all samples: the spread of the bins' means, and the mean spread within bins."""
    return np.sqrt(means.var() + (spreads**2).mean()) if len(means) else np.nan
