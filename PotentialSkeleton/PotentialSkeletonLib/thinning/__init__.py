"""Stage 6: traced curves to a connected, thin skeleton of the object's topology. All is private.

`level_thinning` runs the steps for each level: of an object with tunnels the outer voxels go first
(`peeling`, and on a card `cuda_peeling`), `growing` adds voxels of curves homotopically,
`gap_paths` leads to what that does not reach, `thinning` removes simple points, `trimming` removes
what lies beside the skeleton.
"""
