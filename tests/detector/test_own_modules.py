"""A user's own modules: what they declare, and attributes that declare nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
import torch
from torch import Tensor, nn

from bdl import Detector, Events
from bdl.errors import ConfigError
from bdl.intervals import IntervalType
from learning import bouts, quick, spikes

NAMES = (
    "batchable",
    "causal",
    "fixed_bins",
    "gives_density",
    "initial_state",
    "link",
    "members",
    "step",
)


class Named(nn.Module):
    """A linear layer that is kept under any name, alone or in a list."""

    def __init__(self, name: str, listed: bool) -> None:
        super().__init__()
        layer = nn.Linear(8, 1)
        self.name, self.listed = name, listed
        setattr(self, name, nn.ModuleList([layer, nn.Linear(8, 1)]) if listed else layer)

    def forward(self, values: Tensor, *_: Tensor | None) -> Tensor:
        layer = getattr(self, self.name)
        output: Tensor = layer[0](values) if self.listed else layer(values)
        return output


class Sums(nn.Module):
    """The running sum of a linear layer, which is causal by declaration."""

    causal = True

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 1)

    def initial_state(self, batch: int) -> Tensor:
        return torch.zeros(batch, 1, 1)

    def step(self, values: Tensor, state: Tensor, *_: Tensor | None) -> tuple[Tensor, Tensor]:
        sums = state + self.layer(values).cumsum(dim=1)
        return sums, sums[:, -1:]

    def forward(self, values: Tensor, *_: Tensor | None) -> Tensor:
        return self.step(values, self.initial_state(len(values)))[0]


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_layer_declares_nothing(name: str, listed: bool, tmp_path: Path) -> None:
    recordings, events = spikes(4)

    def fitted(layer: str) -> Detector:
        torch.manual_seed(0)
        return Detector(**quick(encoder=Named(layer, listed), epochs=2)).fit(recordings, events)

    detector = fitted(name)
    expected = fitted("layer")
    assert detector.detect(recordings) == expected.detect(recordings)
    detector.save(tmp_path / "m.safetensors")
    loaded = Detector.load(tmp_path / "m.safetensors", module=Named(name, listed))
    assert loaded.detect(recordings) == expected.detect(recordings)


def test_models_of_parts_of_the_data_are_averaged_whatever_the_names_of_their_layers() -> None:
    recordings, events = spikes(4)
    densities = []
    for name in ("members", "layers"):
        torch.manual_seed(0)
        parameters = quick(encoder=Named(name, True), selection={"folds": 2}, epochs=2)
        detector = Detector(**parameters).fit(recordings, events)
        densities.append(detector.density(recordings["r0"]).values)
    np.testing.assert_array_equal(*densities)


def test_a_module_that_declares_a_state_runs_bin_by_bin() -> None:
    recordings, events = spikes(4)
    detector = Detector(**quick(encoder=Sums(), lag=8.0, epochs=1)).fit(recordings, events)
    recording = recordings["r0"]
    stream = detector.stream("r0")
    detections = Events.concat([stream.push(recording.values), stream.finish()])
    expected = detector.detect(recording)
    assert len(expected)
    np.testing.assert_array_equal(np.sort(detections.time), np.sort(expected.time))


def test_a_causal_module_without_a_state_cannot_have_a_lag() -> None:
    class Causal(Named):
        causal = True

    with pytest.raises(ConfigError, match=r"'custom' cannot run bin by bin.*initial_state and ste"):
        Detector(**quick(encoder=Causal("layer", False), lag=8.0)).fit(*spikes(4))


def test_a_fixed_length_is_declared_by_a_number() -> None:
    class Fixed(Named):
        fixed_bins = np.int64(40)

        def forward(self, values: Tensor, *calendar: Tensor | None) -> Tensor:
            assert values.shape[1] == 40
            return super().forward(values, *calendar)

    recordings, events = spikes(4)
    detector = Detector(**quick(encoder=Fixed("layer", False), window=160.0, epochs=1))
    assert len(detector.fit(recordings, events).density(recordings["r0"]).values) == 100


def test_an_ensemble_within_an_ensemble_has_the_objective_s_link() -> None:
    recordings, events = bouts(4)
    small: dict[str, Any] = {"kind": "recurrent", "width": 4, "blocks": 1}
    inner = {"kind": "ensemble", "members": [small, small]}
    detector = Detector(
        **quick(objective="seg-ce", encoder={"kind": "ensemble", "members": [inner]}, epochs=1)
    ).fit(recordings, events, intervals=[IntervalType("bout", onset="on", offset="off")])
    members = detector.module_.members[0].members
    values = torch.randn(1, 5, 4)
    with torch.inference_mode():
        expected = sum(torch.sigmoid(member(values)) for member in members) / 2
        torch.testing.assert_close(detector.module_(values), expected)
