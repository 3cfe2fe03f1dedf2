"""Affinity of adjacent voxels, and how it is estimated from the seeds.

`gaussian_affinity` (the papers' equation 1, with `bell`, a Gaussian with the same bits on every
device) in `levels`; `estimation` from the intensities that `seed_statistics` gathers;
`intensity_curves` shows what an affinity means for an image.
"""
