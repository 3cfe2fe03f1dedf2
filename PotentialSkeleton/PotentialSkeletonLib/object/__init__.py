"""Stage 1: the labelmap is checked, cleaned and split into components.

labelmap -> `preparing` (CPU) or `cuda_preparing` (CUDA) -> `Prepared`: the cleaned object and its
`components`, one after another. `voxel_classes` checks the labelmap and tells outside, surface,
boundary and inner voxels (`packed_classes`: the same, compiled); `cleaning` drops islands and
closes tunnels, by `closing`.
"""
