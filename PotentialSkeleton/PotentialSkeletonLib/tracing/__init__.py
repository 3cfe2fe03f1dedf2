"""Stage 4: streamlines from the critical points, and the voxels that they pass."""
