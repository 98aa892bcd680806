"""The examples of the page on scoring rules, run as they stand."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "scoring-rules.md"


def test_examples_of_the_page_hold() -> None:
    text = re.sub(r"^```.*$", "", PAGE.read_text(), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 40
    failures, _ = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert failures == 0
