"""A session: the recordings, labels and outputs of a model that the application works on."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bdl.density import Density
from bdl.drawing import recording_facts
from bdl.errors import ConfigError
from bdl.events import Events
from bdl.explore.edited_labels import EditedLabels
from bdl.explore.index import TileIndex, density_pyramid
from bdl.explore.journal import Change, Entry, Review
from bdl.explore.table_state import TableState
from bdl.formats.densities import read_density, read_manifest
from bdl.intervals import IntervalType, likely_intervals
from bdl.recording import Recordings

if TYPE_CHECKING:
    from bdl.review import Item, ReviewQueue


class DensityFolder(Mapping[str, Density]):
    """Densities of a folder by recording, each read on access."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._entries = {entry.id: entry for entry in read_manifest(path).recordings}

    def __getitem__(self, id: str) -> Density:
        return read_density(self._path, self._entries[id])

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


@dataclass(eq=False)
class LabelSession:
    """Recordings, labels and outputs of a model, as `bdl.explore.open_session` opens them."""

    recordings: Recordings
    labels: EditedLabels
    others: Mapping[str, Events]  # of further annotators by name, compared with the labels
    detections: Events | None
    densities: Mapping[str, Density]
    intervals: Sequence[IntervalType] | None  # None: those that names of event types suggest
    tolerance: float  # seconds within which labels and model, or two annotators, agree
    threshold: float  # score from which a detection counts
    index: Path | None  # folder for the tiles of the recordings; None keeps them in memory
    table: TableState | None  # the table of labels on disk, to notice that it changes

    def __post_init__(self) -> None:
        self.tiles = TileIndex(self.recordings, self.index)
        self.lock = threading.RLock()
        self._queue_lock = threading.Lock()
        self._queue: ReviewQueue | None = None
        self.density_tiles = lru_cache(maxsize=4)(lambda id: density_pyramid(self.densities[id]))

    @property
    def queue(self) -> ReviewQueue:
        """Places where the model or another annotator contradicts the original labels."""
        from bdl.review import ReviewQueue, disagreements, review

        with self._queue_lock:
            if self._queue is not None:
                return self._queue
            items: list[Item] = []
            ids = [id for id in self.densities if id in self.recordings]
            if ids or self.detections is not None:
                items += review(
                    self.labels.original,
                    densities=(self.densities[id] for id in ids),
                    detections=self.detections,
                    tolerance=self.tolerance,
                    threshold=self.threshold,
                    recordings=self.recordings,
                )
            for name, other in self.others.items():
                items += disagreements(
                    self.labels.original, other, tolerance=self.tolerance, source=name
                )
            unique = {item.key: item for item in items if item.recording in self.recordings}
            self._queue = ReviewQueue.of([*unique.values()])
            return self._queue

    @cached_property
    def types(self) -> tuple[str, ...]:
        """All event types of labels, other annotators and model, sorted."""
        tables = [self.labels.original, *self.others.values()]
        if self.detections is not None:
            tables.append(self.detections)
        return tuple(sorted({name for table in tables for name in table.types}))

    @property
    def interval_types(self) -> tuple[IntervalType, ...]:
        """Interval types that are drawn as bands."""
        return tuple(likely_intervals(self.types) if self.intervals is None else self.intervals)

    def id(self, number: int) -> str:
        """Id of a recording by its place."""
        if not 0 <= number < len(self.recordings):
            raise ConfigError(f"no recording number {number} among {len(self.recordings)}")
        return self.recordings.ids[number]

    def recording_rows(self) -> list[dict[str, Any]]:
        """One row per recording for the list of the page."""
        labelled = self.labels.counts()
        detected = {} if self.detections is None else _counts(self.detections)
        return [
            {
                "id": info.id,
                "seconds": info.duration,
                "labels": labelled.get(info.id, 0),
                "detections": detected.get(info.id, 0),
            }
            for info in self.recordings.infos
        ]

    def doubts(self) -> dict[str, tuple[int, float]]:
        """Open items, and their expected mass, of each recording that has any."""
        from bdl.review import ReviewQueue
        from bdl.review.contradictions import by_recording

        return dict(by_recording(ReviewQueue(tuple(i for i in self.queue if self.is_open(i)))))

    def is_open(self, item: Item) -> bool:
        """Whether an item has no verdict yet."""
        return item.key not in self.labels.verdicts

    def details(self, id: str) -> dict[str, Any]:
        """The data that the page needs to draw a recording, except for tiles and events."""
        info = self.recordings.info(id)
        pyramid = self.tiles.open(id)
        drawn_density = None
        if id in self.densities:
            density, tiles = self.densities[id], self.density_tiles(id)
            drawn_density = {
                "types": list(density.types),
                "kind": density.kind,
                "step": density.stride * density.period,
                "first": (density.stride - 1) / 2 * density.period,
                "levels": tiles.levels,
                "bins": len(tiles.values),
                "highest": [float(v) for v in np.max(tiles.values, axis=0, initial=0.0)],
            }
        return {
            **recording_facts(info),
            "samples": info.samples,
            "channels": list(info.channels),
            "ranges": pyramid.spread(),
            "levels": pyramid.levels,
            "density": drawn_density,
        }

    def drawn_events(self, id: str) -> dict[str, Any]:
        """Labels, detections and events of other annotators of one recording, as columns."""
        layers = {name: table_columns(table, id) for name, table in self.others.items()}
        detected = None if self.detections is None else table_columns(self.detections, id)
        return {"labels": self.labels.columns(id), "detections": detected, "others": layers}

    def edit(
        self, changes: Sequence[Change], annotator: str = "", review: Review | None = None
    ) -> Entry:
        """Edit labels; see `EditedLabels.edit`."""
        with self.lock:
            return self.labels.edit(changes, annotator=annotator, review=review)

    def agreement_rows(self) -> list[dict[str, Any]]:
        """Agreement of all annotators at tolerances around that of the session."""
        if not self.others:
            return []
        from bdl.review import agreement

        tables = {"labels": self.labels.corrected(), **self.others}
        tolerances = [self.tolerance * factor for factor in (0.25, 0.5, 1.0, 2.0, 5.0)]
        return [
            {key: None if value != value else value for key, value in row.items()}
            for row in agreement(tables, tolerances).rows
        ]


def table_columns(events: Events, id: str) -> dict[str, Any]:
    """Events of one recording by time, as columns of plain values."""
    events = events.select(recordings=[id])
    order = np.argsort(events.time, kind="stable")
    columns: dict[str, Any] = {
        "types": list(events.types),
        "type": events.type_code[order].tolist(),
        "time": events.time[order].tolist(),
    }
    if events.score is not None:
        columns["score"] = np.nan_to_num(events.score[order]).tolist()
    return columns


def _counts(events: Events) -> dict[str, int]:
    sizes = np.bincount(events.recording_code, minlength=len(events.recordings)).tolist()
    return dict(zip(events.recordings, sizes, strict=True))
