"""The graph of smooth branches with radii; public is `curve_skeleton`.

Voxels -> `voxel_graph` (nodes and chains) -> `skeleton_graph` (positions, smooth branches, radii)
-> `curve_skeleton` (measures of branches by `lines`), with `exports` for other programs.
"""
