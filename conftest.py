"""Settings of all tests.

Importing the package before torch sets the wait policy of its threads, which share few cores here
(see `bdl`). Small inputs go through compiled functions too, since these are what is
tested. No test depends on the load of the machine, so hypothesis has no deadline.
"""

from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from hypothesis import settings

import bdl.compiled

collect_ignore = ["tests/outside"]  # another package, which `tests/test_variants.py` installs
if find_spec("torch") is None:
    # What trains or loads a model.
    collect_ignore += [
        "tests/cli/test_detection.py",
        "tests/cli/test_detection_formats.py",
        "tests/cli/test_models.py",
        "tests/formats/test_addresses.py",
        "tests/formats/test_units.py",
    ]

bdl.compiled.PATIENCE = 0
settings.register_profile("bdl", deadline=None)
settings.load_profile("bdl")


def pytest_collect_file(file_path: Path) -> None:
    """Import a module of the package by its name before pytest imports its file for doctests.

    Otherwise pytest executes a file a second time that its package has imported already, and the
    variants of a family derive from another class of the same name.
    """
    package = Path(bdl.__file__).parent
    if file_path.suffix == ".py" and file_path.is_relative_to(package):
        parts = file_path.relative_to(package.parent).with_suffix("").parts
        with suppress(ImportError):  # an optional library is missing; pytest reports it
            import_module(".".join(parts).removesuffix(".__init__"))
