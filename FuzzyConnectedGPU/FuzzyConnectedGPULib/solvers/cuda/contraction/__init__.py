"""Contraction on a CUDA device: first within tiles, then the graph of nodes that they leave.

`contraction` (entry) -> `reached_tiles` (tiles that a path may reach) -> `contracted_tiles` ->
`node_rounds`. `affinity_tables` sizes the look-up tables. A kernel lies beside its caller.
"""
