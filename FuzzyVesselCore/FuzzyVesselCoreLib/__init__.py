"""What both modules of FuzzyVesselGPU use.

`errors`, `progress` and `translation` for every call; `jit` and `compilation` for numba's code;
`files/` (folders of runs, Zarr); `gpu/` (the CUDA device); `voxels/` (operations on voxel volumes);
`mrml/` and `widgets/` (Slicer only); `phantom/` (test data).
"""
