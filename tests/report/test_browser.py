"""The page in a real browser: what it counts, how it zooms, and who can use it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bdl import Density, Events, Recording, Recordings
from bdl.evaluation.operating_point import operating_points
from bdl.report import Content, System

pytestmark = pytest.mark.slow
Opened = Callable[..., Any]
RANGE = "() => document.getElementById('plot-view')._fullLayout.xaxis.range"
FOCUS = "() => document.activeElement.id || document.activeElement.tagName"
OUTPUTS = ("kept", "hits", "missed", "false", "precision", "recall", "f1", "alarms")
CONTROLS = {"system", "type", "tolerance", "threshold", "slider", "recording", "channel"}
BUTTONS = {"previous", "next", "whole", "closer", "wider", "earlier", "later", "error"}


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
    page.wait_for_function("() => !document.getElementById('plot-view').dataset.pending")


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


def test_dragging_zooms_to_finer_points_and_back(open_page: Opened, content: Content) -> None:
    page = open_page(content)
    points = "() => document.getElementById('plot-view').data[0].x.filter((x) => {const r = document.getElementById('plot-view')._fullLayout.xaxis.range; return x >= r[0] && x <= r[1];}).length"  # noqa: E501
    step = "() => {const x = document.getElementById('plot-view').data[0].x; return (x[x.length - 1] - x[0]) / x.length;}"  # noqa: E501
    assert page.evaluate(RANGE) == [0, 24]
    coarse = page.evaluate(step)
    page.locator("#plot-view").scroll_into_view_if_needed()
    box = page.locator("#plot-view .nsewdrag").first.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.25, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=5)
    page.mouse.up()
    page.wait_for_function(f"() => ({RANGE})()[0] > 1")
    settle(page)
    low, high = page.evaluate(RANGE)
    assert (low, high) == pytest.approx((6, 12), abs=0.2)
    assert page.evaluate(step) < coarse / 2
    assert page.evaluate(points) > 500
    page.evaluate("() => Plotly.relayout('plot-view', {'xaxis.range': [7, 7.5]})")
    settle(page)
    assert page.evaluate(RANGE) == pytest.approx([7, 7.5])
    # Half an hour at 5 s: every sample is there.
    assert page.evaluate(points) == pytest.approx(360, abs=2)
    page.click("#whole")
    settle(page)
    assert page.evaluate(RANGE) == [0, 24]
    assert page.evaluate(step) == pytest.approx(coarse)


def test_buttons_zoom_and_move_within_the_recording(open_page: Opened, content: Content) -> None:
    page = open_page(content)
    for button, low, high in (
        ("closer", 6, 18), ("closer", 9, 15), ("later", 12, 18), ("later", 15, 21),
        ("later", 18, 24), ("later", 18, 24), ("earlier", 15, 21), ("wider", 12, 24),
        ("wider", 0, 24), ("earlier", 0, 24),
    ):  # fmt: skip
        page.click(f"#{button}")
        settle(page)
        assert page.evaluate(RANGE) == pytest.approx([low, high], abs=1e-9)
    assert page.text_content("#shown") == "0.00 to 24.00 hours"


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
        low, high = page.evaluate(RANGE)
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
    page.select_option("#channel", "1")
    settle(page)
    title = "() => document.getElementById('plot-view')._fullLayout.yaxis2.title.text"
    assert page.evaluate(title) == "move"


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
    assert page.evaluate(RANGE) == pytest.approx([6, 18])


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
    open_page: Opened, content: Content, width: int, height: int
) -> None:
    page = open_page(content, width=width, height=height)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_a_finger_on_a_figure_scrolls_the_page(open_page: Opened, content: Content) -> None:
    page = open_page(content, width=390, height=844, has_touch=True, is_mobile=True)
    for id in ("plot-view", "plot-ap"):
        mode = f"() => document.getElementById('{id}')._fullLayout.dragmode"
        assert page.evaluate(mode) is False


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
    drawn = "() => document.getElementById('plot-view').data.reduce((n, t) => n + t.x.length, 0)"
    for change in ("closer", "closer", "closer", "later", "earlier", "wider", "whole"):
        page.evaluate(
            "(id) => new Promise((done) => {"
            " document.getElementById('plot-view').once('plotly_afterplot', done);"
            " document.getElementById(id).click(); })",
            change,
        )
        # What is drawn follows the width of the plot, not the length of the recording.
        assert page.evaluate(drawn) < 30_000
    page.fill("#threshold", "0.99")
    settle(page)
    page.evaluate("() => Plotly.relayout('plot-view', {'xaxis.range': [30, 30 + 1 / 60]})")
    settle(page)
    first = "() => document.getElementById('plot-view').data[0].x.length"
    assert page.evaluate(first) == pytest.approx(256, abs=3)  # a second, sample by sample
