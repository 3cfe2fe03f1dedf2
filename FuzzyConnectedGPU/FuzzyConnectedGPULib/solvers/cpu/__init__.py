"""Solvers that run on the CPU, compiled by numba.

`exact` (default) chooses between `dial` (bucket queue, with `level_queue`) and `blocks/`; `kfoe` is
the papers' serial queue. `affinity_levels` and `neighbours` are what their inner loops share.
"""
