"""Tables of the report as HTML: complete without scripts, readable in print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import numpy as np

from bdl.evaluation import Matches, error_table


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, dense: bool = False
) -> str:
    """An HTML table."""
    kind = "scroll dense" if dense else "scroll"
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="{kind}" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{columns}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def cards(items: Iterable[tuple[str, str, str]]) -> str:
    """Large numbers with a name and a remark each."""
    parts = (
        f'<div><dt>{escape(name)}</dt><dd>{escape(value)} <span class="small">{escape(remark)}'
        "</span></dd></div>"
        for name, value, remark in items
    )
    return f'<dl class="cards">{"".join(parts)}</dl>'


def recordings(matches: Matches, tolerance: float, hours: Mapping[str, float]) -> str:
    """One row per recording, most missed events and false detections first."""
    # This table counts a detection that is early, late or a duplicate as a false detection.
    hits, early, late, missed, duplicate, false = error_table(matches, tolerance).counts.sum(1).T
    missed, false = missed + early + late, false + early + late + duplicate
    truths = hits + missed
    order = np.lexsort((matches.recordings, -(missed + false)))
    unit, per_hour = ("min", 60) if max(hours.values(), default=2.0) < 2 else ("h", 1)
    body = [
        [
            f'<button class="link" type="button" data-recording="{i}">{escape(name)}</button>',
            f"{hours[name] * per_hour:.1f}" if name in hours else "–",
            *(str(n[i]) for n in (truths, hits, missed, false)),
        ]
        for i, name in ((i, matches.recordings[i]) for i in order)
    ]
    caption = f"At the threshold of the best F1 of each event type, tolerance {tolerance:g} s"
    head = ["recording", f"length ({unit})", "events", "detected", "missed", "false detections"]
    return table(caption, head, body)


def provenance(items: Mapping[str, str], protocol: str = "") -> str:
    """Names and values unchanged, and the full text of a protocol."""
    rows = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in items.items())
    text = f"<details><summary>The protocol</summary><pre>{escape(protocol)}</pre></details>"
    return f'<dl class="provenance">{rows}</dl>' + (text if protocol else "")
