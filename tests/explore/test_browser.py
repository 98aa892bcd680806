"""The page in a real browser: open, pan, zoom, edit, undo, queue, export, by mouse and by keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bdl import Events, Recording, Recordings, read_events
from bdl.formats import prepare
from explore_sessions import TOKEN, Client, make_recordings

pytestmark = pytest.mark.slow
CHROMIUM = Path("/usr/bin/chromium")
BAD = "<img src=x onerror=alert(1)>"
VIEW = "() => [bdl.view.from, bdl.view.to]"
LABELS = "() => bdl.events.labels.map(({ event, time, comment }) => [event, time, comment])"
INK = """() => {
    const canvas = document.querySelector("#plot canvas");
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let dark = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && data[i] < 90) dark++;
    return dark;
}"""
Opened = Callable[..., Any]


@pytest.fixture
def browse() -> Iterator[Opened]:
    sync = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        pytest.skip("Chromium is not installed")
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])

        def show(client: Client, *, width: int = 1280, height: int = 860, **more: Any) -> Any:
            context = browser.new_context(viewport={"width": width, "height": height}, **more)
            page = context.new_page()
            problems: list[str] = []
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on(
                "request",
                lambda r: r.url.startswith(("http://127.0.0.1", "data:")) or problems.append(r.url),
            )
            page.problems = problems
            page.goto(f"http://127.0.0.1:{client.port}/?token={TOKEN}")
            page.wait_for_function("() => window.bdl?.events && bdl.plot.drawn > 1")
            return page

        yield show
        browser.close()


def settle(page: Any) -> None:
    page.wait_for_timeout(80)
    page.wait_for_function("() => !bdl.plot.frame && !bdl.signals.running")


def saved(client: Client) -> int:
    return len(client.session.labels.journal.entries)


def test_open_pan_and_zoom(served: Callable[..., Client], browse: Opened) -> None:
    page = browse(served(model=True))
    assert page.url.endswith("/")  # the token has left the address
    assert page.input_value("#type") == "walk:onset"
    settle(page)
    whole = page.evaluate(VIEW)
    assert whole == [0, 400]
    assert page.evaluate(INK) > 500
    box = page.locator("#plot").bounding_box()
    middle = (box["x"] + 1 + page.evaluate("() => bdl.plot.x(200)"), box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    page.mouse.wheel(0, -600)
    settle(page)
    low, high = page.evaluate(VIEW)
    assert high - low < 200
    assert (low + high) / 2 == pytest.approx(200, abs=2)
    page.mouse.down()
    page.mouse.move(middle[0] - 200, middle[1], steps=4)
    page.mouse.up()
    assert page.evaluate(VIEW)[0] > low
    page.focus("#plot")
    page.keyboard.press("0")
    assert page.evaluate(VIEW) == whole
    for key, wanted in (("+", [100, 300]), ("+", [150, 250]), ("ArrowRight", [175, 275]),
                        ("PageDown", [275, 375]), ("End", [300, 400]), ("Home", [0, 100]),
                        ("-", [0, 200])):  # fmt: skip
        page.keyboard.press(key)
        assert page.evaluate(VIEW) == pytest.approx(wanted, abs=1e-6)
    page.fill("#page", "0.5")
    page.keyboard.press("Enter")
    settle(page)
    assert page.evaluate(VIEW) == pytest.approx([0, 0.5])
    assert page.evaluate("() => [...bdl.signals.tiles.keys()].includes('0/0')")
    assert page.problems == []


def test_edit_with_the_mouse_and_undo(served: Callable[..., Client], browse: Opened) -> None:
    client = served()
    page = browse(client)
    page.fill("#annotator", "Ann")
    before = page.evaluate(LABELS)
    box = page.locator("#plot").bounding_box()

    def at(seconds: float) -> float:
        return float(box["x"] + 1 + page.evaluate("(t) => bdl.plot.x(t)", seconds))

    y = box["y"] + 200
    free = next(t for t in range(20, 380) if min(abs(t - b[1]) for b in before) > 12)
    page.select_option("#type", "walk:offset")
    page.mouse.dblclick(at(free), y)
    page.wait_for_function("(n) => bdl.events.labels.length === n", arg=len(before) + 1)
    [added] = [row for row in page.evaluate(LABELS) if row not in before]
    assert added[0] == "walk:offset"
    assert added[1] == pytest.approx(free, abs=0.5)
    assert round(added[1] / 0.02) * 0.02 == added[1]  # on a sample
    page.mouse.move(at(added[1]), y)
    page.mouse.down()
    page.mouse.move(at(added[1] + 5), y, steps=5)
    page.mouse.up()
    page.wait_for_function("() => bdl.labels.number === 2")
    [moved] = [row for row in page.evaluate(LABELS) if row not in before]
    assert moved[1] == pytest.approx(added[1] + 5, abs=0.5)
    page.click("#remove")
    page.wait_for_function("() => bdl.labels.number === 3")
    assert page.evaluate(LABELS) == before
    page.keyboard.down("Shift")
    page.mouse.move(at(free), y)
    page.mouse.down()
    page.mouse.move(at(free + 8), y, steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.wait_for_function("() => bdl.labels.number === 4")
    new = [row for row in page.evaluate(LABELS) if row not in before]
    assert [row[0] for row in new] == ["walk:onset", "walk:offset"]
    # The whole interval by its band in the rail of labels.
    page.mouse.move(at(free + 4), box["y"] + 8)
    page.mouse.down()
    page.mouse.move(at(free + 1), box["y"] + 8, steps=5)
    page.mouse.up()
    page.wait_for_function("() => bdl.labels.number === 5")
    shifted = [row for row in page.evaluate(LABELS) if row not in before]
    for old, now in zip(new, shifted, strict=True):
        assert now[1] == pytest.approx(old[1] - 3, abs=0.5)
    for number in range(6, 11):
        page.click("#undo")
        page.wait_for_function("(n) => bdl.labels.number === n", arg=number)
    assert page.evaluate(LABELS) == before
    assert page.is_disabled("#undo")
    for number in range(11, 16):
        page.keyboard.press("Control+y")
        page.wait_for_function("(n) => bdl.labels.number === n", arg=number)
    assert page.evaluate(LABELS) == sorted([*before, *shifted], key=lambda row: row[1])
    assert {entry.annotator for entry in client.session.labels.journal.entries} == {"Ann"}
    assert page.problems == []


def test_everything_by_keyboard_alone(served: Callable[..., Client], browse: Opened) -> None:
    client = served(model=True)
    page = browse(client)
    page.wait_for_selector("#review:not([hidden])")
    page.keyboard.press("s")
    page.wait_for_function("() => !document.getElementById('accept').disabled && bdl.events")
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("() => document.activeElement.id"))
    assert reached >= {"plot", "search", "sort", "type", "add", "export", "annotator",
                       "accept", "kind", "page", "help", "format", "snap"}  # fmt: skip
    before = page.evaluate(LABELS)
    page.focus("#plot")
    page.keyboard.press("n")
    page.keyboard.press(".")
    page.wait_for_function("() => bdl.labels.number === 1")
    moved = page.evaluate(LABELS)
    assert sum(row not in before for row in moved) == 1
    page.keyboard.press("c")
    page.keyboard.type("not sure")
    page.keyboard.press("Enter")
    page.wait_for_function("() => bdl.labels.number === 2")
    assert [row[2] for row in page.evaluate(LABELS)].count("not sure") == 1
    page.keyboard.press("Delete")
    page.wait_for_function("() => bdl.labels.number === 3")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    page.wait_for_function("() => bdl.labels.number === 4")
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    for _ in range(3):
        page.keyboard.press(">")
    page.keyboard.press("i")
    page.wait_for_function("() => bdl.labels.number === 5")
    assert len(page.evaluate(LABELS)) == len(before) - 1 + 1 + 2
    page.keyboard.press("t")
    page.wait_for_timeout(200)
    for _ in range(6):
        page.keyboard.press("u")
        page.wait_for_timeout(300)
    assert page.evaluate(LABELS) == before
    page.keyboard.press("?")
    assert page.is_visible("#keys")
    page.keyboard.press("Escape")
    assert not page.is_visible("#keys")
    page.keyboard.press("]")
    page.wait_for_function("() => bdl.info")
    page.click("#export")
    page.wait_for_function(
        "() => document.getElementById('status').textContent.includes('written')"
    )
    corrected = client.session.labels.journal.path.with_name("events.corrected.csv")
    assert len(read_events(corrected)) == 30
    assert page.problems == []


def test_the_queue_is_worked_through_with_one_key_each(
    served: Callable[..., Client], browse: Opened
) -> None:
    client = served(model=True)
    page = browse(client)
    page.wait_for_selector("#review:not([hidden])")
    queue = [*client.session.queue]
    assert page.text_content("#left") == f"{len(queue)} left"
    count = len(client.session.labels.corrected())
    page.keyboard.press("s")
    for number, item in enumerate(queue, start=1):
        page.wait_for_function(
            "(text) => document.getElementById('item').textContent.includes(text)", arg=item.kind
        )
        page.wait_for_function("() => bdl.info && bdl.events")
        assert page.evaluate("() => bdl.info.id") == item.recording
        low, high = page.evaluate(VIEW)
        assert low <= item.time <= high
        page.keyboard.press("r" if item.label is not None else "a")
        page.wait_for_function("(n) => bdl.labels.number === n", arg=number)
        count += 1 if item.label is None else -1
    assert page.text_content("#left") == "0 left"
    assert len(client.session.labels.corrected()) == count
    page.keyboard.press("u")
    page.wait_for_function("() => document.getElementById('left').textContent === '1 left'")
    assert page.problems == []


def test_a_second_window_sees_what_the_first_does(
    served: Callable[..., Client], browse: Opened
) -> None:
    client = served()
    first, second = browse(client), browse(client)
    before = second.evaluate(LABELS)
    first.focus("#plot")
    first.keyboard.press("n")
    first.keyboard.press("Delete")
    second.wait_for_function("(n) => bdl.events.labels.length === n", arg=len(before) - 1)
    # Both change the same label at once: the later one is refused and shows what there is.
    first.evaluate("() => { bdl.labels.poll = async () => {}; }")
    second.focus("#plot")
    second.keyboard.press("Home")
    for page in (first, second):
        page.evaluate("() => bdl.select([bdl.events.labels[0].id])")
    second.keyboard.press(".")
    second.wait_for_function("() => bdl.labels.number === 2")
    first.keyboard.press(",")
    first.wait_for_function(
        "() => document.getElementById('status').textContent.includes('changed meanwhile')"
    )
    assert saved(client) == 2
    there = second.evaluate(LABELS)
    first.wait_for_function("(t) => bdl.events.labels[0].time === t", arg=there[0][1])
    assert first.evaluate(LABELS) == there


def test_marks_and_signals_leave_the_names_free(
    served: Callable[..., Client], browse: Opened
) -> None:
    recordings = make_recordings(1, samples=2_000, start=False)
    labels = Events.of("rec00", ["walk:onset", "walk:offset"] * 2, [0.0, 0.1, 20.0, 39.9])
    page = browse(served(recordings, labels, model=True))
    page.fill("#page", "0.4")  # so close that samples are connected one by one
    page.keyboard.press("Enter")
    settle(page)
    assert page.evaluate("() => document.activeElement.id") == "plot"
    coloured = """() => {
        const { left, raster: { ratio }, canvas } = bdl.plot;
        const size = Math.floor((left - 2) * ratio);
        const data = canvas.getContext("2d").getImageData(0, 0, size, canvas.height).data;
        let found = 0;
        for (let i = 0; i < data.length; i += 4) found += Math.max(
            Math.abs(data[i] - data[i + 1]), Math.abs(data[i + 1] - data[i + 2])) > 60;
        return [left, found];
    }"""
    left, overlapping = page.evaluate(coloured)
    assert left > 30
    assert overlapping == 0
    assert page.problems == []


def test_detections_below_the_threshold_are_faint_and_make_no_interval(
    served: Callable[..., Client], browse: Opened
) -> None:
    recordings = make_recordings(1)
    names, times = ["walk:onset", "walk:offset"] * 2, [50.0, 60.0, 200.0, 210.0]
    detections = Events.of("rec00", names, times, [0.2, 0.1, 0.9, 0.8])
    page = browse(served(recordings, detections=detections))
    bands = page.evaluate("() => bdl.plot.intervals(bdl.events.detections)")
    assert [(band["start"], band["time"]) for band in bands] == [(200.0, 210.0)]
    faint = page.evaluate("() => bdl.events.detections.map(({ faint }) => faint ?? 1)")
    assert faint[1] < faint[0] < faint[2] == faint[3] == 1


def test_undo_leads_to_the_place_of_the_edit(served: Callable[..., Client], browse: Opened) -> None:
    page = browse(served())
    assert page.is_disabled("#remove")
    assert page.is_disabled("#comment")
    page.focus("#plot")
    page.keyboard.press("n")
    assert page.is_enabled("#remove")
    page.keyboard.press("Delete")
    page.wait_for_function("() => bdl.labels.number === 1")
    assert page.is_disabled("#remove")
    page.keyboard.press("]")
    page.wait_for_function("() => bdl.info?.id === 'rec01' && bdl.events")
    page.keyboard.press("u")
    page.wait_for_function(
        "() => bdl.info?.id === 'rec00' && document.getElementById('status').textContent"
        ".startsWith('undone: walk:')"
    )
    assert len(page.evaluate("() => [...bdl.selected]")) == 1


def test_another_annotator_is_named_in_the_queue(
    served: Callable[..., Client], browse: Opened
) -> None:
    recordings = make_recordings(1)
    labels = Events.of("rec00", "step", [50.0, 100.0])
    page = browse(served(recordings, labels, others={"Bob": Events.of("rec00", "step", [50.0])}))
    page.wait_for_selector("#review:not([hidden])")
    page.keyboard.press("s")
    page.wait_for_function("() => document.getElementById('item').textContent.includes('Bob')")
    page.click("#agreement-box summary")
    page.wait_for_selector("#agreement td")
    assert "Bob" in page.text_content("#agreement")


def test_hostile_ids_are_shown_and_not_run(served: Callable[..., Client], browse: Opened) -> None:
    recordings = make_recordings(3, ids=lambda i: ["../../x", BAD, "ok"][i])
    labels = Events.of(["../../x", BAD], [BAD, BAD], [5.0, 6.0])
    page = browse(served(recordings, labels))
    page.fill("#search", "img")
    assert page.locator("#list button").count() == 1
    page.click("#list button")
    page.wait_for_function("() => bdl.info?.id.startsWith('<img')")
    assert page.text_content("#title") == BAD
    page.click("#labels-box summary")
    page.wait_for_selector("#labels button")
    assert page.locator("img").count() == 0
    assert page.problems == []


@pytest.mark.parametrize(("width", "height"), [(1280, 860), (390, 844)])
def test_axe_finds_nothing_serious(
    served: Callable[..., Client], browse: Opened, width: int, height: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = browse(served(model=True), width=width, height=height, bypass_csp=True)
    for box in ("channels-box", "labels-box"):
        page.click(f"#{box} summary")
    page.keyboard.press("s")
    page.wait_for_timeout(300)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    grave = [
        (violation["id"], violation["nodes"][0]["html"][:200])
        for violation in axe.run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert grave == []


def nights() -> tuple[Recordings, Events]:
    zone = timezone(timedelta(hours=-5))
    samples = 4 * 17280
    values = np.random.default_rng(0).gamma(0.5, 0.05, (samples, 1)).astype(np.float32)
    start = datetime(2024, 3, 8, 15, 30, tzinfo=zone)
    recording = Recording.of(values, id="n", period=5.0, channels=["enmo"], start=start,
                             offset_changes=[(23_940, -4 * 3600)])  # fmt: skip
    onsets = np.array([8.0, 32.0, 55.5]) * 3600
    names = ["onset"] * 3 + ["wakeup"] * 3
    return Recordings.of([recording]), Events.of("n", names, np.append(onsets, onsets + 28800))


def test_the_actogram_leads_to_the_place(served: Callable[..., Client], browse: Opened) -> None:
    page = browse(served(*nights(), tolerance=600.0))
    page.click("#actogram-button")
    page.wait_for_function("() => document.getElementById('actogram').dataset.rows === '5'")
    box = page.locator("#actogram").bounding_box()
    left = 106
    # Three quarters of the first row, which is from noon to noon: six in the morning.
    page.mouse.click(box["x"] + left + 0.75 * (box["width"] - left), box["y"] + 30)
    settle(page)
    low, high = page.evaluate(VIEW)
    assert (low + high) / 2 == pytest.approx((6 + 24 - 15.5) * 3600, abs=200)
    assert high - low == pytest.approx(4 * 3600)
    assert "06:0" in page.text_content("#status") or "05:5" in page.text_content("#status")
    clock = "(t) => bdl.clock.full(t)"
    assert page.evaluate(clock, 33.24 * 3600) == "Sun 2024-03-10 00:44:24.000"
    assert page.evaluate(clock, 36 * 3600) == "Sun 2024-03-10 04:30:00.000"  # clocks went forward
    page.check("#double")
    page.select_option("#day", "0")
    page.wait_for_function("() => document.getElementById('actogram').dataset.rows === '5'")
    assert page.problems == []


def test_the_actogram_shows_activity_below_a_few_high_peaks(
    served: Callable[..., Client], browse: Opened
) -> None:
    recordings, events = nights()
    activity = recordings["n"].values[:, 0] / 10
    activity[::9000] = 8.0
    angle = np.sin(np.arange(len(activity)) / 500)
    info = recordings.infos[0]
    recording = Recording.of(
        np.stack([angle, activity], axis=1), id="n", period=5.0, channels=["angle", "enmo"],
        start=info.start,
    )  # fmt: skip
    page = browse(served(Recordings.of([recording]), events, tolerance=600.0))
    page.click("#actogram-button")
    settle(page)
    assert page.evaluate("() => document.getElementById('actogram-channel').value") == "1"
    # The second row is a whole day, 54 to 88 pixels below the top.
    inked = """() => {
        const canvas = document.getElementById("actogram"), context = canvas.getContext("2d");
        const data = context.getImageData(110, 54, canvas.width - 120, 28).data;
        let ink = 0;
        for (let i = 0; i < data.length; i += 4) ink += data[i] < 60;
        return ink / (data.length / 4);
    }"""
    assert page.evaluate(inked) > 0.15
    page.click("#channels-box summary")
    page.uncheck("#channels li:first-child input")
    settle(page)
    assert page.text_content("#actogram-channel") == "enmo"
    assert page.problems == []


def test_channels_gain_and_filters(served: Callable[..., Client], browse: Opened) -> None:
    names = tuple(f"EEG {i}" for i in range(20))
    recordings = make_recordings(1, channels=names, samples=8000, period=1 / 256)
    page = browse(served(recordings, Events.of("rec00", "spike", [3.0])))
    assert page.evaluate("() => bdl.shown.length") == 12
    page.click("#channels-box summary")
    page.uncheck("#channels li:nth-child(1) input")
    page.fill("#page", "10")
    page.keyboard.press("Enter")
    settle(page)
    before = page.evaluate(INK)
    page.fill("#high_pass", "2")
    page.keyboard.press("Enter")
    settle(page)
    assert "filtered for display" in page.text_content("#filter-note")
    assert page.evaluate(INK) != before
    page.fill("#high_pass", "900")
    page.keyboard.press("Enter")
    settle(page)
    note = page.text_content("#filter-note")
    assert note == "not used: high-pass, which must be below 128 Hz, half the sampling rate"
    assert page.evaluate(INK) == before  # drawn as it is
    assert page.evaluate("() => bdl.shown.length") == 11


@pytest.mark.parametrize("status", [400, None])
def test_signals_that_are_refused_are_not_asked_for_without_end(
    served: Callable[..., Client], browse: Opened, status: int | None
) -> None:
    page = browse(served())
    settle(page)
    asked: list[str] = []

    def refuse(route: Any) -> None:
        asked.append(route.request.url)
        if status is None:
            route.abort()
        else:
            route.fulfill(status=status, json={"error": "refused for a test"})

    page.route("**/tiles/**", refuse)
    page.fill("#page", "5")
    page.keyboard.press("Enter")
    page.wait_for_timeout(1000)
    assert 0 < len(asked) == len(set(asked))
    reason = "does not answer" if status is None else "refused for a test"
    assert reason in page.text_content("#status")


def test_fingers_pan_and_pinch(served: Callable[..., Client], browse: Opened) -> None:
    page = browse(served(), width=390, height=844, has_touch=True, is_mobile=True)
    box = page.locator("#plot").bounding_box()
    touch = page.context.new_cdp_session(page)

    def points(*xs: float) -> list[dict[str, float]]:
        return [{"x": box["x"] + x, "y": box["y"] + 150, "id": i} for i, x in enumerate(xs)]

    def send(kind: str, *xs: float) -> None:
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points(*xs)})

    send("touchStart", 150)
    send("touchStart", 150, 200)
    for spread in range(10, 100, 10):
        send("touchMove", 150 - spread, 200 + spread)
    send("touchEnd")
    settle(page)
    low, high = page.evaluate(VIEW)
    assert high - low < 200
    send("touchStart", 250)
    for x in range(240, 100, -20):
        send("touchMove", x)
    send("touchEnd")
    assert page.evaluate(VIEW)[0] > low


def test_a_changed_table_is_noticed(
    served: Callable[..., Client], browse: Opened, tmp_path: Path
) -> None:
    page = browse(served())
    assert not page.is_visible("#banner")
    (tmp_path / "events.csv").write_text("recording,event,time\n")
    page.wait_for_selector("#banner:not([hidden])")
    assert json.loads(page.evaluate("() => JSON.stringify(bdl.labels.number)")) == 0


def test_many_events_leave_the_signal_to_be_seen(
    served: Callable[..., Client], browse: Opened
) -> None:
    recordings = make_recordings(1)
    times = np.arange(0.1, 399.0, 0.25)
    page = browse(served(recordings, Events.of("rec00", "beat", times)))
    settle(page)
    signal = INK.replace("data[i] < 90", "data[i] === 0x33 && data[i + 1] === 0x42")
    many = page.evaluate(signal)
    page.evaluate("() => { bdl.events.labels = []; bdl.version++; bdl.plot.redraw(); }")
    settle(page)
    assert many == page.evaluate(signal) > 500
    assert page.problems == []


def test_a_verdict_is_only_given_on_what_is_in_view(
    served: Callable[..., Client], browse: Opened
) -> None:
    client = served(model=True)
    page = browse(client)
    page.wait_for_selector("#review:not([hidden])")
    first, second = [*client.session.queue][:2]
    page.keyboard.press("s")
    page.wait_for_function("(id) => bdl.info?.id === id && bdl.focus", arg=first.recording)
    page.keyboard.press("End")
    page.keyboard.press("r")  # leads back, and decides nothing
    page.wait_for_function(
        "() => document.getElementById('status').textContent.startsWith('back at the item')"
    )
    low, high = page.evaluate(VIEW)
    assert low <= first.time <= high
    assert saved(client) == 0
    page.keyboard.press("+")  # the width that is chosen here is that of the next items
    width = np.subtract(*page.evaluate(VIEW)[::-1])
    page.keyboard.press("r")
    page.wait_for_function("() => bdl.labels.number === 1")
    page.wait_for_function("(id) => bdl.info?.id === id && bdl.focus", arg=second.recording)
    assert np.subtract(*page.evaluate(VIEW)[::-1]) == pytest.approx(width)
    page.keyboard.press("u")  # leads back to the item, which can be decided again
    page.wait_for_function(
        "(id) => bdl.info?.id === id && document.getElementById('status').textContent.startsWith"
        "('undone')",
        arg=first.recording,
    )
    assert f"{first.event} in {first.recording}" in page.text_content("#item")
    assert page.problems == []


def test_an_item_can_be_decided_anew(served: Callable[..., Client], browse: Opened) -> None:
    client = served(model=True)
    page = browse(client)
    page.wait_for_selector("#review:not([hidden])")
    kinds = [item.kind for item in client.session.queue]
    count = len(client.session.labels.corrected())
    page.select_option("#kind", "unlabelled")
    page.focus("#plot")
    wanted = kinds.index("unlabelled")
    recording = [*client.session.queue][wanted].recording
    for number, (key, added) in enumerate((("a", 1), ("a", 1), ("r", 0), ("a", 1)), start=1):
        page.wait_for_function("(id) => bdl.info?.id === id && bdl.focus", arg=recording)
        page.keyboard.press(key)
        page.wait_for_function("(n) => bdl.labels.number === n", arg=number)
        assert len(client.session.labels.corrected()) == count + added
        page.wait_for_timeout(300)
        page.keyboard.press("d")
        page.wait_for_function("() => /decided/.test(document.getElementById('item').textContent)")
    assert page.problems == []


def test_keys_lead_on_from_a_recording_that_is_gone(
    served: Callable[..., Client], browse: Opened, tmp_path: Path
) -> None:
    store = prepare(make_recordings(3), tmp_path / "store")
    page = browse(served(store))
    settle(page)
    (tmp_path / "store" / "rec01.npy").unlink()
    page.keyboard.press("]")
    page.wait_for_selector("#message.error")
    assert page.text_content("#title") == "rec01"
    shown = "() => getComputedStyle(document.querySelector('#plot canvas')).opacity"
    assert page.evaluate(shown) == "0"  # what was drawn is of another recording
    page.keyboard.press("]")
    page.wait_for_function("() => bdl.info?.id === 'rec02'")
    assert page.evaluate(shown) == "1"
    assert page.problems == []


def test_the_list_is_one_stop_and_arrow_keys_go_through_it(
    served: Callable[..., Client], browse: Opened
) -> None:
    page = browse(served(make_recordings(40, samples=500)))
    settle(page)
    page.focus("#sort")
    page.keyboard.press("Tab")
    held = "() => document.activeElement.dataset.number ?? document.activeElement.id"
    assert page.evaluate(held) == "0"
    for key, wanted in (("ArrowDown", "1"), ("ArrowDown", "2"), ("ArrowUp", "1"), ("End", "39")):
        page.keyboard.press(key)
        assert page.evaluate(held) == wanted
    page.keyboard.press("Enter")
    page.wait_for_function("() => bdl.info?.id === 'rec39'")
    assert page.evaluate(held) == "39"
    page.keyboard.press("Tab")
    assert page.evaluate(held) == "earlier"
    assert page.problems == []


def test_on_a_phone_signals_and_verdicts_are_in_view_together(
    served: Callable[..., Client], browse: Opened
) -> None:
    page = browse(served(model=True), width=390, height=844, has_touch=True, is_mobile=True)
    page.wait_for_selector("#review:not([hidden])")
    page.tap("#skip")
    page.wait_for_function("() => bdl.info && bdl.focus")
    page.evaluate("() => scrollTo(0, 0)")
    for name in ("plot", "accept", "reject", "move"):
        box = page.locator(f"#{name}").bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 844, name
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert page.problems == []


def test_deleting_and_moving_are_told(served: Callable[..., Client], browse: Opened) -> None:
    page = browse(served())
    page.keyboard.press("n")
    page.keyboard.press("w")
    status = page.text_content("#status")
    assert status.startswith("selected: walk:onset at ")
    assert status.count("selected") == 1
    assert "; walk:offset at " in status
    page.keyboard.press("Delete")
    page.wait_for_function(
        "() => document.getElementById('status').textContent.startsWith('deleted: walk:onset at')"
    )
    assert page.problems == []
