"""Run directories: steps with keys, each written whole or not at all, and the lock of a runner.

Studies and detections over many recordings store their finished steps here, so that a killed run
can be resumed.
"""
