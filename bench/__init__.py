"""Side-by-side timings, each a ratio: `python -m bench` runs them all."""
