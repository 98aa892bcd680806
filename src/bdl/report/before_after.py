"""The scores of a detector before and after fine-tuning, on the same held-out recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bdl.errors import some
from bdl.evaluation.matching import EventFree
from bdl.events import Events
from bdl.recording import Recordings
from bdl.report.content import Content, System

if TYPE_CHECKING:
    from bdl.detector import Detector


def before_and_after(
    before: Detector,
    after: Detector,
    recordings: Recordings,
    events: Events,
    *,
    event_free: EventFree = "ignore",
) -> Content:
    """A report on a detector and its fine-tuned version, in held-out recordings."""
    systems = []
    for name, detector in (("after", after), ("before", before)):
        densities = {density.recording: density for density in detector.densities(recordings)}
        systems.append(System(name, detector.detect(recordings), densities))
    return Content(
        title="Before and after fine-tuning",
        truth=events.select(recordings=recordings.ids),
        systems=tuple(systems),
        tolerances=after.model_.tolerances,
        types=after.model_.types,
        event_free=event_free,
        recordings=recordings,
        note=f"Held-out recordings: {some(recordings.ids, most=20)}. Fine-tuning has not seen "
        "them. If the training before it has, both scores are too high.",
    )
