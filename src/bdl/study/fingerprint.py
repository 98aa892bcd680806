"""Fingerprints: hashes of the data of a study.

A fingerprint has one hash of the values and one of the labels of each recording, so that a step
depends on exactly the recordings and labels it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from bdl.config import Value
from bdl.datasets import Benchmark
from bdl.runs.digest import digest, events_digest, recording_digest
from bdl.study.steps import StepData


class DataFingerprint(Value):
    """Hashes of the values and labels of each recording, and of settings and interval types."""

    recordings: dict[str, str]
    events: dict[str, str]
    settings: str

    @classmethod
    def of(
        cls,
        benchmark: Benchmark,
        progress: Callable[[int, int], None] = lambda done, total: None,
        known: Mapping[str, str] | None = None,
    ) -> DataFingerprint:
        """Read and hash everything, one recording at a time.

        ``progress`` is called with the numbers of hashed and of all recordings. ``known`` are the
        hashes of the values of all recordings, if they are known; then only labels are hashed.
        """
        total = len(benchmark.recordings)
        values = dict(known or {})
        if known is None:
            for number, recording in enumerate(benchmark.recordings):
                values[recording.id] = recording_digest(recording)
                progress(number + 1, total)
        labels = {
            id: events_digest(benchmark.events.select(recordings=[id]))
            for id in benchmark.recordings.ids
        }
        intervals = [[kind.name, kind.onset, kind.offset] for kind in benchmark.intervals]
        settings = digest([benchmark.settings.model_dump(mode="json"), intervals])
        return cls(recordings=values, events=labels, settings=settings)

    def part(self, ids: Iterable[str], *, labels: bool) -> StepData:
        """Recordings for a step, with the hash of their labels only if it may see them."""
        names = tuple(ids)
        return StepData(
            ids=names,
            signals=digest([self.recordings[id] for id in names]),
            labels=digest([self.events[id] for id in names]) if labels else None,
        )

    def changes(self, other: DataFingerprint) -> list[str]:
        """Descriptions of what differs, at most three.

        Examples
        --------
        >>> first, second = (
        ...     DataFingerprint(recordings={"a": values}, events={"a": "2"}, settings="3")
        ...     for values in ("1", "x")
        ... )
        >>> first.changes(second)
        ["the values of recording 'a'"]
        """
        changes = [] if self.settings == other.settings else ["the settings of the data set"]
        for content, hashes, others in (
            ("values", self.recordings, other.recordings),
            ("labels", self.events, other.events),
        ):
            all_ids = hashes.keys() | others.keys()
            ids = sorted(id for id in all_ids if hashes.get(id) != others.get(id))
            if ids:
                more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
                changes.append(f"the {content} of recording {ids[0]!r}{more}")
        return changes
