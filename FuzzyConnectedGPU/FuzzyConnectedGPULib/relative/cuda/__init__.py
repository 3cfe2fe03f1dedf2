"""Relative connectedness on CUDA: owners by contraction or group by group, disputed voxels."""
