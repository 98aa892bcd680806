"""Small recordings with events that a model can learn in seconds, for the training tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl import Events, Recording, Recordings

PERIOD = 1.0


def spikes(count: int = 6, *, seed: int = 0, samples: int = 400) -> tuple[Recordings, Events]:
    """Noise with a few tall spikes a recording, and the times of the spikes."""
    rng = np.random.default_rng(seed)
    recordings, names, times = [], [], []
    for i in range(count):
        values = rng.normal(size=(samples, 2)).astype(np.float32)
        places = np.sort(rng.choice(np.arange(20, samples - 20, 40), size=3, replace=False))
        values[places, 0] += 25.0
        recordings.append(Recording.of(values, id=f"r{i}", period=PERIOD, group=f"g{i // 2}"))
        names += [f"r{i}"] * 3
        times += (places * PERIOD).tolist()
    return Recordings.of(recordings), Events.of(names, "spike", times)


def bouts(count: int = 6, *, seed: int = 0, samples: int = 400) -> tuple[Recordings, Events]:
    """Noise that is louder inside one interval a recording, and its onset and offset."""
    rng = np.random.default_rng(seed)
    recordings, names, kinds, times = [], [], [], []
    for i in range(count):
        begin = int(rng.integers(50, 150))
        end = begin + int(rng.integers(80, 200))
        values = rng.normal(size=(samples, 1)).astype(np.float32)
        values[begin:end] *= 8.0
        recordings.append(Recording.of(values, id=f"r{i}", period=PERIOD))
        names += [f"r{i}"] * 2
        kinds += ["on", "off"]
        times += [begin * PERIOD, end * PERIOD]
    return Recordings.of(recordings), Events.of(names, kinds, times)


def quick(**changes: Any) -> dict[str, Any]:
    """Parameters of a detector that trains in a moment; fields of values may be given flat."""
    from bdl.encoders import Recurrent
    from bdl.features import Features
    from bdl.training import Training

    features: dict[str, Any] = {"stride": 4, "calendar": False, "scaling": "none"}
    training: dict[str, Any] = {"epochs": 3, "batch": 4, "accelerator": "cpu"}
    parameters = {
        "encoder": Recurrent(width=8, blocks=1),
        "features": features,
        "training": training,
        "tolerances": (8.0,),
        "selection": {"folds": 0},
        "objective": "bdl-hard",
    }
    for name, value in changes.items():
        if name in Features.model_fields:
            features[name] = value
        elif name in Training.model_fields:
            training[name] = value
        else:
            parameters[name] = value
    return {**parameters, "training": used(parameters["encoder"], training)}


def used(encoder: Any, training: dict[str, Any]) -> dict[str, Any]:
    """Those of some settings of a training that an encoder uses: trees have no batches."""
    from bdl.encoders import Encoder

    return {name: value for name, value in training.items() if Encoder.parse(encoder).uses(name)}
