"""Commands on event tables and recordings."""

from __future__ import annotations

import typer

commands = typer.Typer()
