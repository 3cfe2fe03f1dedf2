"""What the affinity compares in place of the intensity: one value for each voxel.

`feature_volume` (entry) -> `object_scale` (intensities averaged within the object scale) or
`vesselness` (tubularity by the Hessian). The result takes the volume's place before the affinity is
estimated, so that every solver computes its connectedness, with the same bits on CPU and CUDA.
"""
