"""Stage 6: traced curves to a connected, thin skeleton of the object's topology. All is private.

`level_thinning` runs the steps for each level: an object with tunnels loses its outer voxels first
(`peeling`, and `cuda_peeling` on a card), `growing` adds voxels of curves homotopically, `gap_paths`
leads to what that does not reach, `thinning` removes simple points, `trimming` removes what lies
beside the skeleton.
"""
