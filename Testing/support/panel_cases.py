"""A small noisy vessel, and a node's voxels, for the tests of the connectedness panel."""

import numpy as np

SHAPE = (14, 16, 18)
POINTS = [(7, 8, 3), (7, 8, 14)]  # in the vessel


def vessel(shape=SHAPE):
    """A noisy tube along I in a darker background."""
    rng = np.random.default_rng(4)
    k, j, _ = np.indices(shape)
    tube = (k - 7) ** 2 + (j - 8) ** 2 <= 9
    return (np.where(tube, 200, 90) + rng.normal(0, 9, shape)).astype(np.int16)


def array(node):
    """The voxels of a volume node, (K, J, I)."""
    import slicer

    return slicer.util.arrayFromVolume(node)
