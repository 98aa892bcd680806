"""The command line as a user calls it, within the process of the tests."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner

from bdl.cli import app


def call(*words: object, code: int = 0) -> str:
    """What a command that ends with this code prints; our own errors are raised."""
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


def call_json(*words: object, code: int = 0) -> dict[str, Any]:
    """What a command prints for programs."""
    output: dict[str, Any] = json.loads(call(*words, "--json", code=code))
    return output
