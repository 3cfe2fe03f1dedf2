"""Solvers that run on a CUDA device; each `.cu` file lies beside its caller."""
