"""Detectors on running sources: samples in, detections out, as they become final.

A `LiveSession` is one stream with its output and its state file. Around it, `line_formats` reads
samples from lines of text, and `standard_streams` runs a session on standard input and output.
"""
