"""Layers that are computed by the package's own CPU kernels."""
