"""Exported models: the same densities and detections as the original, without torch."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from bdl import (
    Detector,
    IntervalType,
    Recording,
    Recordings,
    load,
    read_events,
)
from bdl.binning import bin_features
from bdl.detector.exported import ExportedDetector
from bdl.detector.onnx_file import with_digest
from bdl.detector.stream import push_many
from bdl.encoders import Ensemble, Recurrent, Trees, UNet
from bdl.errors import ConfigError, InputError
from calling import call
from exporting import TREES, assert_same_events, without_torch, write_example
from learning import bouts, quick, spikes

ENCODERS = {
    "gru": Recurrent(width=8, blocks=2),
    "lstm": Recurrent(width=8, blocks=1, cell="lstm", front=5),
    "forward-gru": Recurrent(width=8, blocks=2, bidirectional=False, front=3),
    "forward-lstm": Recurrent(width=12, blocks=1, bidirectional=False, cell="lstm"),
    "trees": Trees.parse(TREES),
    "causal-trees": Trees.parse({**TREES, "causal": True}),
    "unet": UNet(channels=(4, 8, 8)),
    "ensemble": Ensemble(members=(Recurrent(width=8, blocks=1), TREES), weights=(1.0, 2.0)),
    "causal-ensemble": Ensemble(
        members=(Recurrent(width=8, bidirectional=False), {**TREES, "causal": True})
    ),
    "partly-causal": Ensemble(members=(Recurrent(width=8, bidirectional=False), TREES)),
}
LENGTHS = (1, 2, 3, 5, 8, 17, 100, 1001)
LONG = 100_000  # bins
BOUND = 1e-6
START = datetime.fromisoformat("2024-03-30T23:10:00+01:00")


def fitted(name: str, **changes: object) -> Detector:
    recordings, events = spikes(4)
    settings = quick(encoder=ENCODERS[name], calendar=True, missing=True, **changes)
    started = Recordings.of(
        [
            Recording.of(recording.values, id=recording.id, period=1.0, start=START)
            for recording in recordings
        ]
    )
    return Detector(**settings).fit(started, events)


def recording(bins: int, *, stride: int = 4, seed: int = 0) -> Recording:
    """Noise with spikes and gaps; the last bin is partial."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(max(bins * stride - 1, 1), 2)).astype(np.float32)
    values[rng.random(len(values)) < 0.01, 0] += 25
    values[rng.random(values.shape) < 0.05] = np.nan
    gap = len(values) // 3
    values[gap : gap + 3 * stride] = np.nan if len(values) > 20 else 0
    return Recording.of(values, id="x", period=1.0, start=START)


@pytest.mark.parametrize("name", ENCODERS)
def test_densities_are_those_of_the_original(name: str, tmp_path: Path):
    detector = fitted(name)
    detector.export(tmp_path / "model.onnx")
    exported = load(tmp_path / "model.onnx")
    assert isinstance(exported, ExportedDetector)
    for bins in LENGTHS:
        given = recording(bins)
        ours, theirs = detector.density(given), exported.density(given)
        assert theirs.values.shape == ours.values.shape == (bins, 1)
        assert np.abs(ours.values - theirs.values).max() <= BOUND


@pytest.mark.slow
@pytest.mark.parametrize("name", ENCODERS)
def test_densities_of_long_recordings_are_those_of_the_original(name: str, tmp_path: Path):
    detector = fitted(name)
    detector.export(tmp_path / "model.onnx")
    given = recording(LONG)
    ours, theirs = detector.density(given), load(tmp_path / "model.onnx").density(given)
    assert np.abs(ours.values - theirs.values).max() <= BOUND


@pytest.mark.parametrize("objective", ["bdl-gaussian", "bce-hard", "mse-hard", "classifier"])
def test_every_link_is_exported(objective: str, tmp_path: Path):
    detector = fitted("gru", objective=objective)
    detector.export(tmp_path / "model.onnx")
    given = recording(300)
    ours, theirs = detector.density(given), load(tmp_path / "model.onnx").density(given)
    assert np.abs(ours.values - theirs.values).max() <= BOUND
    assert np.allclose(ours.values, theirs.values, rtol=1e-4, atol=0)  # small densities too
    assert theirs.kind == ours.kind
    assert theirs.bounded == ours.bounded


def test_states_and_intervals_are_exported(tmp_path: Path):
    recordings, events = bouts(4)
    detector = Detector(**quick(objective="seg-ce")).fit(
        recordings, events, intervals=[IntervalType("bout", "on", "off")]
    )
    detector.export(tmp_path / "model.onnx")
    assert_same_events(
        load(tmp_path / "model.onnx").detect(recordings), detector.detect(recordings)
    )


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of `exporting.write_example`."""
    folder = tmp_path_factory.mktemp("default")
    write_example(folder)
    return folder


def test_the_command_line_detects_without_torch(default: Path):
    """Without torch and the other libraries of training, detections are those of torch."""
    arguments = ["--recordings", str(default / "signals"), "--all"]
    call("export", default / "model.bdl", "--out", default / "again.onnx")
    assert (default / "again.onnx").read_bytes() == (default / "model.onnx").read_bytes()
    without_torch("detect", default / "model.onnx", *arguments, "--out", default / "onnx.csv")
    assert_same_events(read_events(default / "onnx.csv"), read_events(default / "expected.csv"))


def test_the_graph_bins_samples_itself(tmp_path: Path):
    """What another program does: samples in, a density out, by onnxruntime alone."""
    import onnxruntime

    detector = fitted("causal-ensemble")
    path = tmp_path / "model.onnx"
    detector.export(path)
    features, bins = detector.model_.features, 60
    given = recording(bins)
    given = Recording(given.info, given.values)
    whole = (bins - 1) * features.bin_samples  # the last bin is partial
    samples = given.values[:whole].reshape(1, bins - 1, -1, 2)
    binned = bin_features(given, features)
    session = onnxruntime.InferenceSession(path)
    state = {
        node.name: np.zeros([n if isinstance(n, int) else 1 for n in node.shape], kind)
        for node in session.get_inputs()
        if (kind := {"tensor(float)": np.float32, "tensor(double)": np.float64}.get(node.type))
        and "." in node.name
    }
    state["member1.seen"] = np.zeros(1, np.int64)
    parts = []
    for first, stop in ((0, 7), (7, 8), (8, bins - 1)):  # in parts, one bin among them
        density, *after = session.run(
            ["density", *(f"{name}.next" for name in state)],
            {
                "samples": samples[:, first:stop],
                "values": np.zeros((1, 0, binned.values.shape[1]), np.float32),
                "hour": binned.hour[None, first:stop],
                "weekday": binned.weekday[None, first:stop],
                **state,
            },
        )
        state = dict(zip(state, after, strict=True))
        parts.append(density[0])
    expected = detector.density(given).values[: bins - 1]
    assert np.abs(np.concatenate(parts) - expected).max() <= BOUND


def test_what_cannot_be_exported_is_refused_with_a_reason(tmp_path: Path):
    recordings, events = spikes(4)
    detector = Detector(
        **quick(encoder={"kind": "transformer", "width": 8, "layers": 1, "heads": 1})
    )
    detector.fit(recordings, events)
    with pytest.raises(ConfigError, match="square"):
        detector.export(tmp_path / "model.onnx")
    with pytest.raises(ConfigError, match="the name of an exported model"):
        detector.export(tmp_path / "model.bin")
    assert not [*tmp_path.iterdir()]


def test_a_changed_or_cut_file_is_refused(default: Path, tmp_path: Path):
    content = (default / "model.onnx").read_bytes()
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    for name, part, reason in (
        ("changed", bytes(changed), "digest"),
        ("cut", content[:-100], "cut off"),
        ("other", b"something else", "another program"),
    ):
        (tmp_path / f"{name}.onnx").write_bytes(part)
        with pytest.raises(InputError, match=reason):
            load(tmp_path / f"{name}.onnx")


def test_deep_metadata_are_refused(default: Path, tmp_path: Path):
    import onnx

    model = onnx.load(default / "model.onnx")
    [entry] = [field for field in model.metadata_props if field.key == "bdl"]
    entry.value = "[" * 100_000
    del model.metadata_props[-1]  # the former digest
    (tmp_path / "deep.onnx").write_bytes(with_digest(model.SerializeToString()))
    with pytest.raises(InputError, match="nested too deeply"):
        load(tmp_path / "deep.onnx")


def test_metadata_can_be_read_by_other_programs(default: Path):
    import onnx

    model = onnx.load(default / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    entries = {entry.key: entry.value for entry in model.metadata_props}
    detector = Detector.load(default / "model.bdl")
    assert entries["bdl.channels"] == '["x"]'
    assert entries["bdl.samples_per_bin"] == "4"
    assert detector.model_.decoder.kind in entries["bdl.decoder"]
    assert len(entries["bdl.digest"]) == len(entries["bdl.source"]) == 64
    loaded = load(default / "model.onnx")
    assert loaded.model_ == detector.model_
    assert loaded.rescorer_ is not None


def test_a_stream_gives_the_density_of_the_finished_file(tmp_path: Path):
    """In any parts, alone or beside others, and saved in between: the same but for rounding."""
    detector = fitted("causal-ensemble", lag=8.0)
    detector.export(tmp_path / "model.onnx")
    exported = load(tmp_path / "model.onnx")
    given = recording(150)
    expected = detector.density(given).values
    rng = np.random.default_rng(1)
    streams = [exported.stream(name, period=1.0, start=START) for name in "abc"]
    densities: list[list[np.ndarray]] = [[], [], []]
    place = [0, 0, 0]
    while min(place) < len(given.values):
        pushes = []
        for i, stream in enumerate(streams):
            size = int(rng.integers(1, 30))
            pushes.append((stream, given.values[place[i] : place[i] + size], None))
            place[i] += size
        push_many(pushes)
        for i, stream in enumerate(streams):
            densities[i].append(stream.density)
        streams[0] = exported.resume(streams[0].save())
    for stream, parts in zip(streams, densities, strict=True):
        stream.finish()
        density = np.concatenate([*parts, stream.density])
        assert np.abs(density - expected).max() <= BOUND
    with pytest.raises(InputError, match="another model"):
        detector.resume(streams[1].save())
