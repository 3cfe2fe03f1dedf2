"""What both modules of FuzzyVesselGPU use.

`errors` and `progress` for every call; `gpu/` (the CUDA device), `voxels/` (operations on voxel
volumes), `geometry` (voxel grids), `mrml/` and `widgets/` (Slicer only), `phantom/` (test data).
"""
