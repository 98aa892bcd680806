"""The bundle of the static page is one scope: every module once, after what it uses."""

from __future__ import annotations

import re
from importlib.resources import files

from bdl.drawing import FOLDER, bundle

ASSETS = files("bdl.report") / "assets"


def test_modules_come_once_and_after_what_they_import() -> None:
    script = bundle("page.js", ASSETS)
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
    modules = [file for folder in (FOLDER, ASSETS) for file in folder.iterdir()
               if file.name.endswith(".js")]  # fmt: skip
    place = {}
    for module in modules:
        comment = module.read_text("utf-8").splitlines()[0]
        assert script.count(comment) == 1
        place[module.name] = script.index(comment)
    for module in modules:
        for used in re.findall(r'^import .* from "/(.+)";$', module.read_text("utf-8"), re.M):
            assert place[used] < place[module.name]


def test_top_level_names_differ() -> None:
    script = bundle("page.js", ASSETS)
    names = [name for line in re.findall(r"^(?:const|let|class|async function|function) (.*)$",
             script, re.MULTILINE) for name in re.findall(r"^(\w+)|, (\w+) = ", line)]  # fmt: skip
    flat = ["".join(pair) for pair in names]
    assert len(flat) > 30
    assert len(flat) == len(set(flat))
