"""A decoder that is defined outside the package works like those inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

from bdl import decoding, formats
from bdl.decoding import Decoder, Grid, PeakGrid, Peaks, calibrate, decode
from bdl.decoding.candidates import Candidates
from bdl.density import Density
from bdl.detector.choices import HeldOut
from bdl.errors import ConfigError
from bdl.events import Events
from bdl.formats.densities import write_densities
from calling import call, call_json


class Toy(Decoder):
    """The highest bins of each type.

    Parameters
    ----------
    count
        How many bins.
    """

    reads: ClassVar[Any] = "events"
    kind: Literal["toy"] = "toy"
    count: int = 1

    def candidates(self, density, intervals):
        by_type = {}
        for column, event in enumerate(density.types):
            rows = np.sort(np.argsort(-density.values[:, column], kind="stable")[: self.count])
            by_type[event] = Candidates(density.times[rows], density.values[rows, column])
        return by_type


class ToyGrid(Grid):
    """Settings of Toy."""

    decoder: ClassVar[Any] = Toy
    axes: ClassVar[dict[str, str]] = {"counts": "count"}
    kind: Literal["toy"] = "toy"
    counts: tuple[int, ...] = (1, 2)


VALUES = np.array([[0.0], [0.9], [0.0], [0.8], [0.2]], np.float32)
DENSITY = Density("a", VALUES, ("beat",), 1.0, 1, 5)
TRUTH = Events.of("a", "beat", [1.0, 3.0])


def test_a_toy_decoder_is_known_by_name() -> None:
    assert Decoder.parse("toy") == Toy()
    assert Decoder.parse({"kind": "toy", "count": 2}).decode(DENSITY).time.tolist() == [1.0, 3.0]
    assert decode([DENSITY], "toy").time.tolist() == [1.0]
    assert [*Decoder.kinds()][:3] == ["expected-ap", "forward-mass", "peaks"]
    assert "toy" in Decoder.kinds()


def test_a_toy_grid_is_calibrated() -> None:
    chosen = calibrate([DENSITY], TRUTH, {"kind": "toy", "thresholds": 1}, tolerances=[0.5])
    assert chosen.decoder == Toy(count=2)
    assert [trial.decoder.count for trial in chosen.tried] == [1, 2]


def test_a_grid_may_be_tried_in_every_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    held = HeldOut(TRUTH, (0.5, 2.0), ("beat",), (), "ignore", 0.3)
    kinds = [calibration.decoder.kind for calibration in held.calibrate([DENSITY])]
    assert kinds == ["expected-ap", "peaks"]
    peaks = held.calibrate([DENSITY])[1].tried
    assert {trial.decoder for trial in peaks} == {
        Peaks(smooth=smooth, separation=0.3, clock="bins") for smooth in (0.0, 0.25, 0.5)
    }
    added = classmethod(lambda cls, tolerances, *_: cls(counts=(2,), thresholds=(min(tolerances),)))
    monkeypatch.setattr(ToyGrid, "added", added)
    chosen = held.calibrate([DENSITY])
    assert [calibration.decoder.kind for calibration in chosen] == ["expected-ap", "peaks", "toy"]
    assert chosen[2].decoder == Toy(count=2, threshold=0.5)


def test_a_toy_decoder_works_on_the_command_line(tmp_path: Path) -> None:
    write_densities(tmp_path / "densities", [DENSITY])
    formats.write_events(TRUTH, tmp_path / "truth.csv")
    out = tmp_path / "detections.csv"
    call("decode", tmp_path / "densities", "--out", out, "--decoder", "{kind: toy, count: 2}")
    assert formats.read_events(out).time.tolist() == [1.0, 3.0]
    result = call_json(
        *("calibrate", tmp_path / "densities", "--events", tmp_path / "truth.csv"),
        *("--grid", "toy"),
        *("--out", tmp_path / "decoder.json", "--tolerance", 0.5),
    )
    assert result["decoder"]["count"] == 2
    call(
        *("decode", tmp_path / "densities", "--out", out),
        *("--decoder", tmp_path / "decoder.json"),
    )
    assert len(formats.read_events(out)) == 2


def test_a_toy_decoder_reads_its_own_kind_of_density_only() -> None:
    state = Density("a", VALUES, ("sleep",), 1.0, 1, 5, kind="state")
    with pytest.raises(ConfigError, match="use transitions"):
        Toy().decode(state)


def test_the_package_offers_its_variants_and_grids() -> None:
    assert decoding.Peaks is Peaks
    assert decoding.PeakGrid is PeakGrid
    assert {"ExpectedAP", "TransitionGrid", "calibrate", "decode"} <= set(dir(decoding))
    assert "Toy" not in dir(decoding)
    with pytest.raises(AttributeError, match="Toys"):
        _ = decoding.Toys
