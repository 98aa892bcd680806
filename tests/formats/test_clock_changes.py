"""Local times over changes of clocks: by an hour, by half an hour, and none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import InputError
from bdl.formats import read_recordings

# Zone and a UTC time shortly before clocks are set back or forward; Kolkata never sets them.
CHANGES = {
    "Berlin, autumn": ("Europe/Berlin", datetime(2024, 10, 26, 22, tzinfo=UTC)),
    "Berlin, spring": ("Europe/Berlin", datetime(2024, 3, 30, 22, tzinfo=UTC)),
    "New York, autumn": ("America/New_York", datetime(2024, 11, 3, 3, tzinfo=UTC)),
    "New York, spring": ("America/New_York", datetime(2024, 3, 10, 4, tzinfo=UTC)),
    "Lord Howe, autumn": ("Australia/Lord_Howe", datetime(2024, 4, 6, 12, tzinfo=UTC)),
    "Lord Howe, spring": ("Australia/Lord_Howe", datetime(2024, 10, 5, 12, tzinfo=UTC)),
    "Kolkata": ("Asia/Kolkata", datetime(2024, 3, 30, 22, tzinfo=UTC)),
}
changes = pytest.mark.parametrize("name", CHANGES)


def local_table(file: Path, zone: str, instants: list[datetime], form: str) -> Path:
    """A table as a device writes it whose clock is set: local times without an offset."""
    rows = [f"{at.astimezone(ZoneInfo(zone)).strftime(form)},{i}" for i, at in enumerate(instants)]
    file.write_text("\n".join(["Time,x", *rows]) + "\n")
    return file


def offsets_of(zone: str, instants: list[datetime]) -> list[float]:
    local = [at.astimezone(ZoneInfo(zone)).utcoffset() for at in instants]
    return [offset.total_seconds() for offset in local if offset is not None]


@changes
@pytest.mark.parametrize("seconds", [10, 60, 900])
@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"])
def test_a_zone_is_followed_over_its_changes(
    tmp_path: Path, name: str, seconds: int, form: str
) -> None:
    zone, begin = CHANGES[name]
    instants = [begin + timedelta(seconds=i * seconds) for i in range(10 * 3600 // seconds)]
    recordings = read_recordings(
        local_table(tmp_path / "night.csv", zone, instants, form), zone=zone
    )
    info = recordings.infos[0]
    assert (info.start, info.samples, info.period) == (begin, len(instants), seconds)
    local = [at.astimezone(ZoneInfo(zone)) for at in instants]
    hours, days = info.local_time(np.arange(info.samples))
    assert hours.tolist() == [at.hour for at in local]
    assert days.tolist() == [at.weekday() for at in local]
    np.testing.assert_array_equal(recordings["night"].values[:, 0], np.arange(len(instants)))


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from([*CHANGES]),
    first=st.integers(0, 599),
    steps=st.lists(st.integers(1, 25), min_size=1, max_size=30),
)
def test_order_tells_the_repeated_hour_apart_for_any_gaps(
    name: str, first: int, steps: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Gaps of minutes: every row keeps its place where rows of both passes are there."""
    zone, begin = CHANGES[name]
    minutes = np.cumsum([first, *steps]).tolist()
    instants = [begin + timedelta(minutes=minute) for minute in minutes]
    file = local_table(tmp_path_factory.mktemp("gaps") / "a.csv", zone, instants, "%Y-%m-%d %H:%M")
    recordings = read_recordings(file, zone=zone, period=60.0, regular=True)
    offsets = offsets_of(zone, instants)
    local = [at + timedelta(seconds=offset) for at, offset in zip(instants, offsets, strict=True)]
    seen_back = any(after < before for before, after in pairwise(local))
    if len(set(offsets)) > 1 and min(offsets) == offsets[-1] and not seen_back:
        return  # a gap hides the step back: the hour cannot be told
    both = offsets_of(zone, [begin, begin + timedelta(hours=9)])
    if max(offsets) == min(both) < max(both):
        return  # it may begin in the repeated hour, after the step back
    values = recordings["a"].values[:, 0]
    assert np.flatnonzero(~np.isnan(values)).tolist() == [minute - minutes[0] for minute in minutes]
    assert recordings.infos[0].start == instants[0]


def test_a_recording_that_begins_in_the_repeated_hour(tmp_path: Path) -> None:
    zone, change = "Europe/Berlin", datetime(2024, 10, 27, 1, tzinfo=UTC)
    for minutes in (-30, 30):
        begin = change + timedelta(minutes=minutes)
        instants = [begin + timedelta(seconds=30 * i) for i in range(400)]
        file = local_table(tmp_path / "a.csv", zone, instants, "%Y-%m-%d %H:%M:%S")
        info = read_recordings(file, zone=zone).infos[0]
        assert info.start == begin
        assert info.offset_changes == (((60, 3600),) if minutes < 0 else ())
    many = [change + timedelta(seconds=0.25 * i) for i in range(20_000)]
    file = local_table(tmp_path / "a.csv", zone, many, "%Y-%m-%d %H:%M:%S.%f")
    assert read_recordings(file, zone=zone).infos[0].start == change
    file = local_table(tmp_path / "a.csv", zone, instants[:20], "%Y-%m-%d %H:%M:%S")
    assert "comes twice in Europe/Berlin" in read_recordings(file, zone=zone).notes[-1]


@changes
def test_a_wrong_zone_is_an_error_whose_advice_does_no_damage(tmp_path: Path, name: str) -> None:
    zone, begin = CHANGES[name]
    instants = [begin + timedelta(minutes=i) for i in range(600)]
    fixed, late = offsets_of(zone, [begin, instants[-1]])
    file = local_table(tmp_path / "a.csv", zone, instants, "%Y-%m-%d %H:%M:%S")
    hours, minutes = divmod(int(abs(fixed)) // 60, 60)
    offset = f"{'+' if fixed >= 0 else '-'}{hours:02}:{minutes:02}"
    if fixed == late:
        assert read_recordings(file, zone=offset).infos[0].samples == 600
    else:
        with pytest.raises(InputError, match=r"were clocks set there\? Then name the zone"):
            read_recordings(file, zone=offset)
    # A device that is never set, read as if it were.
    rows = [f"{(at + timedelta(seconds=fixed)):%Y-%m-%d %H:%M:%S},1" for at in instants]
    file.write_text("\n".join(["time,x", *rows]) + "\n")
    assert read_recordings(file, zone=offset).infos[0].samples == 600
    if fixed != late:
        with pytest.raises(InputError, match=r"give its own UTC offset \(--zone \+HH:MM\)"):
            read_recordings(file, zone=zone)
