"""The page in a real browser: what it counts, how it zooms, and who can use it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bdl import Density, Events, Recording, Recordings
from bdl.evaluation.operating_points import operating_points
from bdl.report import Content, System

pytestmark = pytest.mark.slow
Opened = Callable[..., Any]
HOURS = "() => [bdl.view.from / 3600, bdl.view.to / 3600]"
FOCUS = "() => document.activeElement.id || document.activeElement.tagName"
OUTPUTS = ("kept", "hits", "missed", "false", "precision", "recall", "f1", "alarms")
CONTROLS = {"search", "system", "type", "tolerance", "threshold", "slider", "recording", "channel"}
BUTTONS = {"plot", "previous", "next", "whole", "closer", "wider", "earlier", "later", "error"}


TYPE_THRESHOLD = """(value) => {
    const field = document.getElementById("threshold");
    field.value = value;
    field.dispatchEvent(new Event("input"));
}"""


def shown(page: Any) -> dict[str, str]:
    read = "(names) => names.map((name) => document.getElementById('out-' + name).textContent)"
    return dict(zip(OUTPUTS, page.evaluate(read, OUTPUTS), strict=True))


def expected(content: Content, system: int, type: int, k: int, threshold: float) -> dict[str, str]:
    """What the page must show: the figures that ``bdl score --threshold`` prints."""
    durations = {id: hours * 3600 for id, hours in content.hours.items()}
    matches = replace(content.matches[system], durations=durations or None)
    table = operating_points(matches, threshold)
    figures = table[("all", *matches.types)[type]][content.tolerances[k]].to_dict()
    names = ("precision", "recall", "F1", "false_alarms_per_day")
    rates = ["–" if figures[name] is None else f"{figures[name]:.3f}" for name in names]
    if figures[names[-1]] is not None and figures[names[-1]] >= 10:
        rates[-1] = f"{figures[names[-1]]:.{1 if figures[names[-1]] < 1000 else 0}f}"
    counts = [str(figures[name]) for name in ("detections", "hits", "missed", "false")]
    return dict(zip(OUTPUTS, [*counts, *rates], strict=True))


def choose(page: Any, system: int, type: int, tolerance: int) -> None:
    for name, value in (("system", system), ("type", type), ("tolerance", tolerance)):
        page.select_option(f"#{name}", str(value))


def settle(page: Any) -> None:
    """Wait until what was asked for is drawn."""
    page.wait_for_timeout(50)
    page.wait_for_function("() => !bdl.plot.frame")


def same(got: dict[str, str], wanted: dict[str, str]) -> bool:
    """Equal, but for the last digit of a rate that lies between two roundings."""
    return all(
        got[name] == wanted[name]
        or ("–" not in (got[name], wanted[name])
            and "." in got[name] and abs(float(got[name]) - float(wanted[name]))
            < 1.1 * 10.0 ** -len(got[name].partition(".")[2]))
        for name in wanted
    )  # fmt: skip


def test_threshold_field_gives_the_scores_of_bdl_score(open_page: Opened, content: Content) -> None:
    page = open_page(content)
    for system, type, k in itertools.product(range(2), range(3), range(3)):
        choose(page, system, type, k)
        for threshold in (-1.0, 0.0, 0.13, 0.5, 0.505, 0.97, 1.5):
            page.evaluate(TYPE_THRESHOLD, str(threshold))
            assert same(shown(page), expected(content, system, type, k, threshold))
    page.fill("#threshold", "0.5")
    assert same(shown(page), expected(content, 1, 2, 2, 0.5))


def test_slider_gives_the_figures_of_its_threshold(open_page: Opened, content: Content) -> None:
    page = open_page(content)
    choose(page, 1, 2, 1)
    kept = []
    for place in (0, 1, 250, 500, 750, 999, 1000):
        page.locator("#slider").evaluate(
            "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", place
        )
        threshold = float(page.input_value("#threshold"))
        assert same(shown(page), expected(content, 1, 2, 1, threshold))
        assert page.get_attribute("#slider", "aria-valuetext") == f"threshold {threshold:g}"
        kept.append(int(shown(page)["kept"]))
    assert kept == sorted(kept, reverse=True)
    assert kept[0] == int((content.matches[1].detections[:, 1]).sum())
    assert kept[-1] == 0


def test_the_page_begins_at_the_best_f1_of_the_middle_tolerance(
    open_page: Opened, content: Content
) -> None:
    page = open_page(content)
    best = float(content.matches[0].best_f1().threshold[:, 1].min())
    assert page.input_value("#tolerance") == "1"
    assert same(shown(page), expected(content, 0, 0, 1, best))


def test_an_empty_threshold_keeps_everything(open_page: Opened, content: Content) -> None:
    page = open_page(content)
    page.fill("#threshold", "")
    assert shown(page)["kept"] == str(len(content.matches[0].score))


def test_mouse_and_keys_move_through_the_recording(open_page: Opened, content: Content) -> None:
    page = open_page(content)
    assert page.evaluate(HOURS) == [0, 24]
    page.locator("#plot").scroll_into_view_if_needed()
    box = page.locator("#plot").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 1 + page.evaluate("() => bdl.plot.x(6 * 3600)"), middle)
    before = page.evaluate("() => scrollY")
    page.mouse.wheel(0, 20)  # the wheel alone scrolls the page
    page.wait_for_function("(y) => scrollY > y", arg=before)
    assert page.evaluate(HOURS) == [0, 24]
    page.mouse.wheel(0, -20)
    page.wait_for_function("(y) => scrollY === y", arg=before)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    page.wait_for_function("() => bdl.view.to < 86400")
    low, high = page.evaluate(HOURS)
    assert low + (high - low) / 4 == pytest.approx(6, abs=0.05)
    page.mouse.down()
    page.mouse.move(box["x"] + 1 + page.evaluate("() => bdl.plot.left"), middle, steps=5)
    page.mouse.up()
    assert page.evaluate(HOURS)[0] == pytest.approx(6, abs=0.05)
    page.focus("#plot")
    for key, wanted in (("0", [0, 24]), ("+", [6, 18]), ("ArrowRight", [9, 21]), ("-", [0, 24]),
                        ("+", [6, 18]), ("Home", [0, 12]), ("End", [12, 24])):  # fmt: skip
        page.evaluate("() => { bdl.cursor = null; }")
        page.keyboard.press(key)
        assert page.evaluate(HOURS) == pytest.approx(wanted, abs=1e-6)


def test_a_pixel_shows_the_extremes_of_its_samples(open_page: Opened, content: Content) -> None:
    page = open_page(content)
    values = content.recordings["rec00"].values[:, 0]
    read = """([from, to, width]) => {
        const low = new Float32Array(width), high = new Float32Array(width);
        bdl.signals.columns(0, from, to, width, low, high);
        return [[...low], [...high]];
    }"""
    step = np.ptp(values) / 254
    for first, samples, width in ((0, 17_280, 540), (64, 1_280, 320), (4_100, 100, 100)):
        # Times between two samples, so that a column holds the same samples on both sides.
        span = [(first + 1e-6) * 5.0, (first + samples + 1e-6) * 5.0, width]
        low, high = page.evaluate(read, span)
        columns = values[first : first + samples].reshape(width, -1)
        assert np.abs(low - columns.min(axis=1)).max() <= step
        assert np.abs(high - columns.max(axis=1)).max() <= step


def test_a_mark_says_what_it_is(open_page: Opened, content: Content) -> None:
    page = open_page(content)
    page.fill("#threshold", "0")
    settle(page)
    page.locator("#plot").scroll_into_view_if_needed()
    box = page.locator("#plot").bounding_box()
    marks = page.evaluate("() => bdl.events.detections.map(({ time }) => bdl.plot.x(time))")
    assert len(marks) == 24
    page.mouse.move(box["x"] + 1 + marks[3], box["y"] + 30)
    page.wait_for_function("() => document.getElementById('status').textContent.includes('score')")


def test_buttons_zoom_and_move_within_the_recording(open_page: Opened, content: Content) -> None:
    page = open_page(content)
    for button, low, high in (
        ("closer", 6, 18), ("closer", 9, 15), ("later", 12, 18), ("later", 15, 21),
        ("later", 18, 24), ("later", 18, 24), ("earlier", 15, 21), ("wider", 12, 24),
        ("wider", 0, 24), ("earlier", 0, 24),
    ):  # fmt: skip
        page.click(f"#{button}")
        settle(page)
        assert page.evaluate(HOURS) == pytest.approx([low, high], abs=1e-9)
    assert page.text_content("#shown") == "0:00:00 to 24:00:00"


def test_next_error_walks_through_what_is_missed_or_false(
    open_page: Opened, content: Content
) -> None:
    page = open_page(content)
    choose(page, 0, 0, 2)
    page.fill("#threshold", "0.5")
    matches = content.matches[0]
    first = matches.recordings.index("rec01")
    page.select_option("#recording", str(first))
    rows, truths = zip(*(matches.hits(name, 900.0) for name in matches.types), strict=True)
    good = np.concatenate(rows)[matches.score[np.concatenate(rows)] >= 0.5]
    mine = (matches.recording == first) & (matches.score >= 0.5)
    mine[good] = False
    hit = np.concatenate([t[matches.score[r] >= 0.5] for r, t in zip(rows, truths, strict=True)])
    missed = np.setdiff1d(np.arange(len(matches.truth_time)), hit)
    of = np.repeat(np.tile(np.arange(4), 2), np.diff(matches.truth_start))
    wrong = np.sort(np.append(matches.time[mine], matches.truth_time[missed][of[missed] == first]))
    assert len(wrong) > 3
    for at in [*wrong, wrong[0]]:
        page.click("#error")
        settle(page)
        low, high = page.evaluate(HOURS)
        assert low * 3600 - 1 <= at <= high * 3600 + 1
        assert high - low == pytest.approx(2.0)


def test_ranking_and_steps_choose_the_recording(open_page: Opened, content: Content) -> None:
    page = open_page(content)
    button = page.locator("button[data-recording]").first
    button.click()
    assert page.locator("#recording option:checked").text_content() == button.text_content()
    page.select_option("#recording", "0")
    page.click("#previous")
    assert page.input_value("#recording") == "3"
    page.click("#next")
    assert page.input_value("#recording") == "0"
    assert page.evaluate("() => bdl.info.channels") == ["angle", "move"]
    page.select_option("#channel", "move")
    page.wait_for_function("() => bdl.info.channels.length === 1")
    assert page.evaluate("() => bdl.info.channels") == ["move"]


def test_search_narrows_the_choice_of_recordings(
    open_page: Opened, make_content: Callable[..., Content]
) -> None:
    page = open_page(make_content(recordings=30, signals=False, densities=False))
    assert page.locator("#recording option").count() == 30
    page.fill("#search", "REC2")
    names = page.locator("#recording option").all_text_contents()
    assert names == [f"rec2{i}" for i in range(10)]
    settle(page)
    page.click("#next")
    assert page.locator("#recording option:checked").text_content() == "rec21"
    page.fill("#search", "nothing like it")
    assert page.locator("#recording option").count() == 0
    page.click("#next")
    button = page.locator("button[data-recording]").first
    button.click()
    assert page.input_value("#search") == ""
    assert page.locator("#recording option:checked").text_content() == button.text_content()


def test_tool_buttons_and_legend_do_not_overlap(open_page: Opened, content: Content) -> None:
    page = open_page(content)
    for id in ("plot-pr", "plot-ap"):
        page.locator(f"#{id}").scroll_into_view_if_needed()
        frame = page.locator(f"#{id}").bounding_box()
        page.mouse.move(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
        page.wait_for_timeout(300)
        boxes = [page.locator(f"#{id} {part}").bounding_box() for part in (".legend", ".modebar")]
        assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"] or (
            boxes[1]["x"] >= boxes[0]["x"] + boxes[0]["width"]
        )


def test_every_control_is_reached_by_keyboard_and_lets_go(
    open_page: Opened, content: Content
) -> None:
    page = open_page(content)
    seen: list[str] = []
    for _ in range(120):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("() => document.activeElement.id || document.activeElement.tagName")
        )
        if seen[-1] == "BODY":
            break
    assert seen[-1] == "BODY"  # the end of the page: nothing has kept the focus
    assert set(seen) >= CONTROLS | BUTTONS
    assert page.evaluate("() => document.querySelector('.skip').getAttribute('href')") == "#main"
    page.focus("#slider")
    before = int(shown(page)["kept"])
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    assert int(shown(page)["kept"]) < before
    page.focus("#closer")
    page.keyboard.press("Enter")
    settle(page)
    assert page.evaluate(HOURS) == pytest.approx([6, 18])


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_axe_finds_nothing_serious(
    open_page: Opened, content: Content, width: int, height: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(content, width=width, height=height)
    violations = axe.run(page).response["violations"]
    grave = [
        violation for violation in violations if violation["impact"] in ("serious", "critical")
    ]
    assert [(violation["id"], violation["nodes"][0]["html"][:200]) for violation in grave] == []


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_a_page_of_many_systems_and_a_protocol(
    open_page: Opened, make_content: Callable[..., Content], width: int, height: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    content = make_content(
        systems=7, note="What to know first.", training="Means over folds.",
        protocol="name: mine\n" + "a long line " * 30,
    )  # fmt: skip
    page = open_page(content, width=width, height=height)
    page.click("summary")
    assert page.is_visible("pre")
    assert page.is_visible("text=Means over folds.")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    # However many lines the legends have, figures keep room to draw in.
    drawn = (
        "() => [...document.querySelectorAll('.figures .plot')].map((e) => e._fullLayout._size.h)"
    )
    assert min(page.evaluate(drawn)) > 120
    grave = [
        violation["id"]
        for violation in axe.run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert grave == []


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844), (320, 640)])
def test_nothing_runs_out_of_the_page_sideways(
    open_page: Opened, make_content: Callable[..., Content], width: int, height: int
) -> None:
    content = make_content(ids="participant {:04d} of a study with a rather long name".format)
    page = open_page(content, width=width, height=height)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_a_finger_on_a_figure_scrolls_the_page(open_page: Opened, content: Content) -> None:
    page = open_page(content, width=390, height=844, has_touch=True, is_mobile=True)
    assert page.evaluate("() => document.getElementById('plot-ap')._fullLayout.dragmode") is False
    assert page.locator("#plot").evaluate("(e) => getComputedStyle(e).touchAction") == "pan-y"


def test_days_have_an_actogram_that_leads_to_the_place(
    open_page: Opened, make_content: Callable[..., Content]
) -> None:
    content = make_content(days=3.0, recordings=2, systems=1)
    start = datetime(2024, 3, 8, 18, tzinfo=timezone(timedelta(hours=-5)))
    dated = [replace(content.recordings[id], info=replace(content.recordings[id].info, start=start))
             for id in content.recordings.ids]  # fmt: skip
    page = open_page(replace(content, recordings=Recordings.of(dated)))
    page.wait_for_function("() => document.getElementById('actogram').dataset.rows === '4'")
    ink = """() => {
        const canvas = document.getElementById("actogram");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, i) => i % 4 === 0 && value < 90).length;
    }"""
    assert page.evaluate(ink) > 1000
    single = page.evaluate("() => document.getElementById('actogram').toDataURL()")
    page.locator("#actogram").scroll_into_view_if_needed()
    box = page.locator("#actogram").bounding_box()
    # The middle of the first row, from noon to noon, is midnight: six hours after the start.
    page.mouse.click(box["x"] + 106 + 0.5 * (box["width"] - 106), box["y"] + 30)
    assert sum(page.evaluate(HOURS)) / 2 == pytest.approx(6, abs=0.1)
    assert "00:0" in page.text_content("#status") or "23:5" in page.text_content("#status")
    page.check("#double")
    page.wait_for_function(
        "(before) => document.getElementById('actogram').toDataURL() !== before", arg=single
    )
    page.click("#actogram-button")
    assert not page.is_visible("#actogram")


def test_a_thousand_recordings_are_searched_and_shown(
    open_page: Opened, make_content: Callable[..., Content]
) -> None:
    content = make_content(
        recordings=1000, days=0.25, events=2, systems=1, replicates=0, ids="rec{:04d}".format
    )
    page = open_page(content)
    assert page.locator("#recording option").count() == 1000
    page.fill("#search", "c0777")
    page.wait_for_function("() => bdl.info.id === 'rec0777'")
    assert page.evaluate("() => bdl.events.labels.length") == 4
    # Only what is shown is ever inflated.
    assert page.evaluate("() => bdl.signals.samples") >= 500


def test_print_shows_whole_tables_and_no_controls(
    open_page: Opened, content: Content, tmp_path: Path
) -> None:
    page = open_page(content)
    page.emulate_media(media="print")
    assert not page.is_visible(".controls")
    assert not page.is_visible("nav")
    assert page.is_visible("text=Recordings, most errors first")
    assert page.is_visible("#chosen")
    assert page.text_content("#chosen").startswith(
        "System 0, events: all, tolerance 300 s, threshold"
    )
    cut = "() => [...document.querySelectorAll('.scroll')].filter((e) => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1).length"  # noqa: E501
    assert page.evaluate(cut) == 0
    widths = "() => [...document.querySelectorAll('.plot')].map((e) => e._fullLayout.width)"
    before = page.evaluate(widths)
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(300)
    page.set_viewport_size({"width": 718, "height": 1000})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 718
    page.set_viewport_size({"width": 1280, "height": 900})
    assert page.evaluate(widths) == [660] * 7  # within an A4 page and its margins
    page.emulate_media(media="screen")
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    page.wait_for_timeout(300)
    assert page.evaluate(widths) == before
    page.pdf(path=str(tmp_path / "report.pdf"))
    assert (tmp_path / "report.pdf").stat().st_size > 20_000


def test_hostile_names_are_shown_and_not_run(
    open_page: Opened, make_content: Callable[..., Content]
) -> None:
    bad = "</script><img src=x onerror=alert(1)><a href='https://example.org'>x</a><!--<script>"
    page = open_page(
        make_content(title=bad, ids=lambda i: f"{bad}{i}", names=lambda i: f"{bad}{i}",
                     types=(bad, "b"), provenance={bad: bad})
    )  # fmt: skip
    assert page.title() == bad
    assert page.text_content("h1") == bad
    assert page.locator("#recording option").first.text_content() == f"{bad}0"
    assert page.locator("a[href*='example.org']").count() == 0
    assert page.locator("img").count() == 0
    names = page.locator("#plot-ap .legendtext").all_text_contents()
    assert names == [f"{bad}0", f"{bad}1"]


def test_only_tables_and_a_system_that_finds_nothing(open_page: Opened) -> None:
    truth = Events.of("a", "beat", [5.0, 9.0])
    systems = (
        System("none", Events.empty(scored=True)),
        System("all", Events.of("a", "beat", [5.5], score=[-2.0])),
    )
    content = Content("t", truth, systems, (2.0,))
    page = open_page(content)
    assert shown(page)["missed"] == "2"
    page.select_option("#system", "1")
    page.fill("#threshold", "-2")
    assert shown(page) == expected(content, 1, 0, 0, -2.0)
    page.locator("#slider").evaluate(
        "(e) => { e.value = 1000; e.dispatchEvent(new Event('input')); }"
    )
    assert shown(page)["kept"] == "0"


def test_an_hour_at_256_hz_and_many_events_stay_fluid(open_page: Opened) -> None:
    rng = np.random.default_rng(0)
    samples, period = 921_600, 1 / 256
    values = rng.normal(size=(samples, 4)).astype(np.float32)
    recording = Recording.of(values, id="eeg", period=period, channels=("a", "b", "c", "d"))
    truth = Events.of("eeg", "spike", np.sort(rng.uniform(0, 3600, 5000)))
    detections = Events.of(
        "eeg", "spike", rng.uniform(0, 3600, 200_000), rng.uniform(0, 1, 200_000)
    )
    bins = samples // 8
    density = Density(
        "eeg", rng.gamma(0.2, 0.1, (bins, 1)).astype("f4"), ("spike",), period, 8, samples
    )
    content = Content(
        "Long", truth, (System("mine", detections, {"eeg": density}),), (0.1, 0.5),
        recordings=Recordings.of([recording]), replicates=0,
    )  # fmt: skip
    page = open_page(content)
    page.fill("#threshold", "0")
    drawn = "() => bdl.plot.drawn"
    for change in ("closer", "closer", "closer", "later", "earlier", "wider", "whole"):
        before = page.evaluate(drawn)
        page.click(f"#{change}")
        page.wait_for_function("(n) => bdl.plot.drawn > n", arg=before)
        # What is drawn follows the width of the plot, not the length of the recording.
        marks = (
            "() => bdl.plot.places.rails.reduce((n, rail) => n + bdl.plot.marks(rail).length, 0)"
        )
        assert page.evaluate(marks) <= 4 * 1280
    page.fill("#threshold", "0.99")
    settle(page)
    page.evaluate("() => bdl.look(1800, 1801)")
    settle(page)
    assert page.evaluate("() => bdl.plot.sparse(bdl.plot.curves()[0])")  # sample by sample
    assert page.evaluate("() => bdl.signals.step") == 1 / 256
