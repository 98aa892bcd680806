"""The review queue: places where labels and a model, or two annotators, do not agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bdl.frames import Tabular
from bdl.table_plots import Drawing

KINDS = {
    "unsupported": "a label where the model expects no event",
    "unlabelled": "an event that the model expects, or the other annotator has, without a label",
    "displaced": "a label and the model, or the other annotator, at different times",
    "uncertain": "a detection just below the threshold, without a label",
}


class Item(NamedTuple):
    """One place to look at; times are in seconds from the start of the recording."""

    kind: str  # one of `KINDS`
    recording: str
    event: str
    label: float | None  # time of the label, if there is one
    model: float | None  # time the model, or the other annotator, suggests, if any
    expected: float  # expected number of events: how likely it is that the labels are wrong here
    source: str = "model"  # what contradicts the label: the model, or the name of an annotator

    @property
    def key(self) -> str:
        """A name of the item that changes only if the labels or the model do."""
        return f"{self.kind}|{self.event}|{self.label}|{self.model}|{self.recording}"[:1000]

    @property
    def time(self) -> float:
        """Time of the label, or that of the model without a label."""
        at = self.label if self.label is not None else self.model
        assert at is not None
        return at


@dataclass(frozen=True, eq=False)
class ReviewQueue(Tabular):
    """Items by decreasing expected mass; can be shown as a table and converted to a data frame.

    Parameters
    ----------
    items
        The items; of equal mass by recording and time.

    Examples
    --------
    >>> item = Item("unsupported", "night1", "onset", 3600.0, None, 0.98)
    >>> ReviewQueue.of([item]).to_polars().columns
    ['kind', 'recording', 'event', 'label', 'model', 'expected', 'source']
    """

    drawing = Drawing("recording", "expected", by=("kind",), mode="markers")

    items: tuple[Item, ...]

    @classmethod
    def of(cls, items: Sequence[Item]) -> ReviewQueue:
        """The queue of some items, in its order."""
        return cls(tuple(sorted(items, key=lambda i: (-i.expected, i.recording, i.time, i.event))))

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name."""
        table: dict[str, Any] = {
            name: [getattr(item, name) for item in self.items] for name in Item._fields
        }
        for name in ("label", "model"):
            table[name] = [float("nan") if time is None else time for time in table[name]]
        return table

    def counts(self) -> dict[str, int]:
        """Number of items of each kind."""
        kinds = [item.kind for item in self.items]
        return {kind: kinds.count(kind) for kind in KINDS}

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __repr__(self) -> str:
        counts = "".join(f"\n  {kind:<12} {count:,}" for kind, count in self.counts().items())
        return f"ReviewQueue: {len(self):,} items{counts}"
