"""Blocks on a CUDA device: `blocks` (both passes) and `forest_rounds` (the first pass's forest)."""
