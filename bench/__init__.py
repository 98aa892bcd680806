"""Side-by-side timings, each a ratio: `python -m bench` runs them all."""

import bdl  # noqa: F401 - before torch, so that torch's threads sleep while others compute
