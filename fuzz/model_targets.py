"""Model files, damaged as they are and with a digest that fits again; and what they then detect."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from safetensors import safe_open
from safetensors.torch import load, save

from bdl import Detector
from bdl.detector.exported import ExportedDetector
from bdl.detector.modelfile import model_digest
from bdl.detector.onnx_file import with_digest
from bdl.events import Events
from bdl.recording import Recording, Recordings
from fuzz.mutation import mutate
from fuzz.target import Target, check_events

ENCODERS = {
    "gru": {"kind": "recurrent", "width": 4, "blocks": 1},
    "transformer": {"kind": "transformer", "width": 4, "layers": 1, "heads": 2},
    "trees": {"kind": "trees", "trees": 3, "leaves": 3, "widths": [1, 2]},
}


def targets() -> Iterator[Target]:
    """Two targets per encoder: the bytes of the file, and its configuration."""
    recordings, events = spikes()
    for name, encoder in ENCODERS.items():
        detector = fitted(encoder, recordings, events)
        files = {"model": _written(detector.save, "model")}
        yield Target(f"model {name}", files, ("model",), _detect)
        yield Target(f"model {name} configuration", files, ("model",), _detect, _reconfigured)
        if name == "gru":
            files = {"model.onnx": _written(detector.export, "model.onnx")}
            yield Target("model onnx", files, ("model.onnx",), _detect_exported)
            yield Target("model onnx metadata", files, ("model.onnx",), _detect_exported, _resealed)


def spikes() -> tuple[Recordings, Events]:
    """Six recordings with two spikes each."""
    rng = np.random.default_rng(0)
    parts = []
    for id in "abcdef":
        values = rng.normal(size=(200, 1))
        values[[50, 150]] += 20
        parts.append(Recording.of(values, id=id, period=1.0))
    return Recordings.of(parts), Events.of([*"aabbccddeeff"], "spike", [50.0, 150.0] * 6)


def fitted(encoder: dict[str, object], recordings: Recordings, events: Events) -> Detector:
    """A detector with that encoder after one epoch."""
    detector = Detector(
        encoder=encoder,
        features={"stride": 5},
        tolerances=(10.0,),
        training={"epochs": 1},
        selection={"rescoring": {"trees": 3, "leaves": 3}, "folds": 2},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return detector.fit(recordings, events)


def _written(write: Callable[[Path], None], name: str) -> bytes:
    with TemporaryDirectory() as folder:
        write(Path(folder) / name)
        return (Path(folder) / name).read_bytes()


def _detect(folder: Path) -> None:
    recordings, _ = spikes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detections = Detector.load(folder / "model").detect(recordings.select(["a"]))
    check_events(detections)


def _detect_exported(folder: Path) -> None:
    recordings, _ = spikes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_events(ExportedDetector(folder / "model.onnx").detect(recordings.select(["a"])))


def _resealed(content: bytes, rng: np.random.Generator) -> bytes:
    """An exported model with damaged metadata, under a digest that fits."""
    import onnx

    model = onnx.load_model_from_string(content)
    [entry] = [field for field in model.metadata_props if field.key == "bdl"]
    entry.value = mutate(entry.value.encode(), rng).decode("utf-8", "replace")
    del model.metadata_props[-1]  # the former digest
    return with_digest(model.SerializeToString())


def _reconfigured(content: bytes, rng: np.random.Generator) -> bytes:
    """The model with a damaged configuration, or odd weights, under a digest that fits."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        file.write_bytes(content)
        with safe_open(file, framework="pt") as opened:
            header = json.loads(opened.metadata()["bdl"])
    weights = load(content)
    if rng.random() < 0.3:
        name = sorted(weights)[int(rng.integers(0, len(weights)))]
        weight = weights[name]
        odd = (weight[:0], weight[None], weight.double(), weight * 0 - 1, weight * 10**6)
        weights[name] = odd[int(rng.integers(0, len(odd)))].contiguous()
        text = header["model"]
    else:
        text = mutate(header["model"].encode(), rng).decode("utf-8", "replace")
    return save(
        weights,
        {"bdl": json.dumps({**header, "model": text, "digest": model_digest(text, weights)})},
    )
