"""Pairs of true and detected heart beats of a recording, as the program ``bxb`` of WFDB makes them.

Both are visited together, in order of time. The earlier one of the next event and the next
detection is paired with the other if they are at most ``window`` apart and there is no better pair:
the one after the other is not nearer to it, or has a still nearer partner of its own. Otherwise it
has no partner: an event is missed, a detection is false. Scores are not used. Distances are
compared up to rounding (`bdl.evaluation.rounding`).

Nothing before the end of the learning period counts. The first event after it may be paired with
the last detection before it, and a detection within ``window`` after it that is not paired with
the first event is left out, as it may belong to an earlier event.
"""

from __future__ import annotations

import math

from bdl.evaluation.rounding import is_nearer


def pair_beats(
    truths: list[float], detections: list[float], window: float, learning: float = 0.0
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Pairs of an event and a detection, missed events and false detections, by index.

    Times are in seconds, in order. The two of a pair are at most ``window`` seconds apart; the
    first ``learning`` seconds do not count.

    Examples
    --------
    >>> pair_beats([1.0, 2.0, 3.0], [1.1, 2.2, 3.0], 0.15)
    ([(0, 0), (2, 2)], [1], [1])
    """
    true = [*truths, math.inf, math.inf]
    detected = [*detections, math.inf, math.inf]
    start = learning if learning > 0 else -math.inf
    i = next(place for place, time in enumerate(true) if time >= start)
    j = next(place for place, time in enumerate(detected) if time >= start)
    pairs: list[tuple[int, int]] = []
    missed: list[int] = []
    false: list[int] = []
    if learning > 0:
        last = true[i] - detected[j - 1] if j else math.inf
        if _within(last, window, true[i]) and _less(last, _gap(true[i], detected[j]), true[i]):
            pairs.append((i, j - 1))
            i += 1
        elif _within(detected[j] - learning, window, learning) and (
            (true[i] == math.inf and detected[j + 1] > detected[j])
            or _less(_gap(true[i], detected[j + 1]), _gap(true[i], detected[j]), true[i])
        ):
            j += 1
    while true[i] < math.inf or detected[j] < math.inf:
        at, apart = min(true[i], detected[j]), _gap(true[i], detected[j])
        early = detected[j] < true[i] and _less(0.0, apart, at)  # the detection comes first
        # The one after, on the later side: is it nearer to the other, or to a partner of its own?
        rival = _gap(true[i], detected[j + 1]) if early else _gap(detected[j], true[i + 1])
        next_pair = _gap(true[i + 1], detected[j + 1])
        if _within(apart, window, at) and (_less(apart, rival, at) or _less(next_pair, rival, at)):
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif early:
            false.append(j)
            j += 1
        else:
            missed.append(i)
            i += 1
    return pairs, missed, false


def _gap(first: float, second: float) -> float:
    """Distance of two times; none is infinitely far from another, and from none."""
    return math.inf if math.inf in (first, second) else abs(first - second)


def _within(distance: float, window: float, at: float) -> bool:
    return distance < math.inf and not is_nearer(window, distance, at)


def _less(distance: float, other: float, at: float) -> bool:
    if other == math.inf:
        return distance < math.inf
    return bool(is_nearer(distance, other, at))
