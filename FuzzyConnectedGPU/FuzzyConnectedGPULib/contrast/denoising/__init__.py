"""Filters that take noise out without moving edges; `cuda_filters` does the same on CUDA."""
