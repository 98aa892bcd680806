"""Decoders bin by bin: the detections of the finished recording, for any cutting into parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.decoding import Decoder, ExpectedAP, ForwardMass, Peaks, Transitions
from bdl.decoding.incremental import BinClock, FinalDetections
from bdl.density import Density
from bdl.intervals import IntervalType
from naive.forward_mass import forward_mass

INTERVALS = (IntervalType("x", "on", "off"), IntervalType("y", "begin", "end"))
PARTS = st.lists(st.integers(0, 12), max_size=20)


@st.composite
def densities(draw: st.DrawFn, most: int = 60) -> Density:
    """Few distinct values, so that there are ties and flat tops; the last bin may be partial."""
    bins = draw(st.integers(0, most))
    values = draw(st.lists(st.integers(0, 6), min_size=2 * bins, max_size=2 * bins))
    stride = draw(st.integers(1, 4))
    partial = draw(st.integers(1, stride))
    samples = (bins - 1) * stride + partial if bins else 0
    table = (np.array(values, np.float32) / np.float32(7)).reshape(bins, 2)
    return Density("a", table, ("x", "y"), 0.5, stride=stride, samples=samples)


def intervals_of(density: Density) -> tuple[IntervalType, ...]:
    """Interval types of the columns of a density of states; those of events have none."""
    return INTERVALS if density.kind == "state" else ()


def in_parts(decoder: Decoder, density: Density, parts: list[int], *, save: bool):
    """All final detections by type; the last bins and the end come at the end."""
    clock = BinClock(density.period, density.stride)
    stream = decoder.incremental(clock, density.types, intervals_of(density))
    pieces: dict[str, list[FinalDetections]] = {}
    whole = len(density.values) - bool(density.samples % density.stride)
    first = 0
    for size in parts:
        stop = min(first + size, whole)
        for event, part in stream.push(density.values[first:stop]).items():
            pieces.setdefault(event, []).append(part)
        first = stop
        if save:
            state = {name: array.copy() for name, array in stream.save().items()}
            stream = decoder.incremental(clock, density.types, intervals_of(density))
            stream.restore(state)
    for event, part in stream.finish(density.values[first:], density.samples).items():
        pieces.setdefault(event, []).append(part)
    return {
        event: FinalDetections(*map(np.concatenate, zip(*listed, strict=True)))
        for event, listed in pieces.items()
    }


def check_against_whole(decoder: Decoder, density: Density, parts: list[int], save: bool) -> None:
    from_parts = in_parts(decoder, density, parts, save=save)
    at_once = in_parts(decoder, density, [], save=False)
    whole = decoder.detect(density, intervals_of(density))
    for event in whole:
        for ours, once in zip(from_parts[event], at_once[event], strict=True):
            assert ours.tobytes() == once.tobytes()
        order = np.lexsort((-from_parts[event].score, from_parts[event].time))
        assert from_parts[event].time[order].tobytes() == whole[event].time.tobytes()
        assert from_parts[event].score[order].tobytes() == whole[event].score.tobytes()
        assert (np.diff(from_parts[event].known) >= 0).all()


@settings(max_examples=60, deadline=None)
@given(
    densities(),
    PARTS,
    st.booleans(),
    st.sampled_from([0.0, 0.4, 1.3]),
    st.sampled_from([0.0, 1.0, 2.5, 6.0]),
    st.sampled_from(["higher", "earlier"]),
    st.sampled_from(["bins", "samples"]),
    st.sampled_from([0.0, 0.3]),
)
def test_peaks_in_parts(density, parts, save, smooth, separation, keep, clock, threshold) -> None:
    decoder = Peaks(
        smooth=smooth, smoothing="trailing", separation=separation, clock=clock,
        threshold=threshold, keep=keep if separation else "higher",
    )  # fmt: skip
    check_against_whole(decoder, density, parts, save)


@settings(max_examples=40, deadline=None)
@given(
    densities(),
    PARTS,
    st.booleans(),
    st.sampled_from([(1.0,), (0.5, 2.0)]),
    st.sampled_from([0.0, 1.0, 3.0]),
    st.sampled_from([0.0, 2.0]),
    st.sampled_from([1.0, 1.5]),
)
def test_forward_mass_in_parts(density, parts, save, tolerances, ahead, separation, unit) -> None:
    decoder = ForwardMass(
        tolerances=tolerances, look_ahead=ahead, separation=separation, unit=unit, threshold=0.01
    )
    check_against_whole(decoder, density, parts, save)
    ours = in_parts(decoder, density, parts, save=save)
    for column, event in enumerate(density.types):
        expected = forward_mass(
            density.values[:, column], period=density.period, stride=density.stride,
            samples=density.samples, tolerances=tolerances, look_ahead=ahead, threshold=0.01,
            separation=separation, unit=unit,
        )  # fmt: skip
        assert ours[event].time.tolist() == [density.times[b] for b, _, _ in expected]
        assert ours[event].score.tolist() == [score for _, score, _ in expected]
        assert ours[event].known.tolist() == [known for _, _, known in expected]


@settings(max_examples=30, deadline=None)
@given(densities(), st.sampled_from([0.0, 2.0]))
def test_a_long_look_ahead_gives_the_expected_ap_decoder(density, separation) -> None:
    ahead = density.samples * density.period + 1
    ours = ForwardMass(
        tolerances=(0.5, 2.0), look_ahead=ahead, separation=separation, threshold=0.01
    ).detect(density)
    whole = ExpectedAP(tolerances=(0.5, 2.0), separation=separation, threshold=0.01).detect(density)
    for event in density.types:
        assert ours[event].time.tolist() == whole[event].time.tolist()
        assert ours[event].score.tolist() == whole[event].score.tolist()


@settings(max_examples=60, deadline=None)
@given(
    densities(),
    PARTS,
    st.booleans(),
    st.sampled_from(["threshold", "difference"]),
    st.sampled_from([0.5, 2.0, 7.0, 100.0]),
    st.sampled_from([0.0, 0.6]),
    st.sampled_from([0.0, 2.0, 6.0]),
    st.sampled_from(["bins", "samples"]),
)
def test_transitions_in_parts(
    density, parts, save, scorer, window, smooth, separation, clock
) -> None:
    density = replace(density, kind="state", bounded=True)
    decoder = Transitions(
        scorer=scorer, window=window, smooth=smooth, smoothing="trailing", separation=separation,
        clock=clock, threshold=0.05, **({"level": 0.4} if scorer == "threshold" else {}),
    )  # fmt: skip
    check_against_whole(decoder, density, parts, save)


def test_a_peak_is_final_at_the_first_lower_bin() -> None:
    values = np.array([[0.0], [0.5], [0.2], [0.9], [0.1], [0.0], [0.0]], np.float32)
    density = Density("a", values, ("x",), 1.0, stride=1, samples=7)
    assert in_parts(Peaks(), density, [], save=False)["x"].known.tolist() == [2, 4]
    # The lower one is never given; the higher one waits until no peak can be nearer.
    separated = in_parts(Peaks(separation=3.0), density, [], save=False)["x"]
    assert (separated.time.tolist(), separated.known.tolist()) == ([3.0], [5])


def test_memory_stays_flat() -> None:
    rng = np.random.default_rng(0)
    for decoder in (
        Peaks(separation=8.0, smooth=2.0, smoothing="trailing"),
        ForwardMass(tolerances=(2.0, 5.0), look_ahead=5.0),
    ):
        stream = decoder.incremental(BinClock(1.0, 2), ("x",))
        sizes = []
        for _ in range(40):
            stream.push(rng.random((500, 1), dtype=np.float32))
            sizes.append(sum(array.nbytes for array in stream.save().values()))
        assert max(sizes) < 4_000  # of 20,000 bins


@pytest.mark.parametrize(
    ("decoder", "why"),
    [
        (ExpectedAP(tolerances=(1.0,)), "whole recording"),
        (Peaks(smooth=1.0), "centred smoothing"),
        (Peaks(alternate=True), "alternation"),
    ],
)
def test_decoders_say_why_they_look_ahead(decoder: Decoder, why: str) -> None:
    assert why in (decoder.looks_ahead or "")
    assert decoder.forward().looks_ahead is None
