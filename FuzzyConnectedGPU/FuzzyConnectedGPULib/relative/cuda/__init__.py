"""Relative connectedness on CUDA: `owners` by contraction or by groups, then `disputed`."""
