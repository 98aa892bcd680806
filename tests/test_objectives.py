"""Objectives: minimum at the conditional mean, agreement with torch, priors, masks."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.config import validate
from bdl.density import Density
from bdl.errors import ConfigError, InputError
from bdl.intervals import IntervalType
from bdl.kernels import Gaussian, Hard, Kernel, RightGaussian, Tolerance
from bdl.labels import Labels, mean_spacing
from bdl.objectives import (
    BDL,
    BoundaryBCE,
    EventClassifier,
    LocalizedMSE,
    Objective,
    Segmentation,
)
from bdl.targets import Crop

NAMES = Objective.names()
STRIDE = 10


def labels(seed=0, samples=4003):
    rng = np.random.default_rng(seed)
    spans = np.sort(rng.choice(samples, 8, replace=False)).reshape(4, 2).astype(np.int64)
    return Labels("a", 5.0, samples, (spans[:, 0], spans[:, 1]), (spans,))


def ready(name):
    objective = Objective.parse(name).complete(
        sigma=250.0, tolerances=(60.0, 180.0), reference_spacing=86400.0
    )
    return objective.resolve([labels()], stride=STRIDE)


def batch(objective, seed=0, size=3, bins=50):
    rng = torch.Generator().manual_seed(seed)
    target = torch.from_numpy(
        objective.target(labels(seed), Crop(0, 4003, STRIDE))[: size * bins]
    ).double()
    target = target.reshape(size, bins, -1)
    logits = torch.randn(target.shape, generator=rng, dtype=torch.float64)
    return logits, target


@pytest.mark.parametrize("name", NAMES)
def test_every_name_makes_an_objective_that_keeps_its_promises(name):
    objective = ready(name)
    assert validate(Objective, objective.model_dump(mode="json"), "objective") == objective
    interval = IntervalType("sleep", "onset", "wakeup")
    outputs = objective.outputs(["onset", "wakeup"], [interval])
    target = objective.target(labels(), Crop(200, 1005, STRIDE))
    assert (target.shape, target.dtype) == ((101, len(outputs)), np.float32)
    values = objective.density(torch.randn(401, len(outputs)) * 30).numpy()
    # The density's own checks: finite, nonnegative, and at most one where it says so.
    Density("a", values, outputs, 5.0, STRIDE, 4003, objective.density_kind, objective.bounded)
    assert (objective.density_kind == "state") == name.startswith("seg")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.floats(0, 3), min_size=1, max_size=6),
    st.floats(1e-5, 0.4),
    st.sampled_from(["bdl", "bdl-plain", "bce", "classifier", "segmentation", "mse"]),
)
def test_the_gradient_vanishes_at_the_conditional_mean(outcomes, rate, which):
    scale = 0.1
    objective = {
        "bdl": BDL(rate=rate, floor=1e-12),
        "bdl-plain": BDL(prior=False, floor=1e-12),
        "bce": BoundaryBCE(rate=rate),
        "classifier": EventClassifier(),
        "segmentation": Segmentation(),
        "mse": LocalizedMSE(rate=rate, scale=scale),
    }[which]
    target = torch.tensor(outcomes, dtype=torch.float64)
    if objective.bounded:
        target = target / 3
    mean = target.mean()
    if mean < 1e-6 or (objective.bounded and mean > 1 - 1e-6):
        return
    # The logit whose density is the mean, by bisection: every link rises.
    low, high = torch.tensor(-200.0).double(), torch.tensor(200.0).double()
    wanted = mean * scale if which == "mse" else mean
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if objective.density(middle) < wanted else (low, middle)
    logit = low.clone().requires_grad_()
    risk = objective.scores(logit.expand(len(target)), target).mean()
    (gradient,) = torch.autograd.grad(risk, logit)
    assert abs(gradient.item()) < 1e-7
    for step in (-0.1, 0.1):
        assert objective.scores((logit + step).expand(len(target)), target).mean() > risk


def test_bdl_hard_is_torch_poisson_likelihood_up_to_its_constant():
    objective = ready("bdl-hard")
    logits, target = batch(objective)
    target = target + torch.poisson(torch.full_like(target, 0.3), torch.Generator().manual_seed(1))
    density = objective.density(logits)
    plain = torch.nn.PoissonNLLLoss(log_input=False, full=False, eps=0.0)
    assert objective.loss(logits, target).item() == pytest.approx(plain(density, target).item())
    exact = -torch.distributions.Poisson(density).log_prob(target)
    constant = torch.lgamma(target + 1)
    torch.testing.assert_close(objective.scores(logits, target) + constant, exact)


def test_fractional_mass_is_scored_by_deviance():
    objective = ready("bdl-gaussian")
    logits, target = batch(objective)
    density = objective.density(logits)
    deviance = 2 * (torch.xlogy(target, target / density) - target + density)
    own = torch.xlogy(target, target) - target
    torch.testing.assert_close(2 * (objective.scores(logits, target) + own), deviance)


@pytest.mark.parametrize("name", ["bdl-hard", "bce-hard"])
def test_zero_logits_give_the_sparse_prior(name):
    objective = ready(name)
    assert objective.rate == pytest.approx(50 / 86400)
    assert objective.density(torch.zeros(1)).item() == pytest.approx(5.787e-4, rel=1e-3)
    off = objective.replace(prior=False, reference_spacing=None, rate=None)
    expected = math.log(2) if name.startswith("bdl") else 0.5
    assert off.density(torch.zeros(1)).item() == pytest.approx(expected)


def test_the_spacing_is_estimated_from_the_labels_given():
    made = BDL().resolve([labels(0), labels(1)], stride=STRIDE)
    assert made.reference_spacing == mean_spacing([labels(0), labels(1)]) == 4003 * 5 / 4
    assert made.rate == pytest.approx(50 / made.reference_spacing)
    for objective in (BDL(), EventClassifier()):
        with pytest.raises(InputError, match="no events"):
            objective.resolve([Labels("a", 5.0, 100, (np.zeros(0, np.int64),))], stride=STRIDE)
    with pytest.raises(InputError, match="one sampling period"):
        BDL().resolve([labels(), Labels("b", 1.0, 9, (np.array([1]),) * 2)], stride=STRIDE)


@pytest.mark.parametrize("objective", [BDL(), BoundaryBCE(), Segmentation(weighting="class")])
def test_an_unresolved_objective_says_so(objective):
    with pytest.raises(ConfigError, match="resolve"):
        objective.scores(torch.zeros(1), torch.zeros(1))


def test_bce_has_the_same_targets_cut_at_one():
    crowd = Labels("a", 5.0, 100, (np.array([3, 4, 57]),))
    where = Crop(0, 100, STRIDE)
    bdl, bce = BDL(kernel=Hard()), BoundaryBCE(kernel=Hard())
    assert bdl.target(crowd, where)[:, 0].max() == 2
    expected = np.minimum(bdl.target(crowd, where), 1)
    np.testing.assert_array_equal(bce.target(crowd, where), expected)
    soft = Gaussian(sigma=250.0)
    np.testing.assert_array_equal(
        BDL(kernel=soft).target(labels(), where),
        BoundaryBCE(kernel=soft).target(labels(), where),
    )


@pytest.mark.parametrize(
    "kernel", [Hard(), Gaussian(sigma=250.0), Tolerance(tolerances=(60.0, 180.0))]
)
def test_predicting_nothing_costs_about_one_in_squared_error(kernel):
    rng = np.random.default_rng(0)
    # One event in every 2000 samples, anywhere in the middle of its stretch.
    places = np.arange(400) * 2000 + rng.integers(500, 1500, 400)
    long = Labels("a", 5.0, 800_000, (places,))
    objective = LocalizedMSE(kernel=kernel).resolve([long], stride=STRIDE)
    target = torch.from_numpy(objective.target(long, Crop(0, 800_000, STRIDE)))
    cost = objective.loss(torch.zeros_like(target), target).item()
    assert cost == pytest.approx(1, rel=0.05)
    assert objective.density(target).max().item() == pytest.approx(1)


def test_segmentation_weights_are_the_capped_class_ratio():
    half = Labels("a", 5.0, 100, (), (np.array([[0, 25]]),))
    rare = Labels("b", 5.0, 100_000, (), (np.array([[0, 5]]),))
    assert Segmentation().resolve([half], stride=1).ratio == (3.0,)
    assert Segmentation().resolve([rare], stride=1).ratio == (100.0,)
    assert Segmentation(weighting="class", ratio=(2.0,)).resolve([half], stride=1).ratio == (2.0,)
    weighted = Segmentation(weighting="class").resolve([half], stride=1)
    logits, target = torch.zeros(1, 2, 1), torch.tensor([[[1.0], [0.0]]])
    torch.testing.assert_close(
        weighted.scores(logits, target), torch.tensor([[[3 * math.log(2)], [math.log(2)]]])
    )
    with pytest.raises(InputError, match="paired interval"):
        Segmentation().resolve([Labels("a", 5.0, 9, (), (np.zeros((0, 2), np.int64),))], stride=1)
    with pytest.raises(ConfigError, match="EventClassifier"):
        Segmentation().outputs(["beat"], [])


def test_focal_loss_is_the_published_one_on_whole_labels():
    z = torch.linspace(-4, 4, 9, dtype=torch.float64)
    p = torch.sigmoid(z)
    for label in (0.0, 1.0):
        target = torch.full_like(z, label)
        pt = p if label else 1 - p
        alpha = 0.25 if label else 0.75
        expected = -alpha * (1 - pt) ** 2 * pt.log()
        torch.testing.assert_close(Segmentation(weighting="focal").scores(z, target), expected)


@pytest.mark.parametrize("name", NAMES)
def test_masked_bins_carry_no_loss_and_no_gradient(name):
    objective = ready(name)
    logits, target = batch(objective)
    mask = torch.rand(logits.shape[:2], generator=torch.Generator().manual_seed(2)) < 0.5
    expected = objective.scores(logits[mask], target[mask]).mean()
    wild, wrong = logits.clone(), target.clone()
    wild[~mask] = float("nan")
    wrong[~mask] = float("nan")
    wild.requires_grad_()
    loss = objective.loss(wild, wrong, mask)
    torch.testing.assert_close(loss.detach(), expected)
    loss.backward()
    assert wild.grad is not None
    assert torch.isfinite(wild.grad).all()
    assert not wild.grad[~mask].any()
    assert wild.grad[mask].any()


def test_a_mask_may_be_per_output_and_may_leave_nothing():
    objective = ready("bdl-hard")
    logits, target = batch(objective)
    every = torch.ones_like(logits, dtype=torch.bool)
    torch.testing.assert_close(
        objective.loss(logits, target, every), objective.loss(logits, target)
    )
    first = every.clone()
    first[..., 1] = False
    torch.testing.assert_close(
        objective.loss(logits, target, first), objective.scores(logits, target)[..., 0].mean()
    )
    logits.requires_grad_()
    nothing = objective.loss(logits, target, ~every)
    nothing.backward()
    assert nothing.item() == 0
    assert not logits.grad.any()


@pytest.mark.parametrize("name", NAMES)
def test_extreme_and_half_precision_logits_stay_finite(name):
    objective = ready(name)
    logits, target = batch(objective)
    for wild in (logits.float() * 1e3, (logits * 5).bfloat16()):
        wild = wild.detach().requires_grad_()
        loss = objective.loss(wild, target.float())
        loss.backward()
        assert torch.isfinite(loss)
        assert torch.isfinite(wild.grad).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bdl", BDL()),
        ("bdl-hard", BDL(kernel=Hard())),
        ("bdl-right", BDL(kernel=RightGaussian())),
        ("bdl-right-gaussian", BDL(kernel=RightGaussian())),
        ("mse-tolerance", LocalizedMSE(kernel=Tolerance())),
        ("bce-gaussian", BoundaryBCE(kernel=Gaussian())),
        ("seg-weighted", Segmentation(weighting="class")),
        ("classifier", EventClassifier()),
    ],
)
def test_a_name_is_shorthand_for_a_value(name, value):
    assert Objective.parse(name) == value


def test_unknown_names_and_fields_are_errors():
    with pytest.raises(ConfigError, match="bdl-hard"):
        Objective.parse("bdl_hard")
    with pytest.raises(ConfigError, match="spread"):
        BDL(spread=1.0)


def test_every_registered_kernel_gives_names():
    class Triangle(Kernel):
        kind: str = "triangle-of-a-test"
        half: float = 2.0

        def weights(self, period):
            return -1, np.array([0.25, 0.5, 0.25])

    objective = Objective.parse("bce-triangle-of-a-test").complete()
    assert objective.kernel == Triangle()
    assert objective.resolve([labels()], stride=STRIDE).rate > 0
    assert validate(Objective, objective.model_dump(mode="json"), "objective") == objective


def test_complete_fills_in_what_is_missing_and_keeps_what_is_given():
    settings = {"sigma": 3.0, "tolerances": (1.0, 2.0), "reference_spacing": 60.0}
    assert Objective.parse("bdl-gaussian").complete(**settings) == BDL(
        kernel=Gaussian(sigma=3.0), reference_spacing=60.0
    )
    own = BDL(kernel=Tolerance(tolerances=(5.0,), width=0.5), reference_spacing=7.0)
    assert own.complete(**settings) == own
    half = BDL(kernel=Tolerance(width=0.5)).complete(**settings)
    assert half.kernel == Tolerance(tolerances=(1.0, 2.0), width=0.5)
    assert Segmentation().complete(**settings) == Segmentation()
    for name, missing in (
        ("bdl-gaussian", "sigma"),
        ("bdl-right", "sigma"),
        ("bce-tolerance", "tolerances"),
    ):
        with pytest.raises(ConfigError, match=missing):
            Objective.parse(name).complete()
        with pytest.raises(ConfigError, match=missing):
            Objective.parse(name).kernel.weights(1.0)


@pytest.mark.parametrize(
    ("objective", "fields"),
    [
        (BDL, {"prior": False, "reference_spacing": 60.0}),
        (Segmentation, {"cap": 10.0}),
        (Segmentation, {"weighting": "class", "gamma": 1.0}),
        (Segmentation, {"weighting": "focal", "cap": 10.0}),
    ],
)
def test_a_field_without_effect_is_an_error(objective, fields):
    with pytest.raises(ConfigError, match="no effect"):
        objective(**fields)


def test_a_prior_rate_that_contradicts_the_spacing_is_an_error():
    with pytest.raises(ConfigError, match="contradicts the reference spacing"):
        BDL(rate=0.5).resolve([labels()], stride=STRIDE)
    resolved = BDL().resolve([labels()], stride=STRIDE)
    assert resolved.resolve([labels()], stride=STRIDE) == resolved


def test_rare_rates_survive_single_precision():
    tiny = BDL(rate=1e-6)
    assert tiny.density(torch.zeros(1)).item() == pytest.approx(1.01e-6, rel=1e-3)


def test_a_rate_and_a_spacing_are_not_given_together():
    with pytest.raises(ConfigError, match="rate follows from reference_spacing"):
        Objective.parse({"kind": "bdl", "rate": 0.1, "reference_spacing": 5.0})
    known = BDL(reference_spacing=5.0).replace(rate=0.1)
    assert Objective.parse(known.model_dump()) == known
