"""Run directories: keyed steps, each written whole or not at all, and the right to write them.

Studies and detections over many recordings keep their finished steps here, so that a killed
run continues where it stopped.
"""
