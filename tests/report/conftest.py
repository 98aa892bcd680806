"""Contents to report on, and a real browser to look at the page with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bdl import Density, Events, Recording, Recordings
from bdl.report import Content, System

CHROMIUM = Path("/usr/bin/chromium")
TYPES = ("onset", "wakeup")


def make_content(
    *,
    recordings: int = 4,
    days: float = 1.0,
    period: float = 5.0,
    stride: int = 10,
    events: int = 6,
    systems: int = 2,
    signals: bool = True,
    densities: bool = True,
    seed: int = 0,
    ids: Callable[[int], str] = "rec{:02d}".format,
    names: Callable[[int], str] = "System {}".format,
    types: tuple[str, ...] = TYPES,
    tolerances: tuple[float, ...] = (60.0, 300.0, 900.0),
    **more: Any,
) -> Content:
    """Random recordings, events, densities and detections: some near an event, some not."""
    rng = np.random.default_rng(seed)
    samples = int(days * 86400 / period)
    length = samples * period
    truth, detections, densities_of = [], [[] for _ in range(systems)], [{} for _ in range(systems)]
    listed = []
    for i in range(recordings):
        if signals:
            values = rng.normal(size=(samples, 2)).astype(np.float32)
            made = Recording.of(values, id=ids(i), period=period, channels=("angle", "move"))
            listed.append(made)
        for name in types:
            times = np.sort(rng.uniform(0, length, events))
            truth.append(Events.of(ids(i), name, times))
            for s in range(systems):
                near = times + rng.normal(size=events) * 200 * (s + 1)
                at = np.clip(np.append(near, rng.uniform(0, length, events)), 0, length - 1)
                # Two digits, so that equal scores are common.
                detections[s].append(
                    Events.of(ids(i), name, at, rng.uniform(0, 1, 2 * events).round(2))
                )
        if densities:
            bins = -(-samples // stride)
            for s in range(systems):
                values = rng.gamma(0.2, 0.05, (bins, len(types))).astype(np.float32)
                densities_of[s][ids(i)] = Density(ids(i), values, types, period, stride, samples)
    curves = {"loss": ([1.0, 2.0], [0.5, 0.2]), "mAP": ([2.0], [0.4])}
    parts = tuple(
        System(names(s), Events.concat(detections[s]), densities_of[s], curves)
        for s in range(systems)
    )
    options = {"title": "A test", "replicates": 50, "provenance": {"seed": str(seed)}, **more}
    return Content(
        truth=Events.concat(truth),
        systems=parts,
        tolerances=tolerances,
        recordings=Recordings.of(listed) if signals else None,
        **options,
    )


def embedded(html: str) -> dict[str, Any]:
    """The data inside a page."""
    match = re.search(r'<script id="report-data"[^>]*>(.*?)</script>', html, re.DOTALL)
    assert match is not None
    data: dict[str, Any] = json.loads(match[1])
    return data


@pytest.fixture(scope="session")
def content() -> Content:
    return make_content()


@pytest.fixture(name="make_content")
def make_content_fixture() -> Callable[..., Content]:
    return make_content


@pytest.fixture(name="embedded")
def embedded_fixture() -> Callable[[str], dict[str, Any]]:
    return embedded


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, without anything that would go to the network by itself."""
    if not CHROMIUM.exists():
        pytest.skip(f"no browser: {CHROMIUM} is absent")
    sync_api = pytest.importorskip("playwright.sync_api")
    quiet = ("background-networking", "component-update", "sync", "gpu")
    arguments = ["--no-sandbox", *(f"--disable-{what}" for what in quiet)]
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=arguments)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open a content's page; at the end, no console message and no outside request is allowed."""
    from bdl.report import write_report

    heard: list[str] = []
    pages = []

    def opened(content: Content, *, width: int = 1280, height: int = 900, **options: Any) -> Any:
        path = write_report(content, tmp_path / f"report{len(pages)}.html")
        page = browser.new_page(viewport={"width": width, "height": height}, **options)
        page.set_default_timeout(180_000)  # a busy machine is slow, not wrong
        pages.append(page)
        page.on("console", lambda message: heard.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: heard.append(f"error: {error}"))
        page.on(
            "request",
            lambda asked: (
                None
                if asked.url.startswith((path.as_uri(), "data:", "blob:"))
                else heard.append(f"request: {asked.url}")
            ),
        )
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready=true]")
        return page

    yield opened
    for page in pages:
        page.close()
    assert heard == []
