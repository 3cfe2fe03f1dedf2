"""The graph of smooth branches with radii; public is `curve_skeleton`.

Voxels -> `skeleton_graph` (nodes and chains, positions, smooth branches, radii) -> `curve_skeleton`
(measures of branches).
"""
