"""Units of channels: read from files, remembered by models, converted or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bdl import Detector, Events, Recording, Recordings
from bdl.errors import InputError
from bdl.formats import open_store, prepare, read_recordings
from bdl.runs.digest import recording_digest
from bdl.units import conversion, in_units
from calling import call, call_json

TINY = ("--encoder", "gru", "--updates", "2", "--selection-folds", "0", "--tolerance", "2",
        "--stride", "5", "--window", "60", "--quiet")  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "factor"),
    [
        ("mV", "µV", 1000.0),
        ("uV", "V", 1e-6),
        ("g", "m/s²", 9.80665),
        ("mg", "g", 0.001),
        ("m/s^2", "m/s2", 1.0),
        ("mmHg", "kPa", 0.133322387415),
        ("", "V", 1.0),
        ("uV", "degC", None),
        ("counts", "g", None),
    ],
)
def test_units_of_one_quantity_are_converted(old: str, new: str, factor: float | None) -> None:
    there, back = conversion(old, new), conversion(new, old)
    if factor is None:
        assert there is back is None
    else:
        assert there == (pytest.approx(factor, rel=1e-15), 0.0)
        assert back == (pytest.approx(1 / factor, rel=1e-15), 0.0)


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        ("°C", "°F", 37.0, 98.6),
        ("degF", "℃", 32.0, 0.0),
        ("K", "C", 273.15, 0.0),
        ("ºC", "K", -273.15, 0.0),
    ],
)
def test_temperatures_have_zeros_of_their_own(
    old: str, new: str, before: float, after: float
) -> None:
    warm = Recording.of([before, before], id="a", period=1.0, channels=["t"], units=[old])
    converted = in_units(Recordings.of([warm]), {"t": new}, "the model")
    np.testing.assert_allclose(converted["a"].values.ravel(), [after] * 2, atol=1e-4)
    assert converted.infos[0].units == (new,)


def test_names_of_columns_tell_units(tmp_path: Path) -> None:
    """One channel in two units and spellings: files agree, and are brought to one unit."""
    values = np.random.default_rng(0).normal(size=50)
    for name, head, scale in (
        ("a", "time,Acc X [mg],Temp (°C)", 1000.0),
        ("b", "Time (ms);Acc X (g);Temp [degC]", 1.0),
    ):
        mark, step = (",", 0.02) if name == "a" else (";", 20)
        rows = [
            mark.join([f"{i * step:g}", f"{x * scale:.6f}", "21"]) for i, x in enumerate(values)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")
    recordings = read_recordings(tmp_path)
    assert [info.channels for info in recordings.infos] == [("Acc X", "Temp")] * 2
    assert [info.units for info in recordings.infos] == [("mg", "°C"), ("g", "degC")]
    assert {info.period for info in recordings.infos} == {0.02}
    assert any("Acc X in mg, Temp in °C" in note for note in recordings.notes)
    same = in_units(recordings, {"Acc X": "mg", "Temp": "°C"}, "the first")
    np.testing.assert_allclose(same["b"].values, recordings["a"].values, atol=0.01)
    # A channel is named with or without its unit, also with that of another file.
    for name in ("Acc X", "Acc X [mg]"):
        chosen = read_recordings(tmp_path, channels=(name,))
        assert [info.channels for info in chosen.infos] == [("Acc X",)] * 2
    given = read_recordings(tmp_path / "a.csv", channel_units={"Acc X": "m/s2"})
    assert given.infos[0].units == ("m/s2", "°C")


def test_a_run_depends_on_units() -> None:
    digests = {
        recording_digest(Recording.of(np.zeros(3), id="a", period=1.0, units=units))
        for units in (["mV"], ["uV"], [""], ())
    }
    assert len(digests) == 3  # an empty unit is none


def edf(file: Path, unit: str, scale: float, label: str = "EEG C3-REF") -> Path:
    edfio = pytest.importorskip("edfio")
    file.parent.mkdir(exist_ok=True)
    values = np.random.default_rng(0).normal(size=6000) * 10
    values[[2000, 4000]] += 200
    plain = unit.replace("µ", "u")
    signal = edfio.EdfSignal(values * scale, 50, label=label, physical_dimension=plain)
    edfio.Edf([signal]).write(file)
    content = file.read_bytes()  # many programs write the sign in Latin-1
    file.write_bytes(content.replace(plain.ljust(8).encode(), unit.ljust(8).encode("latin-1"), 1))
    return file


def test_files_tell_units_and_options_correct_them(tmp_path: Path) -> None:
    file = edf(tmp_path / "a.edf", "uV", 1.0)
    assert read_recordings(file).infos[0].units == ("uV",)
    assert read_recordings(file, channel_units={"C3": "mV"}).infos[0].units == ("mV",)
    with pytest.raises(InputError, match=r"channel 'C4' of --channel-unit .* it has C3"):
        read_recordings(file, channel_units={"C4": "mV"})
    table = tmp_path / "a.csv"
    table.write_text("x,y\n1,2\n3,4\n")
    recordings = read_recordings(table, period=1.0, channel_units={"y": "mg"})
    assert recordings.infos[0].units == ("", "mg")
    assert prepare(recordings, tmp_path / "store").infos == recordings.infos
    assert open_store(tmp_path / "store").infos[0].units == ("", "mg")
    arrays = {"values": np.ones((3, 2)), "period": 1.0, "units": ["g", "mV"]}
    np.savez(tmp_path / "b.npz", **arrays)  # type: ignore[arg-type]
    assert read_recordings(tmp_path / "b.npz").infos[0].units == ("g", "mV")
    np.savez(tmp_path / "b.npz", **{**arrays, "units": ["g"]})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="values of 2 channels, but 1 units"):
        read_recordings(tmp_path / "b.npz")


def test_inspect_tells_units_that_differ(tmp_path: Path) -> None:
    edf(tmp_path / "eeg" / "a.edf", "uV", 1.0)
    edf(tmp_path / "eeg" / "b.edf", "mV", 1e-3)
    output = call_json("inspect", tmp_path / "eeg")
    assert output["recordings"]["units"] == {"C3": {"uV": 1, "mV": 1}}
    assert "C3 in uV (x 1) or mV (x 1)" in call("inspect", tmp_path / "eeg")


@pytest.mark.slow
def test_a_model_remembers_units_and_converts_new_files(tmp_path: Path) -> None:
    edf(tmp_path / "old" / "a.edf", "uV", 1.0)
    edf(tmp_path / "old" / "b.edf", "mV", 1e-3)
    events = tmp_path / "events.csv"
    events.write_text("recording,event,time\na,spike,40\na,spike,80\nb,spike,40\nb,spike,80\n")
    model = tmp_path / "model.safetensors"
    with pytest.warns(UserWarning, match="C3: mV converted to uV in 1 recording"):
        call("fit", "--recordings", tmp_path / "old", "--events", events, "--out", model, *TINY)
    assert call_json("show", model)["units"] == ["uV"]
    assert "C3 (uV)" in call("show", model)
    lines = {}
    for name, unit, scale in (("same", "uV", 1.0), ("volts", "V", 1e-6), ("micro", "µV", 1.0)):
        edf(tmp_path / name / "n.edf", unit, scale)
        out = tmp_path / f"{name}.csv"
        output = call_json("detect", model, tmp_path / name, "--out", out)
        converted = [note for note in output["notes"] if "converted" in note]
        assert converted == (["C3: V converted to uV in 1 recording"] if name == "volts" else [])
        lines[name] = out.read_text().splitlines()
    assert len(lines["same"]) > 2
    assert lines["micro"] == lines["same"]
    times, volts = ([row.split(",")[2] for row in lines[name][1:6]] for name in ("same", "volts"))
    assert times == volts
    edf(tmp_path / "warm" / "n.edf", "degC", 1.0)
    with pytest.raises(InputError, match=r"'C3' is in degC, .*in uV.*--channel-unit 'C3=uV'"):
        call("detect", model, tmp_path / "warm", "--out", tmp_path / "warm.csv")
    right = ("--channel-unit", "C3=uV", "--out", tmp_path / "right.csv")
    call("detect", model, tmp_path / "warm", *right)
    assert (tmp_path / "right.csv").read_text().splitlines() == lines["same"]


def test_one_recording_of_another_quantity_is_left_out_by_itself(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(2, 600))

    def recording(id: str, row: int, unit: str) -> Recording:
        return Recording.of(values[row], id=id, period=1.0, channels=["x"], units=[unit])

    good, odd = recording("a", 0, "g"), recording("b", 1, "degC")
    with pytest.raises(InputError, match="'b': channel 'x' is in degC, and another recording"):
        Detector().fit(Recordings.of([good, odd]), Events.of("a", "fall", [100.0]))
    kept = in_units(Recordings.of([good, odd]), {"x": "mg"}, "the model", strict=False)
    assert kept.notes == ("x: g converted to mg in 1 recording",)
    np.testing.assert_array_equal(kept["b"].values, odd.values)
    np.testing.assert_allclose(kept["a"].values, good.values * 1000, rtol=1e-6)
    assert [chunk.tolist() for chunk in kept.chunks("a")] == [kept["a"].values.tolist()]


def test_fine_tuning_converts_to_the_units_of_the_model() -> None:
    values = np.random.default_rng(0).normal(size=600)

    def recordings(scale: float, unit: str) -> Recordings:
        recording = Recording.of(values * scale, id="a", period=1.0, channels=["x"], units=[unit])
        return Recordings.of([recording])

    events = Events.of("a", "fall", [150.0, 450.0])
    settings = {"encoder": "gru", "features": {"stride": 5}, "tolerances": (10.0,)}
    few = {"training": {"updates": 2}, "selection": {"folds": 0}}
    first = Detector(**settings, **few).fit(recordings(1.0, "g"), events)
    assert first.model_.units == ("g",)
    tuned = [
        first.fine_tune(data, events, updates=2).history_[-1].loss
        for data in (recordings(1.0, "g"), recordings(1000.0, "mg"))
    ]
    assert tuned[0] == pytest.approx(tuned[1], rel=1e-4)
