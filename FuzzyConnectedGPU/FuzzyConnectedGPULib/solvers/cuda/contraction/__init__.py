"""Contraction on a CUDA device: tiles first, then the graph that they leave."""
