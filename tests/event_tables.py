"""Tables of events that hypothesis draws, for formats that are written and read back."""

from __future__ import annotations

from hypothesis import strategies as st

from bdl.events import Events

# Ids that can be file names; texts that a file of lines can hold in a quoted field.
ids = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), min_size=1).map(
    # Spaces around names are ignored when tables are read.
    lambda text: ("r" + text.replace("/", "_").replace("\\", "_")[:20]).strip()
)
labels = st.sampled_from(["sleep", "a,b", 'quo"te', "tab\there", "ütf", "n/a-not", "0"])
times = st.one_of(
    st.integers(0, 10**6).map(float),
    st.floats(0, 1e9, allow_nan=False, allow_subnormal=False).map(lambda t: t + 0.0),
)
scores = st.floats(-1e6, 1e6, allow_nan=False)


@st.composite
def point_events(draw: st.DrawFn, *, unit: float | None = None) -> Events:
    count = draw(st.integers(1, 12))
    pool = draw(st.lists(ids, min_size=1, max_size=3))
    recordings = draw(st.lists(st.sampled_from(pool), min_size=count, max_size=count))
    types = draw(st.lists(labels, min_size=count, max_size=count))
    if unit is None:
        at = draw(st.lists(times, min_size=count, max_size=count))
    else:
        at = [
            unit * n for n in draw(st.lists(st.integers(0, 10**7), min_size=count, max_size=count))
        ]
    score = draw(st.none() | st.lists(scores, min_size=count, max_size=count))
    return Events.of(recordings, types, at, score)


@st.composite
def interval_events(
    draw: st.DrawFn,
    *,
    labels: st.SearchStrategy[str] = labels,
    times: st.SearchStrategy[float] = times,
    digits: int | None = None,
    scored: bool | None = None,
) -> Events:
    """Points and intervals under different labels, times repeated now and then."""
    count = draw(st.integers(1, 8))
    pool = draw(st.lists(ids, min_size=1, max_size=3))
    scored = draw(st.booleans()) if scored is None else scored
    parts = []
    for _ in range(count):
        id = draw(st.sampled_from(pool))
        start = draw(times)
        score = [draw(scores), draw(scores)] if scored else None
        if draw(st.booleans()):
            end = start + draw(st.floats(1e-3, 1e5))
            end = end if digits is None else round(end, digits)
            names = ["walk:onset", "walk:offset"]
            parts.append(Events.of(id, names, [start, end], score))
        else:
            parts.append(Events.of(id, draw(labels), [start], score and score[:1]))
    return Events.concat(parts)
