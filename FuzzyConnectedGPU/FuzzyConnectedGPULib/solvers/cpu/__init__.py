"""Solvers that run on the CPU."""
