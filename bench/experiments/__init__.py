"""Experiments whose figures stand in docs/results.md; each is a script with a resumable cache."""
