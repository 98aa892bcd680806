"""Repeated stretches of one channel, such as a buffer that was transmitted twice.

A window of ``length`` samples is repeated if it equals, sample by sample, one that began at most
`LOOK_BACK` lengths earlier, and if at least half of its samples differ from the one before: a quiet
signal of few distinct values repeats itself by chance. A missing sample equals nothing. All samples
of repeated windows are repeated; the first occurrence is not.

A rolling hash of the latest window is looked up among those of the earlier windows, and a match is
compared sample by sample: linear time, and memory for `LOOK_BACK` lengths.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Longs, Singles
from bdl.compiled import compiled
from bdl.quality.stretches import Spans

LOOK_BACK = 10  # lengths
BASE = 0x9E3779B97F4A7C15  # of the hash: odd


class Repeats:
    """Repeated stretches of at least ``length`` samples of a channel, which is passed in chunks.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=40).astype(np.float32)
    >>> repeats = Repeats(length=16)
    >>> repeats.add(noise)
    >>> repeats.add(np.concatenate([noise[20:], noise[:7]]))
    >>> repeats.stretches().tolist()
    [[40, 60]]
    """

    def __init__(self, length: int) -> None:
        self._length, self._back = length, LOOK_BACK * length
        slots = 1 << (2 * self._back).bit_length()
        # Two tables of hashes and the windows' last samples, each filled for `back` samples.
        self._keys = np.zeros((2, slots), np.uint64)
        self._places = np.full((2, slots), -1, np.int64)
        self._hash = np.zeros(1, np.uint64)
        self._numbers = np.zeros(7, np.int64)
        self._power = np.array([pow(BASE, length, 1 << 64)], np.uint64)
        self._row = 0
        self._tail = np.zeros(0, np.float32)
        self._found: list[Spans] = [np.zeros((0, 2), np.int64)]

    def add(self, samples: Singles) -> None:
        """Add the next samples."""
        joined = np.concatenate([self._tail, samples + np.float32(0)])  # -0 and 0 have other bits
        out = np.empty((len(samples) // self._length + 2, 2), np.int64)
        count = _scan(
            joined,
            joined.view(np.uint32),
            len(self._tail),
            self._row,
            self._length,
            self._back,
            self._power,
            self._keys,
            self._places,
            self._hash,
            self._numbers,
            out,
        )
        self._found.append(out[:count].copy())
        self._row += len(samples)
        self._tail = joined[max(0, len(joined) - self._back - self._length) :].copy()

    def stretches(self) -> Spans:
        """Return the repeated stretches, after all samples."""
        last = self._numbers[3:5]
        return np.concatenate([*self._found, last[None] if last[1] else last[:0].reshape(0, 2)])


@compiled(small_in_python=True)
def _scan(
    values: Singles,
    bits: NDArray[np.uint32],
    old: int,
    first: int,
    length: int,
    back: int,
    power: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    places: Longs,
    hashed: NDArray[np.uint64],
    numbers: Longs,
    out: Longs,
) -> int:
    """Write the stretches that are complete; return their number.

    The first ``old`` of the ``values`` are from earlier chunks; the next one is sample ``first``.
    """
    base = np.uint64(0x9E3779B97F4A7C15)
    # Present samples in a row; changes in the window; distance to its equal; the open stretch; the
    # table that is being filled, and the sample from which it is.
    present, moves, delay, start, stop, table, since = numbers
    slots = keys.shape[1]
    code = hashed[0]
    count = 0
    for j in range(old, len(values)):
        row = first + j - old
        if row - since >= back:
            table, since = 1 - table, row
            for slot in range(slots):
                places[table, slot] = -1
        x = values[j]
        if x != x:
            present, moves, delay, code = 0, 0, 0, np.uint64(0)
            continue
        present += 1
        code = code * base + _mixed(bits[j])
        if present > 1 and x != values[j - 1]:
            moves += 1
        if present > length:
            code -= power[0] * _mixed(bits[j - length])
            if values[j - length + 1] != values[j - length]:
                moves -= 1
        if present < length or 2 * moves < length:
            delay = 0
            continue
        slot = _slot(code, keys, places, table)
        if delay == 0 or values[j - delay] != x:
            delay = 0
            place = places[table, slot]
            if place < 0:
                place = places[1 - table, _slot(code, keys, places, 1 - table)]
            if place >= 0 and row - place <= back:
                delay = row - place
                for k in range(length):
                    if values[j - k] != values[j - k - delay]:
                        delay = 0
                        break
        keys[table, slot] = code
        places[table, slot] = row
        if delay > 0:
            if stop > 0 and row - length < stop:
                stop = row + 1
            else:
                if stop > 0:
                    out[count, 0], out[count, 1] = start, stop
                    count += 1
                start, stop = row - length + 1, row + 1
    hashed[0] = code
    numbers[0], numbers[1], numbers[2], numbers[3] = present, moves, delay, start
    numbers[4], numbers[5], numbers[6] = stop, table, since
    return count


@compiled
def _mixed(bits: np.uint32) -> np.uint64:
    mixed = (np.uint64(bits) + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9)
    return mixed ^ (mixed >> np.uint64(29))


@compiled
def _slot(code: np.uint64, keys: NDArray[np.uint64], places: Longs, table: int) -> int:
    """The slot of a hash in a table, or the free one where it would be."""
    slots = keys.shape[1]
    mixed = (code ^ (code >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
    slot: int = np.int64(mixed >> np.uint64(33)) & (slots - 1)  # a power of two
    while places[table, slot] >= 0 and keys[table, slot] != code:
        slot = slot + 1 if slot + 1 < slots else 0
    return slot
