"""Connected components of a mask: labels, sizes, bounding boxes, and enclosed cavities.

Public: `labels` (CPU) and `cuda_labels` (CUDA), whose functions have the same names. The CPU
encodes the mask as runs along I (`run_length`) and joins them by union-find (`union_find`); the
kernels do the same with runs within words of 32 voxels (`packed_mask`, `labels.cu`).
"""
