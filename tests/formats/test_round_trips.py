"""Recordings in tables and in a store, read back."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bdl.errors import InputError
from bdl.formats import open_store, prepare, read_recordings
from bdl.recording import Recording, Recordings
from recording_tables import write_tables

names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).map(
    lambda text: "c" + text.replace("/", "_").replace("\\", "_")[:20]
)
numbers = st.floats(width=32, allow_infinity=False)


@st.composite
def collections(draw: st.DrawFn, *, shortest: int = 0) -> Recordings:
    made = []
    for id in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        samples, width = draw(st.integers(shortest, 12)), draw(st.integers(1, 3))
        channels = draw(st.lists(names, min_size=width, max_size=width, unique=True))
        values = draw(hnp.arrays(np.float32, (samples, width), elements=numbers))
        start, changes = None, []
        if draw(st.booleans()):
            zone = timezone(timedelta(minutes=15 * draw(st.integers(-48, 56))))
            start = draw(st.datetimes(datetime(1980, 1, 1), datetime(2100, 1, 1)))
            start = start.replace(tzinfo=zone)
            if samples > 2 and draw(st.booleans()):
                other = draw(st.integers(-12, 14).map(lambda h: 3600 * h))
                if timedelta(seconds=other) != zone.utcoffset(None):
                    changes = [(draw(st.integers(1, samples - 1)), other)]
        made.append(
            Recording.of(
                values,
                id=id,
                period=draw(st.sampled_from([1 / 360, 0.02, 0.25, 5.0, 1 / 3])),
                channels=channels,
                start=start,
                offset_changes=changes,
                group=draw(st.none() | names),
            )
        )
    return Recordings.of(made)


def same_values(recordings: Recordings, expected: Recordings) -> None:
    for recording in expected:
        np.testing.assert_array_equal(recordings[recording.id].values, recording.values)


@settings(max_examples=40, deadline=None)
@given(data=collections())
def test_archives_keep_everything(
    data: Recordings, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    write_tables(data, folder, "npz")
    recordings = read_recordings(folder)
    assert {info.id: info for info in recordings.infos} == {info.id: info for info in data.infos}
    same_values(recordings, data)


@settings(max_examples=40, deadline=None)
@given(data=collections(shortest=3), kind=st.sampled_from(["csv", "tsv", "parquet", "feather"]))
def test_tables_keep_values_and_times(
    data: Recordings, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    write_tables(data, folder, kind)
    recordings = read_recordings(folder)
    same_values(recordings, data)
    for info in data.infos:
        again = recordings.info(info.id)
        assert again.start == info.start
        assert again.offset_changes == info.offset_changes
        assert again.period == pytest.approx(info.period, rel=1e-4)
        given_period = read_recordings(folder / f"{info.id}.{kind}", period=info.period)
        assert given_period.info(info.id).period == info.period


@settings(max_examples=40, deadline=None)
@given(data=collections())
def test_a_store_keeps_everything(
    data: Recordings, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("store") / "s"
    prepare(data, folder)
    store = open_store(folder)
    assert store.infos == data.infos
    same_values(store, data)
    assert read_recordings(folder).infos == data.infos


def test_an_id_that_cannot_be_a_file_name_is_refused(tmp_path: Path) -> None:
    out = Recording.of(np.zeros(3), id="../../x", period=1.0)
    with pytest.raises(InputError, match="cannot be a file name"):
        prepare(Recordings.of([out]), tmp_path / "store")
    assert not [*tmp_path.iterdir()]
