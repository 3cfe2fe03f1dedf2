"""Stage 7: the graph of smooth branches with radii, and its export.

Voxels -> `voxel_graph` (nodes and chains, on `voxel_adjacency`) -> `skeleton_graph` (positions,
smooth branches, radii) -> `curve_skeleton`, the public result, with `exports` for other programs.
`radii` (CPU) and `cuda_radii` measure distances to the object's border. All but `curve_skeleton`
is private.
"""
