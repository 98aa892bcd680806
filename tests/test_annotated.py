"""Recordings of which only some spans are annotated: nothing is learned or scored in the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from bdl import Detector  # noqa: E402
from bdl.errors import InputError  # noqa: E402
from bdl.evaluation import Regions, score  # noqa: E402
from bdl.events import Events  # noqa: E402
from bdl.formats import read_annotated  # noqa: E402
from bdl.labels import label, mean_spacing  # noqa: E402
from bdl.recording import Recording, Recordings  # noqa: E402
from learning import used  # noqa: E402

SAMPLES = 600


def made(seed: int = 0) -> tuple[Recordings, Events]:
    """Bumps at their events; the second half of every recording has bumps nobody annotated."""
    rng = np.random.default_rng(seed)
    recordings, ids, times = [], [], []
    for number in range(6):
        values = rng.normal(0, 0.1, SAMPLES)
        places = np.arange(30, SAMPLES - 20, 45) + rng.integers(-8, 8, 13)
        for place in places:
            values[place : place + 5] += 2
        recordings.append(Recording.of(values, id=f"r{number}", period=1.0))
        half = places[places < SAMPLES // 2]
        ids += [f"r{number}"] * len(half)
        times += half.tolist()
    return Recordings.of(recordings), Events.of(ids, "bump", times)


SPANS = {f"r{number}": [(0.0, SAMPLES / 2)] for number in range(6)}


def detector(encoder: str | dict[str, object]) -> Detector:
    return Detector(
        encoder=encoder,
        features={"stride": 5, "scaling": "robust"},
        window=300.0,
        tolerances=(10.0,),
        training=used(encoder, {"epochs": 12, "batch": 2, "learning_rate": 0.02, "seed": 1}),
    )


@pytest.mark.parametrize(
    "encoder", [{"kind": "recurrent", "width": 8}, {"kind": "trees", "trees": 40}]
)
def test_what_is_outside_changes_nothing_that_is_learned(encoder: dict[str, object]) -> None:
    recordings, events = made()
    false = Events.concat([events, Events.of(recordings.ids, "bump", [500.0] * 6)])
    annotated = recordings.annotate(SPANS)
    expected, other = (
        detector(encoder).fit(annotated, table).density(recordings["r0"]).values
        for table in (events, false)
    )
    np.testing.assert_array_equal(expected, other)
    # With the bumps of the second half as negatives the model doubts all of them.
    if encoder["kind"] == "trees":
        doubting = detector(encoder).fit(recordings, events).density(recordings["r0"]).values
        assert expected.sum() > 1.3 * doubting.sum()


def test_spacing_and_bins_follow_the_spans() -> None:
    recordings, events = made()
    plain = label(events, recordings.infos, types=["bump"], intervals=())
    part = label(events, recordings.annotate(SPANS).infos, types=["bump"], intervals=())
    assert mean_spacing(part.values()) == mean_spacing(plain.values()) / 2
    assert plain["r0"].annotated_bins(7) is None
    bins = part["r0"].annotated_bins(7)
    assert bins is not None
    assert bins.tolist() == [7 * b + 3 < SAMPLES // 2 for b in range(-(-SAMPLES // 7))]


def test_detections_outside_are_not_scored() -> None:
    recordings, events = made()
    detections = Events.of("r0", "bump", [*events.times("r0", "bump"), 500.0], None)
    scored = Events.of(
        detections.recording, detections.event, detections.time, np.arange(len(detections)) + 1.0
    )
    annotated = events.select(recordings=["r0"])
    regions = Regions.annotated(recordings.annotate(SPANS).infos)
    assert regions is not None
    assert score(annotated, scored, [10.0]).mean_average_precision < 1.0
    assert score(annotated, scored, [10.0], regions=regions).mean_average_precision == 1.0


def test_a_table_of_spans(tmp_path: Path) -> None:
    recordings, _ = made()
    file = tmp_path / "annotated.csv"
    file.write_text("Recording;Start;End;Label\nr0;0,5;10;night\nr0;20;30;nap\nr1;5;10;night\n")
    annotated = read_annotated(file, recordings)
    assert annotated.ids == ("r0", "r1")
    assert annotated.info("r0").annotated == ((0.5, 10.0), (20.0, 30.0))
    assert "4 of 6 recordings have no annotated span" in annotated.notes[-1]
    file.write_text("recording,start,end\nx,0,5\n")
    with pytest.raises(InputError, match=r"spans of x, which are not among the 6 .*--annotated"):
        read_annotated(file, recordings)
    file.write_text("recording,event,time\nr0,onset,5\nr0,offset,9\n")  # not read as spans
    with pytest.raises(InputError, match=r"start and end expected .*it has recording, event, time"):
        read_annotated(file, recordings)
