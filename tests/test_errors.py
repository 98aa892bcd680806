"""One base error; missing extras in one line."""

from __future__ import annotations

import pytest

from bdl import errors


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.InputError, ValueError),
        (errors.OutputError, OSError),
        (errors.ConfigError, ValueError),
        (errors.MissingExtraError, ImportError),
        (errors.TrainingError, RuntimeError),
        (errors.StudyError, RuntimeError),
    ],
)
def test_every_error_is_ours_and_a_builtin_kind(
    kind: type[errors.BdlError], builtin: type[Exception]
) -> None:
    assert issubclass(kind, errors.BdlError)
    assert issubclass(kind, builtin)
    assert str(kind("told as it is")) == "told as it is"


def test_a_missing_extra_names_the_command_that_installs_it() -> None:
    with pytest.raises(errors.MissingExtraError) as caught:
        errors.require("no_such_module_here", "eeg")
    assert (
        str(caught.value) == "no_such_module_here is not installed: pip install 'bdl-events[eeg]'"
    )
