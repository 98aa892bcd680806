"""Experiments of docs/results.md; each is a script with a cache, so that it can be resumed."""
