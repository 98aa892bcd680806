"""Recurrent layers with CPU kernels of our own: forward and backward fused over the gates."""
