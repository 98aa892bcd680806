"""Tasks of Label Studio (JSON): labels of time series, or of sound, to be corrected there.

One file holds all recordings, a task each. Events are written as predictions, which Label Studio
shows for correction, with the labels of a ``TimeSeriesLabels`` control; an instant is a point.
Corrected events are read from an export: the annotations of a task, or its predictions if it has no
annotations. Times are seconds, as in a time column of seconds without a ``timeFormat``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.atomic_files import atomic
from bdl.formats.events.annotation_format import Annotation, AnnotationFormat, rows_by_recording
from bdl.formats.files import existing
from bdl.plain_data import parse_json
from bdl.recording import Recordings

_LABELS = ("timeserieslabels", "labels")  # of time series, and of sound


class LabelStudioTasks(AnnotationFormat):
    """Tasks of Label Studio with predictions or annotations.

    Parameters
    ----------
    url
        Where Label Studio finds the file of a recording, with ``{recording}`` for its id; the
        task's data have it under ``csv``.
    from_name
        Name of the tag ``TimeSeriesLabels`` in the labelling configuration.
    to_name
        Name of the tag ``TimeSeries`` in the labelling configuration.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "tasks.json"
    >>> events = Events.of("a", ["x:onset", "x:offset"], [1.0, 2.5], score=[0.5, 0.5])
    >>> LabelStudioTasks().write(events, file)
    >>> [task] = json.loads(file.read_text())
    >>> task["data"]
    {'recording': 'a', 'csv': 'a.csv'}
    >>> task["predictions"][0]["result"][0]["value"]
    {'start': 1.0, 'end': 2.5, 'instant': False, 'timeserieslabels': ['x']}
    >>> LabelStudioTasks().read(file).time.tolist()
    [1.0, 2.5]
    """

    kind: Literal["label-studio"] = "label-studio"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)
    url: str = "{recording}.csv"
    from_name: str = "label"
    to_name: str = "ts"

    def annotations(self, path: Path) -> Iterator[Annotation]:
        """The labels of a file of tasks."""
        file = existing(path)
        tasks = parse_json(file.read_bytes(), file)
        if not isinstance(tasks, list):
            raise InputError(f"{file}: a list of tasks expected, got {type(tasks).__name__}")
        for number, task in enumerate(tasks):
            where = f"{file}: task {number}"
            if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
                raise InputError(f"{where}: a task with 'data' expected")
            id = _recording(task["data"], where)
            for place, region in enumerate(_regions(task, where)):
                yield from _annotations(id, region, f"{where}, region {place}")

    def write(self, events: Events, path: Path, recordings: Recordings | None = None) -> None:
        """Write a file of tasks; recordings without events have an empty prediction."""
        tasks = []
        for id, rows in rows_by_recording(events, self.intervals, recordings).items():
            prediction: dict[str, Any] = {"model_version": "bdl"}
            if scores := [row.score for row in rows if row.score is not None]:
                prediction["score"] = max(scores)
            prediction["result"] = [self._region(row, place) for place, row in enumerate(rows)]
            data = {"recording": id, "csv": self.url.replace("{recording}", id)}
            tasks.append({"data": data, "predictions": [prediction]})
        with atomic(path) as temporary:
            temporary.write_text(json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", "utf-8")

    def _region(self, row: Annotation, place: int) -> dict[str, Any]:
        value = {"start": row.start, "end": row.end, "instant": row.start == row.end}
        region: dict[str, Any] = {
            "id": f"{place}",
            "from_name": self.from_name,
            "to_name": self.to_name,
            "type": _LABELS[0],
            "value": {**value, _LABELS[0]: [row.label]},
        }
        if row.score is not None:
            # An interval has two scores, a region one: that of the end goes with its notes.
            region |= {"score": row.score, "meta": {"end_score": row.end_score}}
        return region


def _recording(data: Mapping[str, Any], where: str) -> str:
    """The id that the data name, or the stem of the file that they refer to."""
    named = data.get("recording")
    if isinstance(named, str) and named:
        return named
    files = [value for value in data.values() if isinstance(value, str) and Path(value).suffix]
    if len(files) != 1:
        raise InputError(
            f"{where}: its data expected to have 'recording' or the name of one file, got "
            f"{', '.join(data) or 'nothing'}"
        )
    return Path(files[0]).stem


def _regions(task: Mapping[str, Any], where: str) -> Sequence[Any]:
    """The regions of the first annotation that was not skipped, otherwise of a prediction."""
    for key in ("annotations", "predictions"):
        for version in task.get(key) or ():
            if not isinstance(version, dict) or not isinstance(version.get("result"), list):
                raise InputError(f"{where}: {key} with a list 'result' expected")
            if not version.get("was_cancelled"):
                return list(version["result"])
    return ()


def _annotations(id: str, region: Any, where: str) -> Iterator[Annotation]:
    """One row per label of a region; regions without labels of time are skipped."""
    if not isinstance(region, dict) or region.get("type") not in _LABELS:
        return
    value = region.get("value")
    labels = value.get(region["type"]) if isinstance(value, dict) else None
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise InputError(f"{where}: a value with a list {region['type']!r} expected")
    start, end = _number(value, "start", where), _number(value, "end", where)
    score, end_score = region.get("score"), None
    if score is not None:
        score = _number(region, "score", where)
        meta = region.get("meta")
        if isinstance(meta, dict) and meta.get("end_score") is not None:
            end_score = _number(meta, "end_score", where)
    for label in labels:
        yield Annotation(id, label, start, end, score, end_score)


def _number(values: Any, name: str, where: str) -> float:
    number = values.get(name)
    if isinstance(number, bool) or not isinstance(number, int | float) or abs(number) > 1e300:
        raise InputError(f"{where}: {name!r}: seconds or a score expected, got {number!r:.60}")
    return float(number)
