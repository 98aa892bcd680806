"""The examples of the page on decoders."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_the_examples_of_the_page_run() -> None:
    page = Path(__file__).parents[2] / "docs" / "decoders.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 15
    assert failed == 0
