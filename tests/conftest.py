"""The real recordings, for tests of several folders."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "../shared/data"


@pytest.fixture(scope="session")
def real():
    """Path of one of the real data sets; the test is skipped where it is absent."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"real recordings absent: {path}")
        return path

    return find
