"""Contrast of each voxel to its local background, in units of noise."""
