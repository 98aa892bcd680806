"""The page as a file: complete for every kind of content, small, and safe with any name."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bdl import Events, Recording, Recordings
from bdl.errors import InputError
from bdl.evaluation.curves import screening
from bdl.report import Content, System, render, write_report
from bdl.report.summary import summarise

HOSTILE = "</script><img src=x onerror=alert(1)><!--<script>\"'&${title}"
VOID = {"meta", "link", "input", "br", "img"}


class Reader(HTMLParser):
    """Elements with their attributes, text, and whether every element is closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text.append(data)


def read(html: str) -> Reader:
    reader = Reader(html)
    assert reader.open == []
    ids = [attrs["id"] for _, attrs in reader.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    return reader


VARIANTS: dict[str, dict[str, Any]] = {
    "two systems": {},
    "one recording": {"recordings": 1},
    "one system": {"systems": 1},
    "one type": {"types": ("beat",)},
    "one tolerance": {"tolerances": (60.0,)},
    "no recordings": {"signals": False},
    "no densities": {"densities": False},
    "only tables": {"signals": False, "densities": False},
    "no intervals": {"replicates": 0},
    "event-free": {"event_free": "count"},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_content_makes_a_whole_page(
    make_content: Callable[..., Content], embedded: Callable[[str], Any], name: str
) -> None:
    content = make_content(**VARIANTS[name])
    html = render(content)
    read(html)
    data = embedded(html)
    assert ("counts" in data["figures"]) == any(s.densities for s in content.systems)
    assert {"loss", "progress"} <= set(data["figures"])
    assert ("alarms" in data["figures"]) == (content.recordings is not None)
    assert "lag" not in data["figures"]
    assert [r["id"] for r in data["recordings"]] == list(content.matches[0].recordings)
    assert all(bool(r["signals"]) == (content.recordings is not None) for r in data["recordings"])
    score = f"{content.matches[0].mean_average_precision():.3f}"
    assert score in html


def test_false_alarms_and_lags_are_those_of_the_evaluation(
    make_content: Callable[..., Content], embedded: Callable[[str], Any]
) -> None:
    content = make_content(systems=4, replicates=0)
    lags = (0.0, 2.0, float("inf"), 2.0)
    systems = tuple(
        replace(system, method="b" if i == 3 else "a", lag=lag)
        for i, (system, lag) in enumerate(zip(content.systems, lags, strict=True))
    )
    content = replace(content, systems=systems)
    figures = embedded(render(content))["figures"]
    scores = [matches.mean_average_precision() for matches in content.matches]
    assert figures["lag"]["data"][0]["y"] == pytest.approx(scores[:3])
    assert figures["lag"]["data"][1]["y"] == pytest.approx(scores[3:])
    assert figures["lag"]["data"][1]["x"] == [1.0]
    trace = figures["alarms"]["data"][0]
    curve = screening(content.matches[0], content.matches[0].types[0], content.middle)
    for alarms, sensitivity in zip(trace["x"], trace["y"], strict=True):
        assert curve.sensitivity_at(alarms) == sensitivity


def test_nothing_on_the_page_is_from_outside_the_annotated_spans(
    make_content: Callable[..., Content], embedded: Callable[[str], Any]
) -> None:
    whole = make_content(days=2.0, replicates=0)
    assert whole.recordings is not None
    spans = {id: [(0.0, 50000.0), (100000.0, 130000.0)] for id in whole.recordings.ids}
    content = replace(whole, recordings=whole.recordings.annotate(spans))
    data = embedded(render(content))
    assert data["days"] == pytest.approx(4 * 80000 / 86400)
    time = whole.truth.time
    inside = (time < 50000) | ((time >= 100000) & (time < 130000))
    counts = data["figures"]["counts"]["data"][0]
    assert sum(counts["x"]) == inside.sum() < len(time)
    density = whole.systems[0].densities["rec00"]
    seen = (density.times < 50000) | ((density.times >= 100000) & (density.times < 130000))
    assert counts["y"][:2] == pytest.approx(density.values[seen].sum(axis=0).tolist())
    errors = sum(data["figures"]["timing"]["data"][0]["y"])
    assert errors == sum(len(content.matches[0].hits(name, 900.0)[0]) for name in whole.truth.types)


def test_without_two_clusters_there_is_no_interval(make_content: Callable[..., Content]) -> None:
    content = make_content(recordings=2)
    assert content.recordings is not None
    one_group = Recordings.of(
        [
            replace(recording, info=replace(recording.info, group="g"))
            for recording in content.recordings
        ]
    )
    row, other = summarise(replace(content, recordings=one_group))
    assert not row.ap["mAP"].has_interval
    assert other.difference is None
    row, other = summarise(replace(content, recordings=one_group, by="recording"))
    assert row.ap["mAP"].has_interval
    assert other.difference is not None


def test_a_system_that_detects_nothing(embedded: Callable[[str], Any]) -> None:
    nothing = System("none", Events.empty(scored=True))
    html = render(Content("t", Events.of("a", "beat", [5.0]), (nothing,), (2.0,)))
    read(html)
    assert embedded(html)["threshold"] == 0.0


def test_a_report_without_truth_says_why() -> None:
    system = System("mine", Events.of("a", "beat", [1.0], score=[1.0]))
    with pytest.raises(InputError, match="no events at all"):
        render(Content("t", Events.empty(), (system,), (2.0,)))


def test_names_from_outside_stay_text(
    make_content: Callable[..., Content], embedded: Callable[[str], Any]
) -> None:
    html = render(
        make_content(
            title=HOSTILE,
            ids=lambda i: f"{HOSTILE}{i}",
            names=lambda i: f"{HOSTILE}{i}",
            types=(HOSTILE, "b"),
            provenance={HOSTILE: HOSTILE},
        )
    )
    reader = read(html)
    assert not any(tag == "img" for tag, _ in reader.elements)
    assert sum(tag == "script" for tag, _ in reader.elements) == 3
    assert not any(name.startswith("on") for _, attrs in reader.elements for name in attrs)
    assert sum(text.strip() == HOSTILE for text in reader.text) >= 3  # title, heading, provenance
    data = embedded(html)
    assert data["recordings"][0]["id"] == f"{HOSTILE}0"
    assert HOSTILE in data["types"]


def test_recordings_are_sorted_by_errors(content: Content) -> None:
    reader = read(render(content))
    start = reader.text.index("false detections")
    rows = [t for t in reader.text[start + 1 :] if t.strip()]
    cells = rows[: 6 * 4]
    errors = [int(cells[6 * i + 4]) + int(cells[6 * i + 5]) for i in range(4)]
    assert errors == sorted(errors, reverse=True)
    assert sum(int(cells[6 * i + 2]) for i in range(4)) == len(content.truth)


def test_length_of_a_recording_without_signal_is_its_own(embedded: Callable[[str], Any]) -> None:
    truth = Events.of(["a", "b"], "beat", [3600.0, 36000.0])
    system = System("mine", Events.of("a", "beat", [7200.0], score=[1.0]))
    views = embedded(render(Content("t", truth, (system,), (2.0,))))["recordings"]
    assert [view["seconds"] for view in views] == pytest.approx([7200 * 1.02, 36000 * 1.02])


def test_writing_is_whole_or_nothing(content: Content, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("before")
    with pytest.raises(InputError):
        write_report(replace(content, truth=Events.empty()), target)
    assert target.read_text() == "before"
    assert write_report(content, target) == target
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_page_is_the_same_every_time(content: Content) -> None:
    assert render(content) == render(replace(content))


def test_channels_that_are_not_drawn_are_named(embedded: Callable[[str], Any]) -> None:
    names = tuple("abcdef")
    recordings = Recordings.of(
        [Recording.of(np.zeros((500, 6)), id="r", period=1.0, channels=names)]
    )
    system = System("mine", Events.of("r", "beat", [10.0], score=[1.0]))
    content = Content("t", Events.of("r", "beat", [10.0]), (system,), (2.0,), recordings=recordings)
    html = render(content)
    [view] = embedded(html)["recordings"]
    assert [curve["name"] for curve in view["signals"]] == ["a", "b", "c", "d"]
    assert view["undrawn"] == ["e", "f"]
    assert "1 recording, 8.33 min." in html
    assert "length (min)" in html


@pytest.mark.slow
def test_fifty_fortnights_stay_below_8_mb(
    make_content: Callable[..., Content], embedded: Callable[[str], Any]
) -> None:
    # Noise does not deflate: nothing real is larger.
    content = make_content(recordings=50, days=14.0, events=14, replicates=200)
    html = render(content)
    assert len(html.encode()) < 8_000_000
    view = embedded(html)["recordings"][0]
    assert len(view["signals"]) == 2
    assert len(view["densities"]) == 4
    packed = view["densities"][0]["y"]["data"]
    assert len(np.frombuffer(zlib.decompress(base64.b64decode(packed)), np.uint8)) > 5000
