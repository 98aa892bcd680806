"""Damaged and hostile files at every reader: `make fuzz`, or `python -m fuzz`.

A target is a reader with small valid files. Case ``i`` of a seed is one mutation of one file of one
target, the same on every machine. Cases run in a process of their own under limits of time and
memory. A reader passes if it gives an error of ours, or what it reads is in order.
"""
