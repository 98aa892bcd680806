"""Every published encoder: its size, its shape, what it may see, and that padding says nothing."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bdl.encoders import Encoder, Recurrent, Transformer, UNet
from bdl.errors import ConfigError, InputError

SMALL = {
    "gru": Recurrent(width=8),
    "lstm": Recurrent(width=8, cell="lstm"),
    "forward-gru": Recurrent(width=8, bidirectional=False),
    "forward-lstm": Recurrent(width=8, bidirectional=False, cell="lstm"),
    "unet": UNet(channels=(8, 8, 16)),
    "attention-unet": UNet(channels=(8, 8, 16), attention=True, bins=24),
    "transformer": Transformer(width=16, layers=2),
    "causal": Transformer(width=16, layers=2, causal=True),
    "local": Transformer(width=16, layers=2, causal=True, local_convolution=True, kernel=4),
    "context": Transformer(
        width=16, layers=2, causal=True, context=5, local_convolution=True, kernel=4
    ),
}
BINS = 24
CAUSAL = [name for name, encoder in SMALL.items() if encoder.causal]


@pytest.fixture(autouse=True)
def _seed() -> None:
    """The same weights in every run: with some, a small U-Net has no active unit at a bin."""
    torch.manual_seed(0)


def _parameters(encoder: Encoder, inputs: int, outputs: int, cal: bool) -> int:
    with torch.device("meta"):
        module = encoder.build(inputs, outputs, cal)
    return sum(p.numel() for p in module.parameters())


def _data(batch: int = 2, bins: int = BINS, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    g = torch.Generator().manual_seed(seed)
    return (
        torch.randn(batch, bins, 3, generator=g),
        torch.randint(24, (batch, bins), generator=g),
        torch.randint(7, (batch, bins), generator=g),
    )


@pytest.mark.parametrize(
    ("name", "inputs", "outputs", "calendar", "count"),
    [
        ("gru", 8, 2, True, 51_746),
        ("gru", 8, 1, True, 51_713),
        ("unet", 8, 2, True, 560_258),
        ("attention-unet", 8, 2, True, 37_150_658),
        ("transformer", 8, 2, True, 201_602),
        ("causal-transformer", 8, 2, True, 201_602),
        ("chbmit-gru", 84, 2, False, 1_201_410),
    ],
)
def test_published_sizes(name: str, inputs: int, outputs: int, calendar: bool, count: int) -> None:
    assert _parameters(Encoder.parse(name), inputs, outputs, calendar) == count


@pytest.mark.parametrize("name", SMALL)
def test_shape_gradients_and_config(name: str) -> None:
    encoder = SMALL[name]
    assert Encoder.parse(encoder.model_dump(mode="json")) == encoder
    module = encoder.build(3, 2, True)
    assert (module.causal, module.fixed_bins) == (encoder.causal, encoder.fixed_bins)
    logits = module(*_data())
    assert logits.shape == (2, BINS, 2)
    logits.square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in module.parameters())


@pytest.mark.parametrize("name", CAUSAL)
@pytest.mark.parametrize("place", [1, 7, BINS - 1])
def test_causal_never_sees_the_future(name: str, place: int) -> None:
    module = SMALL[name].build(3, 1, True).eval()
    values, hour, weekday = _data()
    before = module(values, hour, weekday)
    values[:, place:] = 5.0
    hour[:, place:] = 0
    after = module(values, hour, weekday)
    assert torch.equal(before[:, :place], after[:, :place])
    assert not torch.equal(before[:, place], after[:, place])


@pytest.mark.parametrize("name", [n for n in SMALL if n not in CAUSAL])
def test_offline_sees_the_future_and_carries_no_state(name: str) -> None:
    module = SMALL[name].build(3, 1, True).eval()
    values, hour, weekday = _data()
    before = module(values, hour, weekday)
    values[:, 9:] = 5.0
    assert not torch.equal(before[:, 8], module(values, hour, weekday)[:, 8])
    with pytest.raises(InputError, match="looks ahead"):
        module.initial_state(1)
    with pytest.raises(InputError, match="looks ahead"):
        module.step(values, ())


@pytest.mark.parametrize("name", CAUSAL)
@pytest.mark.parametrize("cuts", [(5,), (1, 2, 3), (8, 16, 23)])
def test_tiles_equal_the_whole(name: str, cuts: tuple[int, ...]) -> None:
    module = SMALL[name].build(3, 2, True).eval()
    data = _data()
    whole = module(*data)
    state = module.initial_state(2)
    parts = []
    for first, end in zip((0, *cuts), (*cuts, BINS), strict=True):
        values, hour, weekday = (x[:, first:end] for x in data)
        part, state = module.step(values, state, hour, weekday)
        parts.append(part)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("name", [n for n in SMALL if n != "attention-unet"])
@pytest.mark.parametrize("lengths", [(24, 7), (13, 2), (1, 23)])
def test_padding_changes_nothing_before_it(name: str, lengths: tuple[int, int]) -> None:
    module = SMALL[name].build(3, 2, True).eval()
    values, hour, weekday = _data()
    mask = torch.arange(BINS) < torch.tensor(lengths)[:, None]
    values[~mask] = 1e3
    padded = module(values, hour, weekday, mask)
    assert padded.isfinite().all()
    for i, n in enumerate(lengths):
        alone = module(values[i : i + 1, :n], hour[i : i + 1, :n], weekday[i : i + 1, :n])
        torch.testing.assert_close(padded[i : i + 1, :n], alone, atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ["unet", "attention-unet"])
def test_padding_stays_out_of_the_batch_statistics(name: str) -> None:
    values, hour, weekday = _data()
    mask = torch.arange(BINS) < torch.tensor([BINS, 9])[:, None]
    torch.manual_seed(0)
    module = SMALL[name].build(3, 2, True).train()
    first = module(values, hour, weekday, mask)
    learned = module.down1.norm1.running_mean.clone()
    torch.manual_seed(0)
    module = SMALL[name].build(3, 2, True).train()
    values[~mask] = 1e3
    second = module(values, hour, weekday, mask)
    torch.testing.assert_close(first[mask], second[mask])
    torch.testing.assert_close(learned, module.down1.norm1.running_mean)


@pytest.mark.parametrize("name", SMALL)
def test_items_of_a_batch_never_meet(name: str) -> None:
    module = SMALL[name].build(3, 2, True).eval()
    data = _data(batch=3)
    together = module(*data)
    for i in range(3):
        alone = module(*(x[i : i + 1] for x in data))
        torch.testing.assert_close(together[i : i + 1], alone, atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("bins", [1, 2, 3, 5, 1001])
@pytest.mark.parametrize("name", [n for n in SMALL if n != "attention-unet"])
def test_any_length(name: str, bins: int) -> None:
    module = SMALL[name].build(3, 2, False)
    values = _data(batch=1, bins=bins)[0]
    assert module(values).shape == (1, bins, 2)
    assert module.eval()(values).isfinite().all()


def test_upsampling_repeats_every_bin_at_lengths_where_a_ratio_slips() -> None:
    from bdl.encoders.networks.unet import _double, _halve

    x = torch.arange(46_001, dtype=torch.float32)[None, :, None]
    half, _ = _halve(x, None)
    repeated = _double(half, x, None)[0, :, 0]
    assert torch.equal(repeated, (x[0, :, 0] // 2 * 2 + 1).clamp(max=46_000))


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (lambda: Recurrent(width=0), ConfigError, "width"),
        (lambda: Recurrent(widht=3), ConfigError, "widht"),
        (lambda: UNet(attention=True, bins=100), ConfigError, "multiple of 4 × heads = 12"),
        (lambda: UNet(kernel=4), ConfigError, "odd"),
        (lambda: UNet(heads=5), ConfigError, "heads has no effect without attention"),
        (lambda: UNet(bins=96), ConfigError, "bins has no effect without attention"),
        (lambda: Transformer(kernel=31), ConfigError, "kernel has no effect without local_conv"),
        (lambda: UNet(channels=(0, 1, 1)), ConfigError, "from 1 to"),
        (lambda: Transformer(width=10, heads=4), ConfigError, "multiple of heads"),
        (lambda: Recurrent().build(0, 1, False), ConfigError, "at least one input"),
        (lambda: Encoder.parse("rnn"), ConfigError, "not known"),
        (
            lambda: Recurrent().build(3, 1, False)(torch.zeros(1, 4, 2)),
            InputError,
            r"\(batch, bins, 3\) expected, got \(1, 4, 2\)",
        ),
        (
            lambda: Recurrent().build(3, 1, True)(torch.zeros(1, 4, 3)),
            InputError,
            "weekday are missing",
        ),
        (
            lambda: SMALL["attention-unet"].build(3, 1, False)(torch.zeros(1, 4, 3)),
            InputError,
            "exactly 24 bins expected, got 4",
        ),
    ],
)
def test_bad_use(work: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        work()  # type: ignore[operator]


def test_a_context_bounds_what_is_seen_and_carried() -> None:
    """Also with more bins than one slice of attention has, and a start in the middle of a tile."""
    module = SMALL["context"].build(3, 1, False).eval()
    for layer in module.layers:
        torch.nn.init.normal_(layer.distances)
    values = _data(bins=1_100)[0]
    changed = values.clone()
    changed[:, :600] += 3.0
    with torch.inference_mode():
        whole = module(values)
        differs = (module(changed) - whole).abs().amax(dim=(0, 2)) > 0
        assert differs[:600].all()
        assert int(differs.nonzero().max()) == 599 + 2 * 4  # two layers of four bins before
        state, first, parts, shapes = module.initial_state(2), 0, [], set()
        for size in (1, 2, 1, 7, 700, 389):
            part, state = module.step(values[:, first : first + size], state)
            parts.append(part)
            first += size
            shapes.add(tuple(tensor.shape for tensor in state))
    assert len(shapes) == 1
    assert torch.allclose(torch.cat(parts, dim=1), whole, atol=1e-6)
    # Streams of other ages beside it: each has its own start.
    with torch.inference_mode():
        _, young = module.step(values[:1, :2], module.initial_state(1))
        _, old = module.step(values[1:, :9], module.initial_state(1))
        both = tuple(torch.cat(pair) for pair in zip(young, old, strict=True))
        next_bins = torch.stack([values[0, 2:4], values[1, 9:11]])
        together, _ = module.step(next_bins, both)
    assert torch.allclose(together[0], whole[0, 2:4], atol=1e-6)
    assert torch.allclose(together[1], whole[1, 9:11], atol=1e-6)
    with pytest.raises(ConfigError, match="causal"):
        Encoder.parse({"kind": "transformer", "context": 5})
