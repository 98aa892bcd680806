"""The rules of event AP, word for word, over plain lists; slow and obviously right.

A truth is (recording, event, time); a detection is (recording, event, time, score).
"""

from __future__ import annotations

import math
import sys

Truth = tuple[str, str, float]
Detection = tuple[str, str, float, float]


def take_in_order(detections: list[Detection]) -> list[Detection]:
    """By decreasing score, then time, then input; a missing score or time drops a detection."""
    kept = [d for d in detections if not (math.isnan(d[2]) or math.isnan(d[3]))]
    return sorted(kept, key=lambda d: (-d[3], d[2]))


def nearer(distance: float, other: float, at: float) -> bool:
    """Less by more than a billionth, and by more than four units in the last place of the time."""
    return distance < other - (1e-9 * other + 4 * sys.float_info.epsilon * abs(at))


def match_one(times: list[float], ordered: list[Detection], tolerance: float) -> list[int | None]:
    """Truth taken by each detection of one recording and type, in order."""
    free = sorted(range(len(times)), key=lambda i: times[i])
    taken: list[int | None] = []
    for _, _, time, _ in ordered:
        best, best_distance = None, tolerance
        # The last free truth before the detection, then the first at or after it: of two equally
        # near, the earlier stays.
        sides = [[i for i in free if times[i] < time][-1:], [i for i in free if times[i] >= time]]
        for i in (*sides[0], *sides[1][:1]):
            if nearer(abs(time - times[i]), best_distance, time):
                best, best_distance = i, abs(time - times[i])
        if best is not None:
            free.remove(best)
        taken.append(best)
    return taken


def ranked_hits(
    truths: list[Truth], detections: list[Detection], event: str, tolerance: float, event_free: str
) -> tuple[list[tuple[float, bool]], int]:
    """(score, hit) of every scored detection of a type, and the number of its truths."""
    with_truth = {r for r, _, _ in truths}
    pooled = []
    for recording in sorted({d[0] for d in detections}):
        if recording not in with_truth and event_free == "ignore":
            continue
        ordered = take_in_order([d for d in detections if d[:2] == (recording, event)])
        times = [t for r, e, t in truths if (r, e) == (recording, event)]
        taken = match_one(times, ordered, tolerance)
        pooled += [(d[3], hit is not None) for d, hit in zip(ordered, taken, strict=True)]
    return pooled, sum(e == event for _, e, _ in truths)


def curve(pooled: list[tuple[float, bool]], truths: int) -> list[tuple[float, float, float, float]]:
    """(score, precision, recall, F1) at each distinct score, highest first."""
    points = []
    for threshold in sorted({score for score, _ in pooled}, reverse=True):
        chosen = [hit for score, hit in pooled if score >= threshold]
        hits = sum(chosen)
        f1 = 2 * hits / (len(chosen) + truths)
        points.append((threshold, hits / len(chosen), hits / truths, f1))
    return points


def figures(
    truths: list[Truth],
    detections: list[Detection],
    types: list[str],
    tolerances: list[float],
    event_free: str = "ignore",
) -> tuple[list[list[float]], list[list[float]]]:
    """AP and best F1 by type and tolerance; NaN for a type without truths."""
    precisions, f1s = [], []
    for event in types:
        ap_row, f1_row = [], []
        for tolerance in tolerances:
            pooled, count = ranked_hits(truths, detections, event, tolerance, event_free)
            if count == 0:
                ap_row.append(math.nan)
                f1_row.append(math.nan)
                continue
            points = curve(pooled, count)
            reached, area = 0.0, 0.0
            for _, precision, recall, _ in points:
                area += (recall - reached) * precision
                reached = recall
            ap_row.append(area)
            f1_row.append(max((f1 for *_, f1 in points), default=0.0))
        precisions.append(ap_row)
        f1s.append(f1_row)
    return precisions, f1s


def mean(table: list[list[float]]) -> float:
    """Over tolerances, then over types with truths."""
    rows = [sum(row) / len(row) for row in table if not math.isnan(row[0])]
    return sum(rows) / len(rows) if rows else math.nan


def resample(
    truths: list[Truth], detections: list[Detection], drawn: list[list[str]]
) -> tuple[list[Truth], list[Detection]]:
    """Recordings of the drawn clusters, with each copy under a name of its own."""
    new_truths: list[Truth] = []
    new_detections: list[Detection] = []
    for number, cluster in enumerate(drawn):
        for recording in cluster:
            name = f"{recording}#{number}"
            new_truths += [(name, e, t) for r, e, t in truths if r == recording]
            new_detections += [(name, e, t, s) for r, e, t, s in detections if r == recording]
    return new_truths, new_detections


def false_alarms(rows: list[tuple[str, str, float, bool]], onset: str, offset: str) -> int:
    """Alarms without a hit: rows are (recording, event, time, whether it is a hit).

    An onset and the offset that follows it next are one alarm, any other row is one of its own.
    """
    alarms = []
    ends = [row for row in rows if row[1] in (onset, offset)]
    alarms += [[row[3]] for row in rows if row not in ends]
    ends.sort(key=lambda row: (row[0], row[2], row[1] == onset))
    while ends:
        first = ends.pop(0)
        alarm = [first[3]]
        if first[1] == onset and ends and ends[0][:2] == (first[0], offset):
            alarm.append(ends.pop(0)[3])
        alarms.append(alarm)
    return sum(not any(alarm) for alarm in alarms)


def sensitivity_within(rows: list[tuple[float, bool]], truths: int, alarms: int) -> float:
    """Highest recall of the rows above any threshold that leaves at most so many false alarms."""
    best = 0.0
    for threshold, _ in rows:
        kept = [hit for score, hit in rows if score >= threshold]
        if kept.count(False) <= alarms:
            best = max(best, kept.count(True) / truths)
    return best


def largest_pairing(first: list[int], second: list[int], distance: int, inclusive: bool) -> int:
    """Most pairs, by trying every partner of the first time and leaving it out."""
    if not first:
        return 0
    best = largest_pairing(first[1:], second, distance, inclusive)
    for j, time in enumerate(second):
        apart = abs(first[0] - time)
        if apart < distance or (inclusive and apart == distance):
            rest = second[:j] + second[j + 1 :]
            best = max(best, 1 + largest_pairing(first[1:], rest, distance, inclusive))
    return best
