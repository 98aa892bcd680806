"""Model files: the same bits back, and every way in which a file can be wrong."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from bdl import Detector
from bdl.detector.modelfile import FORMAT, model_digest, read_model, write_model
from bdl.errors import ConfigError, InputError
from learning import quick, spikes


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> tuple[Detector, Path]:
    recordings, events = spikes()
    detector = Detector(**quick(scaling="robust", epochs=1)).fit(recordings, events)
    path = tmp_path_factory.mktemp("model") / "model.bdl"
    detector.save(path)
    return detector, path


def rewritten(path: Path, target: Path, change, *, sign: bool = True) -> Path:
    """The file with a changed header, with or without a digest that fits."""
    with safe_open(path, framework="pt") as opened:
        header = json.loads(opened.metadata()["bdl"])
        weights = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    model = json.loads(header["model"])
    change(header, model, weights)
    header["model"] = json.dumps(model)
    if sign:
        header["digest"] = model_digest(header["model"], weights)
    save_file(weights, target, {"bdl": json.dumps(header)})
    return target


def test_a_loaded_detector_says_the_same_bit_for_bit(saved, tmp_path):
    detector, path = saved
    recordings, _ = spikes(3, seed=9)
    loaded = Detector.load(path)
    for density, other in zip(
        detector.densities(recordings), loaded.densities(recordings), strict=True
    ):
        assert np.array_equal(density.values, other.values)
    assert loaded.detect(recordings) == detector.detect(recordings)
    assert loaded.model_ == detector.model_
    loaded.save(tmp_path / "again.bdl")
    assert (tmp_path / "again.bdl").read_bytes() == path.read_bytes()


def test_the_header_holds_the_whole_configuration(saved):
    detector, path = saved
    model, weights = read_model(path)
    assert model.channels == ("channel_0", "channel_1")
    assert model.period == 1.0
    assert model.types == ("spike",)
    assert len(model.features.scaling.median) == 2
    assert model.objective.rate > 0
    assert model.decoder == detector.model_.decoder
    assert set(model.versions) == {"bdl", "torch", "vector_bits"}
    assert model.settings.training.epochs == 1
    assert sum(value.numel() for value in weights.values()) > 0


def test_a_cut_file_is_refused_wherever_it_is_cut(saved, tmp_path):
    content = saved[1].read_bytes()
    cut = tmp_path / "cut.bdl"
    for length in np.linspace(0, len(content) - 1, 25).astype(int):
        cut.write_bytes(content[:length])
        with pytest.raises(InputError, match=r"cut\.bdl"):
            read_model(cut)


def test_a_changed_byte_is_noticed_wherever_it_is(saved, tmp_path):
    content = saved[1].read_bytes()
    changed = tmp_path / "changed.bdl"
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(content), size=60):
        other = bytearray(content)
        other[place] ^= 1 << int(rng.integers(8))
        changed.write_bytes(bytes(other))
        with pytest.raises((InputError, ConfigError)):
            read_model(changed)


def test_other_weights_with_the_old_digest_are_refused(saved, tmp_path):
    def change(header, model, weights):
        name = next(iter(weights))
        weights[name] = weights[name] + 1

    path = rewritten(saved[1], tmp_path / "m.bdl", change, sign=False)
    with pytest.raises(InputError, match="changed or damaged after it was written"):
        Detector.load(path)


def test_a_newer_format_says_upgrade(saved, tmp_path):
    def change(header, model, weights):
        header["format"] = FORMAT + 1

    path = rewritten(saved[1], tmp_path / "m.bdl", change)
    with pytest.raises(InputError, match=f"reads {FORMAT}; upgrade the package"):
        Detector.load(path)


def test_an_older_format_says_so(saved, tmp_path):
    def change(header, model, weights):
        header["format"] = FORMAT - 1

    path = rewritten(saved[1], tmp_path / "m.bdl", change)
    with pytest.raises(InputError, match="older version of the package"):
        Detector.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, m, w: m.update(colour="red"), "colour"),
        (lambda h, m, w: m["objective"].update(kind="magic"), "magic"),
        (lambda h, m, w: m["settings"]["encoder"].update(kind="gpt"), "gpt"),
        (lambda h, m, w: m["decoder"].update(smoothness=1), "smoothness"),
        (lambda h, m, w: m.update(period=-1.0), "period"),
        (lambda h, m, w: m.pop("channels"), "channels"),
        (lambda h, m, w: h.update(format="x"), "header is not understood"),
        (lambda h, m, w: h.pop("format"), "header is not understood"),
        (
            lambda h, m, w: m["settings"]["encoder"].update(width=16),
            "weights do not fit the encoder",
        ),
        (lambda h, m, w: w.pop(next(iter(w))), "weights do not fit the encoder"),
        (lambda h, m, w: w.update(extra=torch.zeros(2)), "weights do not fit the encoder"),
    ],
)
def test_what_is_not_known_is_refused(saved, tmp_path, change, message):
    path = rewritten(saved[1], tmp_path / "m.bdl", change)
    with pytest.raises(InputError, match=message):
        Detector.load(path)


def test_files_that_are_no_models(tmp_path):
    save_file({"a": torch.zeros(1)}, tmp_path / "plain.safetensors")
    with pytest.raises(InputError, match="not a model of this package"):
        Detector.load(tmp_path / "plain.safetensors")
    with pytest.raises(InputError, match="no such file"):
        Detector.load(tmp_path / "none.bdl")
    (tmp_path / "empty.bdl").touch()
    with pytest.raises(InputError, match="zero bytes"):
        Detector.load(tmp_path / "empty.bdl")


def test_a_pickle_is_never_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return (Path(tmp_path / "ran").touch, ())

    for name, content in (("a", pickle.dumps(Evil())), ("b", None)):
        path = tmp_path / name
        if content is None:
            torch.save({"weights": Evil()}, path)
        else:
            path.write_bytes(content)
        with pytest.raises(InputError, match="not a complete model file"):
            Detector.load(path)
    assert not (tmp_path / "ran").exists()


def test_a_failed_write_leaves_the_old_file(saved, tmp_path, monkeypatch):
    detector, _ = saved
    path = tmp_path / "model.bdl"
    path.write_bytes(b"old")
    monkeypatch.setattr(Path, "write_bytes", _full)
    with pytest.raises(Exception, match="No space left"):
        write_model(path, detector.model_, {"a": torch.zeros(1)})
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["model.bdl"]


def _full(self: Path, content: bytes) -> int:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, m, w: m["settings"]["encoder"].update(width=10**9), "65536 or less"),
        (lambda h, m, w: m["settings"]["encoder"].update(width=60_000), "the file holds"),
        (lambda h, m, w: m["settings"]["encoder"].update(blocks=10**9), "1000 or less"),
        (lambda h, m, w: h.update(format=float("inf")), "header is not understood"),
        (lambda h, m, w: m.update(period=1e999), "not a finite number"),
    ],
)
def test_sizes_are_not_believed(saved, tmp_path, change, message):
    """Nothing is allocated by what a configuration claims, and no number is infinite."""
    with pytest.raises((InputError, ConfigError), match=message):
        Detector.load(rewritten(saved[1], tmp_path / "odd.bdl", change))


def test_weights_of_other_types_and_deep_configurations_are_refused(saved, tmp_path):
    with safe_open(saved[1], framework="pt") as opened:
        header = json.loads(opened.metadata()["bdl"])
        weights = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    odd = {name: weight.bfloat16() for name, weight in weights.items()}
    save_file(odd, tmp_path / "half.bdl", {"bdl": json.dumps(header)})
    with pytest.raises(InputError, match="is of type BF16"):
        Detector.load(tmp_path / "half.bdl")
    text = "[" * 100_000
    deep = {**header, "model": text, "digest": model_digest(text, weights)}
    save_file(weights, tmp_path / "deep.bdl", {"bdl": json.dumps(deep)})
    with pytest.raises(InputError, match="nested too deeply"):
        Detector.load(tmp_path / "deep.bdl")
