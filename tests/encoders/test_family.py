"""The family of encoders: names, and what each variant says about itself."""

from __future__ import annotations

import subprocess
import sys
from typing import Literal

import pytest
from torch import nn

from bdl.encoders import Custom, Encoder, Recurrent, Transformer, UNet
from bdl.encoders.encoder import WHOLE
from bdl.errors import ConfigError

NAMES = [
    "gru",
    "chbmit-gru",
    "forward-gru",
    "forward-lstm",
    "unet",
    "attention-unet",
    "transformer",
    "transformer-large",
    "causal-transformer",
    "local-causal-transformer",
]
# Core-seconds per bin, measured in windows of 12,096 bins.
MEASURED = dict(
    zip(NAMES, [7e-6, 9e-5, 4e-6, 4e-6, 3e-5, 7e-5, 7e-4, 2e-3, 4e-4, 4e-4], strict=True)
)


def test_names() -> None:
    assert {*NAMES, "recurrent"} <= set(Encoder.names())
    assert {"recurrent", "unet", "transformer", "custom"} <= set(Encoder.kinds())
    assert Encoder.parse("forward-lstm") == Recurrent(bidirectional=False, cell="lstm")


@pytest.mark.parametrize("name", NAMES)
def test_a_variant_describes_itself(name: str) -> None:
    encoder = Encoder.parse(name)
    assert Encoder.parse(encoder.model_dump(mode="json")) == encoder
    assert encoder.seconds_per_bin(12_096) == pytest.approx(MEASURED[name], rel=0.2)
    assert encoder.causal is ("forward" in name or "causal" in name)
    tiny = encoder.tiny()
    assert (type(tiny), tiny.causal) == (type(encoder), encoder.causal)
    assert sum(p.numel() for p in tiny.with_bins(48).build(3, 1, True).parameters()) < 6_000
    assert tiny.tiny().with_bins(48).build(3, 1, False) is not None


def test_only_fixed_lengths_follow_the_window() -> None:
    assert Encoder.parse("attention-unet").with_bins(24).fixed_bins == 24
    for name in ("gru", "unet", "transformer"):
        encoder = Encoder.parse(name)
        assert encoder.with_bins(24) is encoder
        assert encoder.fixed_bins is None


def test_tiles() -> None:
    assert Recurrent().tile(100) == UNet().tile(100) == WHOLE
    assert Recurrent().tile(2 * WHOLE) == 2 * WHOLE
    assert (Transformer().tile(100), Transformer().tile(1)) == (100, 2)


def test_a_module_is_a_custom_encoder() -> None:
    module = nn.Linear(3, 2)
    encoder = Encoder.parse(module)
    assert isinstance(encoder, Custom)
    assert encoder.model_dump() == {"kind": "custom", "name": "torch.nn.modules.linear.Linear"}
    built = encoder.build(3, 2, False)
    assert built is not module
    assert built.weight.equal(module.weight)
    assert (encoder.causal, encoder.fixed_bins) == (False, None)
    with pytest.raises(ConfigError, match=r"user's own module, mine\.Net: pass one"):
        Encoder.parse({"kind": "custom", "name": "mine.Net"}).build(3, 2, False)
    with pytest.raises(ConfigError, match="'custom' is not known; expected one of"):
        Encoder.parse("custom")


def test_an_encoder_of_somebody_else_needs_two_definitions() -> None:
    class Straight(Encoder):
        kind: Literal["test-straight"] = "test-straight"
        causal: bool = True

        def build(self, inputs: int, outputs: int, calendar: bool) -> nn.Module:
            return nn.Linear(inputs, outputs)

    encoder = Encoder.parse("test-straight")
    assert encoder.tiny() == encoder.with_bins(7) == Straight()
    assert encoder.tile(5) == WHOLE
    assert encoder.seconds_per_bin(5) > 0


def test_values_need_no_torch() -> None:
    program = (
        "import sys; from bdl.encoders import Encoder; "
        "Encoder.parse('gru').tiny(); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
