"""Settings of the recurrent layers while they are tested."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from bdl.encoders.fused.layers import use_fused


@pytest.fixture
def always_fused() -> Iterator[None]:
    """The fused path also where it is not the faster one, as on sequences as short as here.

    Small sums need no second thread, and waiting for one on a busy machine takes long.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    use_fused(True, always=True)
    yield
    use_fused(True)
    torch.set_num_threads(before)
