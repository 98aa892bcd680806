"""Windows: random starts, tiles that cover, stitching that changes nothing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import ConfigError, InputError
from bdl.windows import (
    Tile,
    random_start,
    span,
    stitch,
    tiles,
    window_bins,
)

covers = st.tuples(st.integers(1, 300), st.integers(1, 60)).flatmap(
    lambda p: st.tuples(st.just(p[0]), st.just(p[1]), st.integers(0, p[1] // 2))
)
shifted_covers = covers.flatmap(
    lambda p: st.tuples(*map(st.just, p), st.integers(0, p[1] - p[2] - 1))
)


@settings(max_examples=500, deadline=None)
@given(shifted_covers)
def test_tiles_cover_and_what_is_kept_of_them_is_a_partition(case):
    bins, size, overlap, shift = case
    cover = tiles(bins, size=size, overlap=overlap, shift=shift)
    assert cover[0].keep == 0
    assert cover[-1].until == bins
    assert all(t.first <= t.keep < t.until <= t.stop for t in cover)
    assert all(a.until == b.keep for a, b in pairwise(cover))
    assert {t.stop - t.first for t in cover} == {min(size, bins)}
    # No kept bin lies nearer to a cut edge than half an overlap.
    for t in cover:
        assert t.first == 0 or t.keep - t.first >= overlap // 2
        assert t.stop == bins or t.stop - t.until >= overlap // 2


@settings(max_examples=500, deadline=None)
@given(covers, st.integers(0, 2**32 - 1))
def test_tiles_that_agree_are_stitched_to_what_they_say(case, seed):
    bins, size, overlap = case
    truth = np.random.default_rng(seed).random((bins, 2)).astype(np.float32)
    cover = tiles(bins, size=size, overlap=overlap)
    padded = np.concatenate([truth, np.zeros((size, 2), np.float32)])
    parts = [(t, padded[t.first : t.first + size]) for t in cover]
    np.random.default_rng(seed).shuffle(parts)
    joined = stitch(parts, bins=bins, outputs=2)
    np.testing.assert_array_equal(joined, truth)
    assert joined.dtype == np.float32


def test_a_gap_or_a_wrong_shape_is_an_error():
    with pytest.raises(InputError, match="covers bin 4"):
        stitch([(Tile(0, 4, 0, 4), np.zeros((4, 1)))], bins=6, outputs=1)
    with pytest.raises(InputError, match=r"\(4, 2\)"):
        stitch([(Tile(0, 4, 0, 4), np.zeros((4, 1)))], bins=4, outputs=2)
    with pytest.raises(InputError, match=r"got \(3, 2\)"):
        stitch([(Tile(0, 4, 0, 4), np.zeros((3, 2)))], bins=4, outputs=2)


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 6), (10, -1)])
def test_tiles_that_cannot_be_are_refused(size, overlap):
    with pytest.raises(ConfigError, match="overlap"):
        tiles(20, size=size, overlap=overlap)


def test_random_starts_are_uniform_and_reproducible():
    rng = np.random.default_rng(3)
    starts = [random_start(14, 10, rng) for _ in range(5000)]
    counts = np.bincount(starts, minlength=5)
    assert len(counts) == 5
    assert (np.abs(counts - 1000) < 5 * np.sqrt(1000)).all()
    rng = np.random.default_rng(3)
    assert starts[:20] == [random_start(14, 10, rng) for _ in range(20)]


def test_a_short_recording_does_not_change_the_windows_after_it():
    first, other = np.random.default_rng(3), np.random.default_rng(3)
    random_start(5, 10, first)
    random_start(500, 10, other)
    assert random_start(5000, 10, first) == random_start(5000, 10, other)


@given(st.integers(1, 30), st.integers(0, 10), st.integers(1, 10), st.integers(1, 7))
def test_a_span_holds_the_samples_of_its_bins(samples, first, size, stride):
    begin, length = span(first, size, stride=stride, samples=samples)
    inside = [s for s in range(samples) if first <= s // stride < first + size]
    assert list(range(begin, begin + length)) == inside


def test_windows_that_cannot_be_are_refused():
    assert window_bins(3600.0, period=1 / 256, stride=512) == 1800
    assert window_bins(50.0, period=5.0, stride=10) == 1
    with pytest.raises(ConfigError, match="longer than the window"):
        window_bins(49.0, period=5.0, stride=10)
    with pytest.raises(ConfigError, match="positive"):
        window_bins(float("nan"), period=5.0, stride=10)
    with pytest.raises(ConfigError, match="positive"):
        window_bins(10.0, period=0.0, stride=10)
