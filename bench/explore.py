"""The explorer on a store of 1,000,000,000 numbers with 100,000 labels.

Eight channels of 125 million samples, in a sparse file of which one block in sixteen is noise, so
that it takes 250 MB of disk. The speed of the index is measured on noise in memory, since zeros are
faster. Requests go through HTTP to the program as a user starts it; frames are those of Chromium,
while the view moves in every frame.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from http.client import HTTPConnection
from pathlib import Path
from time import perf_counter, sleep
from urllib.parse import parse_qs, urlsplit

import numpy as np

from bdl import Events, RecordingInfo, Recordings, write_events
from bdl.explore.pyramid import TILE, build, level_sizes
from bdl.formats.recordings.store import MANIFEST, array_header, manifest_of
from bench.processes import processor_seconds
from bench.row import Row, best, table

SAMPLES, CHANNELS, EVENTS = 125_000_000, 8, 100_000
PERIOD = 1 / 256
CHROMIUM = Path("/usr/bin/chromium")
FRAMES = """(frames) => new Promise((done) => {
    const between = [], spent = [];
    let before = performance.now(), left = frames;
    const step = (now) => {
        between.push(now - before); before = now; spent.push(bdl.plot.spent);
        if (--left === 0) { done([between.slice(5), spent.slice(5)]); return; }
        bdl.pan(0.004);
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
})"""
DRAWN = """() => window.bdl?.events && bdl.plot.drawn && !bdl.signals.running
    && bdl.signals.tiles.size"""


def make(folder: Path) -> None:
    """A store, sparse on disk, and a table of labels."""
    names = tuple(f"channel {i}" for i in range(CHANNELS))
    info = RecordingInfo("long", SAMPLES, names, PERIOD)
    (folder / "store").mkdir()
    header = array_header(info)
    noise = np.random.default_rng(0).normal(size=(1 << 16, CHANNELS)).astype("<f4")
    with open(folder / "store" / "long.npy", "wb") as file:
        file.write(header)
        for row in range(0, SAMPLES - len(noise), 16 * len(noise)):
            file.seek(len(header) + row * CHANNELS * 4)
            file.write(noise.data)
        file.truncate(len(header) + SAMPLES * CHANNELS * 4)
    manifest = manifest_of(Recordings((info,), lambda _: noise))
    (folder / "store" / MANIFEST).write_text(json.dumps(manifest))
    times = np.sort(np.random.default_rng(1).choice(SAMPLES, EVENTS, replace=False)) * PERIOD
    write_events(Events.of("long", ["on", "off"] * (EVENTS // 2), times), folder / "events.csv")


class Program:
    """``bdl explore`` as a user starts it."""

    def __init__(self, folder: Path) -> None:
        words = ["--recordings", folder / "store", "--events", folder / "events.csv"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bdl", "explore", "--no-browser", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        parts = urlsplit(self.address)
        self.token = parse_qs(parts.query)["token"][0]
        self.connection = HTTPConnection("127.0.0.1", parts.port, timeout=60)

    def get(self, path: str) -> bytes:
        """The body of an answer."""
        self.connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return content

    def wait_for_index(self) -> None:
        """Wait until the recording is indexed."""
        while "indexing" in json.loads(self.get("/api/recordings/0")):
            sleep(0.2)


def tile_times(program: Program, count: int = 400) -> tuple[list[float], float]:
    """Seconds per answer, for tiles of random levels and places, and processor time per answer."""
    rng = np.random.default_rng(2)
    levels = json.loads(program.get("/api/recordings/0"))["levels"]
    times, used = [], processor_seconds(program.process.pid)
    for _ in range(count):
        level = int(rng.integers(0, levels))
        tiles = -(-SAMPLES // 4**level // TILE) or 1
        path = f"/api/recordings/0/tiles/{level}/{int(rng.integers(0, tiles))}"
        begin = perf_counter()
        program.get(path)
        times.append(perf_counter() - begin)
    return times, (processor_seconds(program.process.pid) - used) / count


def in_browser(program: Program) -> tuple[float, list[float], list[float], float]:
    """Seconds until the page has drawn; milliseconds while panning.

    These are between frames, per drawing, and processor time of the page's main thread per frame.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        begin = perf_counter()
        page.goto(program.address)
        page.wait_for_function(DRAWN)
        opened = perf_counter() - begin
        page.evaluate("() => bdl.center(bdl.info.seconds / 2, 3600)")
        page.wait_for_timeout(1000)
        metrics = page.context.new_cdp_session(page)
        metrics.send("Performance.enable", {"timeDomain": "threadTicks"})

        def used() -> float:
            listed = metrics.send("Performance.getMetrics")["metrics"]
            return next(float(m["value"]) for m in listed if m["name"] == "TaskDuration")

        before = used()
        between, spent = page.evaluate(FRAMES, 400)
        processor = 1e3 * (used() - before) / 400
        browser.close()
    return opened, between, spent, processor


def run() -> list[Row]:
    """Index, open, tiles and frames."""
    noise = np.random.default_rng(3).normal(size=(2_000_000, CHANNELS)).astype(np.float32)
    build([noise], *noise.shape)  # compiles
    ours = best(lambda: build([noise], *noise.shape))

    def numpy_levels() -> None:
        for scale in (16, 256, 4096):
            blocks = noise[: len(noise) // scale * scale].reshape(-1, scale, CHANNELS)
            np.nanmin(blocks, axis=1), np.nanmax(blocks, axis=1)

    plain = best(numpy_levels, repeats=1)
    share = sum(level_sizes(SAMPLES)) * 2 / SAMPLES
    scaled = SAMPLES / len(noise)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        begin = perf_counter()
        program = Program(folder)
        program.wait_for_index()
        indexed = perf_counter() - begin
        program.process.kill()
        program.process.wait()
        begin = perf_counter()
        program = Program(folder)
        program.wait_for_index()
        started = perf_counter() - begin
        try:
            tiles, processor = tile_times(program)
            opened, between, spent, frame = in_browser(program)
        finally:
            program.process.kill()
            program.process.wait()
        raw = np.load(folder / "store" / "long.npy", mmap_mode="r")
        part = 4**7 * TILE
        begin = perf_counter()
        block = raw[:part].reshape(-1, 4**7, CHANNELS)
        np.nanmin(block, axis=1), np.nanmax(block, axis=1)
        coarse = perf_counter() - begin
    p95 = [float(np.quantile(values, 0.95)) for values in (tiles, between, spent)]
    text = f"{SAMPLES * CHANNELS:,} numbers, {EVENTS:,} labels"
    speed = noise.size / ours / 1e6
    return [
        Row(
            "index of a store, noise in memory, scaled to a billion",
            ours * scaled,
            plain * scaled,
            note=f"{speed:.0f} million numbers per second; {share:.1%} of the data; "
            "plain: numpy's nanmin and nanmax per level",
        ),
        Row(
            "the same from the sparse file, with the start of the program", indexed, plain * scaled
        ),
        Row("start of the program until the recording can be drawn, indexed", started, indexed),
        Row("page opened and drawn in Chromium, indexed", opened, 1.0, note=f"{text}; plain: 1 s"),
        Row(
            "a tile through HTTP, p95",
            1e3 * p95[0],
            1e3 * coarse,
            5.0,
            unit="ms",
            note="random levels and places, all channels; plain: one coarse tile from the samples; "
            f"limit: goal of 5 ms; median {1e3 * float(np.median(tiles)):.2g} ms",
        ),
        Row("the same, processor time per tile", 1e3 * processor, 5.0, unit="ms"),
        Row(
            "between two frames while panning, p95",
            p95[1],
            1e3 / 60,
            unit="ms",
            note="Chromium without a GPU, which draws at most 60 frames per second (plain); "
            f"median {float(np.median(between)):.3g} ms",
        ),
        Row("the same, processor time of the page per frame", frame, 16.0, unit="ms"),
        Row(
            "drawing of a frame while panning, p95",
            p95[2],
            16.0,
            unit="ms",
            note=f"plain: goal of 16 ms; median {float(np.median(spent)):.3g} ms",
        ),
    ]


if __name__ == "__main__":
    print(table(run()))
