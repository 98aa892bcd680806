"""Several folds' matches as one.

Detections of all parts are ranked together; hits keep their truths. Nothing is matched again,
since no detection can match a truth of another recording.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from bdl.errors import ConfigError, InputError
from bdl.evaluation.matches import LeftOut, Matches
from bdl.evaluation.ranking import rank


def pool(parts: list[Matches]) -> Matches:
    """The matches of all parts; see `Matches.pool`."""
    if not parts:
        raise InputError("nothing to pool: at least one set of matches expected")
    head = parts[0]
    for part in parts[1:]:
        for name in ("types", "tolerances", "event_free"):
            if getattr(part, name) != getattr(head, name):
                raise ConfigError(
                    f"only matches made alike can be pooled: {name} {getattr(head, name)} and "
                    f"{getattr(part, name)}"
                )
    names = sorted(name for part in parts for name in part.recordings)
    for one, other in pairwise(names):
        if one == other:
            raise InputError(
                f"recording {one!r} is in two of the pooled parts; folds must not overlap"
            )
    place = {name: code for code, name in enumerate(names)}
    types, width = len(head.types), len(head.tolerances)
    codes = [np.array([place[n] for n in p.recordings], dtype=np.int32) for p in parts]

    # Truths: each (type, recording) block moves as a whole.
    counts = np.zeros((types, len(names)), np.int64)
    for part, code in zip(parts, codes, strict=True):
        counts[:, code] = part.truths.T
    truth_start = np.append(0, np.cumsum(counts))
    truth_time = np.empty(truth_start[-1])
    truth_moves = []
    for part, code in zip(parts, codes, strict=True):
        blocks = (np.arange(types)[:, None] * len(names) + code[None, :]).ravel()
        shift = truth_start[blocks] - part.truth_start[:-1]
        move = np.arange(len(part.truth_time)) + np.repeat(shift, np.diff(part.truth_start))
        truth_time[move] = part.truth_time
        truth_moves.append(move)

    # Detections: ranked again, remembering where each one went.
    recording = np.concatenate([c[p.recording] for p, c in zip(parts, codes, strict=True)])
    kind = np.concatenate(
        [np.repeat(np.arange(types, dtype=np.int32), np.diff(p.start)) for p in parts]
    )
    time = np.concatenate([p.time for p in parts])
    score = np.concatenate([p.score for p in parts])
    order, start = rank(recording.astype(np.int32), kind, time, score, types)
    went = np.empty(len(order), np.int64)
    went[order] = np.arange(len(order))
    before = np.cumsum([0, *(len(p.time) for p in parts)])

    first = truth_start[:: len(names)]
    count = np.sum([p.count for p in parts], axis=0)
    row = np.zeros((width, len(truth_time)), np.int32)
    truth = np.zeros((width, len(truth_time)), np.int32)
    for j, type_name in enumerate(head.types):
        for k, tolerance in enumerate(head.tolerances):
            found = [part.hits(type_name, tolerance) for part in parts]
            rows = np.concatenate(
                [went[r + b] for (r, _), b in zip(found, before[:-1], strict=True)]
            )
            truths = np.concatenate([m[t] for (_, t), m in zip(found, truth_moves, strict=True)])
            by_rank = np.argsort(rows)
            place_of = slice(first[j], first[j] + count[j, k])
            row[k, place_of] = rows[by_rank]
            truth[k, place_of] = truths[by_rank]
    return Matches(
        recordings=tuple(names),
        types=head.types,
        tolerances=head.tolerances,
        event_free=head.event_free,
        start=start,
        recording=recording[order].astype(np.int32),
        time=time[order],
        score=score[order],
        truth_start=truth_start,
        truth_time=truth_time,
        count=count,
        row=row,
        truth=truth,
        left_out=replace(
            sum((p.left_out for p in parts), LeftOut()),
            # Folds share one truth table, and each has met all its rows without a time.
            truths_without_time=max(p.left_out.truths_without_time for p in parts),
        ),
    )
