"""Solvers that run on a CUDA device; each `.cu` file lies beside its caller.

`exact` (default) chooses between `contraction/` and `active_tiles`; `kfoe` and `kfoe_corrected` are
the papers' systems, with the same loop of rounds (`kfoe_rounds`). `affinity.cuh` computes
affinities, `tile_geometry.cuh` cuts the volume into contraction's tiles.
"""
