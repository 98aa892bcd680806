"""Plain NDJSON lines read in compiled code: what the reader of single lines reads, or nothing."""

from __future__ import annotations

import json
import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bdl.errors import InputError
from bdl.live.line_formats import LineReader
from bdl.live.line_scan import scan

NUMBERS = (
    st.none()
    | st.integers(-(10**19), 10**19)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(-100, 100).map(lambda x: round(x, 4))
)
WRITTEN = NUMBERS.map(json.dumps) | st.from_regex(
    r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True
)
BLANKS = st.sampled_from(["", " ", "\t", "  ", "\r"])


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A plain line with white space anywhere, its keys in any order."""
    values = draw(st.lists(WRITTEN, min_size=1, max_size=3))
    gap = [draw(BLANKS) for _ in range(6)]
    parts = [f'"values"{gap[0]}:{gap[1]}[{gap[2]}' + f"{gap[3]},{gap[4]}".join(values) + "]"]
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, 1)), f'"time":{gap[5]}{draw(WRITTEN)}')
    return gap[5] + "{" + gap[4] + f"{gap[3]},{gap[2]}".join(parts) + gap[1] + "}" + gap[0]


def expected(line: str, channels: int) -> tuple[list[float], float] | None:
    try:
        sample = LineReader([str(i) for i in range(channels)], "ndjson").sample(line)
    except InputError:
        return None
    if sample is None:
        return None
    return sample.values, math.nan if sample.time is None else sample.time


def check(text: str, channels: int) -> np.ndarray:
    written = text.split("\n")
    lines, scanned = scan([text.encode()], channels)
    assert lines.tolist() == [len(written)]
    for i, line in enumerate(written):
        if not scanned.read[i]:
            continue
        known = expected(line, channels)
        assert known is not None
        with np.errstate(over="ignore"):
            values = np.array(known[0], np.float32)
        assert scanned.values[i].tobytes() == values.tobytes()
        assert np.array_equal(scanned.times[i], known[1], equal_nan=True)
    return scanned.read


@settings(max_examples=300, deadline=None)
@given(st.lists(lines(), min_size=1, max_size=5), st.integers(1, 3))
@example(['{"values": [0.50000002980232238769]}', '{"values":[-0.0]}'], 1)
@example(['{"values": [16777217.0]}', '{"values": [16777219, 1e22]}'], 1)
def test_what_is_read_has_the_bits_of_the_line_reader(written: list[str], channels: int) -> None:
    check("\n".join(written), channels)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='{}[]":,.-+eE0123456789valuestimn \t\r', max_size=60) | st.text())
def test_anything_else_is_left_to_the_line_reader(text: str) -> None:
    check(text, 2)


def test_lines_that_clients_write_are_read() -> None:
    """Other lines would be right as well, but slow."""
    rng = np.random.default_rng(0)
    rows = [*rng.normal(size=(50, 2)).tolist(), *rng.normal(size=(50, 2)).round(3).tolist()]
    written = [json.dumps({"time": i / 8, "values": row}) for i, row in enumerate(rows)]
    written += [json.dumps({"values": row}, separators=(",", ":")) for row in rows]
    written += ['{"values": [null, -2]}', ' { "values" : [ 1e-3 , 2E5 ] } \r']
    assert check("\n".join(written), 2).all()
    for line in ("", '{"values": [1]}', '{"values": [1, 2, 3]}', '{"values": [1, 2]} x', "{"):
        assert not check(line, 2).any()
