"""Reading ahead keeps order, errors and closes what is left."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from bdl.formats.read_ahead import read_ahead


def test_order_errors_and_closing() -> None:
    closed = threading.Event()

    def flow(last: int) -> Iterator[int]:
        try:
            yield from range(last)
            raise ValueError("after the last")
        finally:
            closed.set()

    seen = []

    def use() -> None:
        for item in read_ahead(flow(50)):
            seen.append(item)

    with pytest.raises(ValueError, match="after the last"):
        use()
    assert seen == [*range(50)]
    closed.clear()
    early = read_ahead(flow(10_000))
    assert [next(early), next(early)] == [0, 1]
    before = threading.active_count()
    early.close()  # type: ignore[attr-defined]
    assert closed.is_set()
    assert threading.active_count() == before - 1
