"""``python -m bdl``: the command line."""

from __future__ import annotations

from bdl.cli import main

if __name__ == "__main__":
    main()
