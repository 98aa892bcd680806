"""Functions that process small inputs in plain Python give the same bits as when compiled.

Every call of such a function is made both ways, while events are scored, paired and decoded.
"""

import copy
import sys

import numpy as np
import pytest

import bdl
from bdl import Density, Events, IntervalType, Recording, compiled
from bdl.compiled import Compiled
from bdl.decoding import Peaks
from bdl.decoding.incremental_maxima import MaximaStream
from bdl.evaluation import bootstrap
from bdl.evaluation.largest_pairs import largest_pairs
from bdl.evaluation.reconstruction import ExponentialRecursion
from bdl.evaluation.rounding import is_nearer_compiled
from bdl.pairing import pair
from bdl.quality import Quality

SLEEP = IntervalType("sleep", onset="onset", offset="wakeup")


def assert_same(plain: object, machine: object) -> None:
    """Equal types of arrays and equal bits; of numbers, equal values."""
    if isinstance(machine, tuple):
        assert len(plain) == len(machine)
        for left, right in zip(plain, machine, strict=True):
            assert_same(left, right)
    elif isinstance(machine, np.ndarray):
        assert plain.dtype == machine.dtype
        assert plain.tobytes() == machine.tobytes()
    else:
        np.testing.assert_equal(plain, machine)


@pytest.fixture
def both_ways(monkeypatch) -> set[Compiled]:
    """Makes every call both ways; holds the functions that were called."""
    called = set()

    def call(self: Compiled, *arguments: object) -> object:
        if not self._small_in_python or getattr(compiled._state, "interpreting", False):
            return self.dispatcher(*arguments)
        copies = copy.deepcopy(arguments)
        monkeypatch.setattr(compiled._state, "interpreting", True, raising=False)
        with np.errstate(all="ignore"):
            plain = self.py_func(*copies)
        monkeypatch.setattr(compiled._state, "interpreting", False, raising=False)
        machine = self.dispatcher(*arguments)
        assert_same(plain, machine)
        assert_same(copies, arguments)
        called.add(self)
        return machine

    monkeypatch.setattr(Compiled, "__call__", call)
    return called


def random_events(rng: np.random.Generator, scored: bool) -> Events:
    """Events with ties of time and score."""
    rows = int(rng.integers(1, 40))
    recordings = rng.choice([*"abc"], rows).tolist()
    types = rng.choice(["onset", "wakeup"], rows).tolist()
    time = rng.integers(0, 60, rows) / 2
    return Events.of(recordings, types, time, rng.integers(0, 9, rows) / 8 if scored else None)


def random_density(rng: np.random.Generator) -> Density:
    """A density of onsets and wakeups."""
    values = rng.uniform(size=(50, 2)).astype(np.float32)
    return Density("a", values, ("onset", "wakeup"), 1.0, stride=2, samples=100)


def random_recording(rng: np.random.Generator) -> Recording:
    """Three axes with missing samples, equal ones in a row, and stretches that come again."""
    values = rng.integers(0, 3, (90, 3)) / 4.0
    values[50:80] = values[10:40]
    values[rng.integers(0, 90, 4), 0] = np.nan
    return Recording.of(values.astype(np.float32), id="a", period=1.0, channels=("x", "y", "z"))


def test_both_ways_give_the_same_bits(both_ways):
    quality = Quality(flat=3.0, clipped=3.0, repeated=16.0, non_wear={"window": 20.0})
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth, detections = random_events(rng, False), random_events(rng, True)
        everything = [*"abc"]
        score = bdl.score(truth, detections, (1.0, 4.0), recordings=everything, unknown="ignore")
        score.to_dict()
        bootstrap({"all": score.matches}, replicates=10)
        pair(detections, SLEEP, rule="best", min_gap=1.0)
        density = random_density(rng)
        Peaks(separation=6.0, alternate=True).decode(density, (SLEEP,))
        ExponentialRecursion().probabilities(density, SLEEP)
        is_nearer_compiled(*rng.integers(0, 4, 3).astype(float))
        sides = (np.sort(rng.integers(0, 60, 9)) / 2.0 for _ in range(2))
        largest_pairs(*sides, 2.0, inclusive=seed % 2 == 0)
        stream = MaximaStream(width=2, distance=3, keep="earlier")
        stream.push(rng.integers(0, 5, 50) / 4.0, last=True)
        quality.of(random_recording(rng))
    small = {
        value
        for name, module in [*sys.modules.items()]
        if name.startswith("bdl.")
        for value in vars(module).values()
        if isinstance(value, Compiled) and value._small_in_python
    }
    assert both_ways == small
