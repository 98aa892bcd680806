"""Settings proposed from the data fit the data."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from bdl.errors import InputError
from bdl.events import Events
from bdl.intervals import IntervalType
from bdl.proposal import propose
from bdl.recording import Recording, Recordings


def _wrist(days: int = 14) -> Recordings:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    values = np.zeros(days * 17280, np.float32)
    return Recordings.of([Recording.of(values, id="a", period=5.0, start=start)])


def _nights(days: int = 14) -> Events:
    onset = np.arange(days) * 86400.0 + 3600
    times = np.concatenate([onset, onset + 8 * 3600])
    return Events.of("a", np.repeat(["onset", "wakeup"], days), times)


def test_sleep_like_data_get_sleep_like_settings() -> None:
    proposal = propose(_wrist(), _nights())
    assert proposal.intervals.value == (IntervalType("interval", "onset", "wakeup"),)
    assert proposal.calendar.value is True
    assert max(proposal.tolerances.value) == pytest.approx(2000.0)
    assert proposal.stride.value * 5.0 <= min(proposal.tolerances.value)
    assert proposal.separation.value <= 43200.0


def test_every_setting_has_a_reason() -> None:
    proposal = propose(_wrist(), _nights())
    assert all(len(proposed.reason) > 10 for proposed in vars(proposal).values())


@pytest.mark.parametrize("samples", [12347, 600, 99999])
def test_no_window_is_longer_than_every_recording(samples: int) -> None:
    recordings = Recordings.of([Recording.of(np.zeros(samples), id="a", period=1.0)])
    proposal = propose(recordings, Events.of("a", "x", [7.0]), tolerances=[200.0])
    assert proposal.window.value <= recordings.infos[0].duration
    assert proposal.window.value >= 0.998 * recordings.infos[0].duration


@pytest.mark.parametrize("rate", [1, 7, 32, 100, 128, 250, 360, 1000.001])
@pytest.mark.parametrize("spacing", [0.7, 9.0, 500.0])
def test_the_reason_of_the_stride_is_true(rate: float, spacing: float) -> None:
    samples = int(max(600, 4 * spacing) * rate)
    recordings = Recordings.of([Recording.of(np.zeros(samples), id="a", period=1 / rate)])
    events = Events.of("a", "beat", np.arange(0.3, samples / rate, spacing))
    proposal = propose(recordings, events)
    finest, width = min(proposal.tolerances.value), proposal.stride.value / rate
    assert finest >= 2 / rate * (1 - 1e-5)
    assert width <= finest / 2 * (1 + 1e-5)
    crowded = np.sqrt(2e-3) * spacing < width
    assert ("two 'beat' events may share it" in proposal.stride.reason) == crowded
    given = propose(recordings, events, (0.5 / rate, 100.0))
    assert "it is more than half the finest tolerance of" in given.stride.reason


def test_coarse_annotations_spread_the_target() -> None:
    quick = Recordings.of([Recording.of(np.zeros(60000), id="a", period=0.01)])
    coarse = propose(quick, Events.of("a", "beat", np.arange(1.0, 590.0, 1.0)))
    assert coarse.sigma.value == 0.5
    jittered = np.arange(1.0, 590.0, 1.0) + 0.0137
    fine = propose(quick, Events.of("a", "beat", jittered))
    assert fine.sigma.value == min(fine.tolerances.value)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match=r"names b, the recordings are a; .*--column"):
        propose(_wrist(), Events.of("b", "onset", [1.0]))
    mixed = Recordings.of(
        [Recording.of(np.zeros(9), id=i, period=p) for i, p in (("a", 1.0), ("b", 2.0))]
    )
    with pytest.raises(InputError, match="different sampling periods"):
        propose(mixed, Events.of("a", "x", [1.0]))
