"""Export: a fitted detector as an ONNX graph, from samples or features to densities."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bdl.detector.binning_graph import bin_samples
from bdl.detector.model import Model
from bdl.detector.onnx_file import SUFFIX, metadata_of, with_digest
from bdl.errors import ConfigError
from bdl.formats.atomic_files import atomic
from bdl.onnx_graph import EncoderInputs, Graph
from bdl.rescoring import Rescorer

if TYPE_CHECKING:
    from torch import Tensor


def export_model(
    path: str | Path,
    model: Model,
    weights: Mapping[str, Tensor],
    rescorer: Rescorer | None,
    source: str,
) -> None:
    """Write a trained model as an ONNX file, completely or not at all.

    The graph reads bins as ``samples`` (batch, bins, samples per bin, channels) or as computed
    features, ``values`` (batch, bins, columns); the other of the two has no bins. With a calendar
    it also reads ``hour`` and ``weekday`` (batch, bins). Its output is ``density`` (batch, bins,
    outputs). A causal encoder also has its state as inputs and outputs.

    Parameters
    ----------
    path
        File to write, with the suffix ``.onnx``.
    model
        The configuration.
    weights
        Weights of the module by name.
    rescorer
        The second stage, if there is one.
    source
        Digest of the model.
    """
    if Path(path).suffix != SUFFIX:
        raise ConfigError(f"{path}: the name of an exported model ends with {SUFFIX}")
    channels = len(model.channels)
    width, outputs = model.features.width(channels), len(model.outputs)
    graph = Graph()
    samples = graph.input("samples", np.float32, ("batch", "sampled", "per_bin", channels))
    values = graph.input("values", np.float32, ("batch", "given", width))
    binned = bin_samples(graph, model.features, channels, samples)
    calendar: dict[str, str | None] = {"hour": None, "weekday": None}
    if model.features.calendar:
        calendar = {name: graph.input(name, np.int64, ("batch", "bins")) for name in calendar}
    inputs = EncoderInputs(
        graph.add("Concat", binned, values, axis=1),
        width,
        outputs,
        **calendar,
        link=model.objective.export,
    )
    arrays = {name: value.detach().cpu().numpy() for name, value in weights.items()}
    encoder = model.settings.encoder.complete(model.features.statistics)
    density = encoder.export(graph, arrays, inputs)
    graph.output("density", density, np.float32, ("batch", "bins", outputs))
    content = graph.model(metadata_of(model, rescorer, source)).SerializeToString()
    with atomic(path) as temporary:
        temporary.write_bytes(with_digest(content))
