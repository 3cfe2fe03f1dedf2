"""Stage 3: critical points of the force field, and further seeds of curves.

Public: `critical_points`, `divergence_seeds`, `curvature_seeds`. Cells in which the force changes
sign (`sign_changes`) are searched for `roots` of the `trilinear` field; seeds are `local_minima` of
the divergence, or of the share of a cube inside the object. On CUDA kernels search all voxels
(`cuda_sign_changes`, `cuda_divergence_seeds`), and what they list (`cuda_voxel_list`) is copied to
the host.
"""
