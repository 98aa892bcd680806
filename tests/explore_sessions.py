"""Recordings, labels and outputs of a model to explore, and requests to a session."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np

from bdl import Density, Events, Recording, Recordings
from bdl.explore import LabelSession

TOKEN = "a-token-of-the-tests"


def make_recordings(
    count: int = 3,
    *,
    samples: int = 20_000,
    period: float = 0.02,
    channels: tuple[str, ...] = ("x", "y"),
    ids: Callable[[int], str] = "rec{:02d}".format,
    start: bool = True,
) -> Recordings:
    rng = np.random.default_rng(0)
    zone = timezone(timedelta(hours=1))
    listed = []
    for i in range(count):
        values = rng.normal(size=(samples, len(channels))).cumsum(axis=0).astype(np.float32) / 30
        values[samples // 3 : samples // 3 + 50] = np.nan
        begin = datetime(2024, 3, 1, 9, 30, tzinfo=zone) if start else None
        listed.append(
            Recording.of(values, id=ids(i), period=period, channels=channels, start=begin)
        )
    return Recordings.of(listed)


def make_events(recordings: Recordings, count: int = 5, seed: int = 1) -> Events:
    """Intervals of walking in every recording, on the sample clock."""
    rng = np.random.default_rng(seed)
    parts = []
    for info in recordings.infos:
        edges = np.sort(rng.choice(info.samples - 1, 2 * count, replace=False)) * info.period
        names = ["walk:onset", "walk:offset"] * count
        parts.append(Events.of(info.id, names, edges))
    return Events.concat(parts)


def make_model(recordings: Recordings, events: Events) -> tuple[Events, dict[str, Density]]:
    """Detections near the labels but for a few, with the densities they come from."""
    rng = np.random.default_rng(2)
    types = ("walk:offset", "walk:onset")
    densities, detections = {}, []
    for info in recordings.infos:
        bins = -(-info.samples // 10)
        values = rng.gamma(0.02, 0.01, (bins, 2)).astype(np.float32)
        for column, event in enumerate(types):
            times = events.times(info.id, event)
            shifted = times + rng.normal(size=len(times)) * 0.05
            keep = np.arange(len(times)) > 0  # the first label of each type has no mass
            extra = rng.uniform(0, info.duration, 1)
            for at in np.append(shifted[keep], extra):
                place = int(np.clip(at / (10 * info.period), 0, bins - 1))
                values[place, column] = 0.9
                detections.append(Events.of(info.id, event, [at], [0.9]))
        densities[info.id] = Density(info.id, values, types, info.period, 10, info.samples)
    return Events.concat(detections), densities


@dataclass
class Client:
    """Requests to a session, as a page or an intruder makes them."""

    port: int
    session: LabelSession

    def raw(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        given = {"Authorization": f"Bearer {TOKEN}"} if headers is None else headers
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, given)
        answer = connection.getresponse()
        content = answer.read()
        answer_headers = {name.lower(): value for name, value in answer.getheaders()}
        connection.close()
        return answer.status, answer_headers, content

    def get(self, path: str) -> Any:
        status, _, content = self.raw("GET", path)
        assert status == 200, content
        return json.loads(content)

    def post(self, path: str, body: Any, status: int = 200) -> Any:
        got, _, content = self.raw("POST", path, body)
        assert got == status, content
        return json.loads(content)
