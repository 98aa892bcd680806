"""Slow, obviously right versions of the fast algorithms: the oracles of the tests."""
