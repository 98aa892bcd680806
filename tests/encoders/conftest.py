"""Settings of the kernels while they are tested."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from bdl.encoders.vectors import VARIABLE, available_bits


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Small sums need no second thread, and waiting for one on a busy machine takes long."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=available_bits())
def bits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Every width of vectors that the processor has."""
    monkeypatch.setenv(VARIABLE, str(request.param))
    width: int = request.param
    return width
