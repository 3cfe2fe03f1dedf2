"""Levels of the contrast model's widest paths, of all voxels of a volume."""

import numpy as np

from FuzzyConnectedGPULib.contrast.widest_paths import widest_paths, widest_paths_on_device


def path_levels(contrast, inside, starts, unit, floor, competing=None, gpu=None):
    """`widest_paths` as a volume of levels; competing are flat indices.

    The list is checked: each voxel once, with its own contrast.
    """
    if competing is not None:
        is_rival = np.zeros(contrast.shape, np.float32)
        is_rival.ravel()[competing] = 1
        competing = is_rival, 0.5
    if gpu is None:
        found = widest_paths(contrast, inside, starts, unit, floor, competing)
    else:
        mask = None if inside is None else gpu.put(inside)
        others = None if competing is None else (gpu.put(competing[0]), competing[1])
        there = gpu.put(contrast)
        found = widest_paths_on_device(there, mask, starts, unit, floor, gpu, others)
    assert (found.voxels.dtype, found.levels.dtype) == (np.int64, np.uint16)
    assert np.unique(found.voxels).size == found.voxels.size == found.levels.size
    np.testing.assert_array_equal(found.contrast, contrast.ravel()[found.voxels])
    assert (found.levels > 0).all()
    levels = np.zeros(contrast.shape, np.uint16)
    levels.ravel()[found.voxels] = found.levels
    return levels
