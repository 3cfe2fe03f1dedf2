"""Fuzzy connectedness straight from its definition, for tiny volumes: no solver shares its code."""

import numpy as np


def grid_pairs(shape):
    """All pairs of 6-neighbours as two arrays of flat indices."""
    index = np.arange(np.prod(shape)).reshape(shape)
    pairs = [
        (np.delete(index, -1, axis).ravel(), np.delete(index, 0, axis).ravel()) for axis in range(3)
    ]
    return tuple(np.concatenate(side) for side in zip(*pairs))


def connectedness_by_definition(shape, affinities, seeds):
    """max over paths of min of affinities.

    A voxel has at least the value v exactly if the pairs with affinity >= v connect it with a seed;
    so the voxels that a flood from the seeds reaches are marked for one value after the other.

    Parameters
    ----------
    shape : tuple
    affinities : ndarray
        One for each of `grid_pairs`; 0 forbids the pair.
    seeds : ndarray of flat indices, or (n, 3) K, J, I
    """
    first, second = grid_pairs(shape)
    if np.ndim(seeds) == 2:
        seeds = np.ravel_multi_index(np.transpose(seeds), shape)
    values = np.zeros(np.prod(shape))
    for value in np.unique(affinities[affinities > 0]):
        open_pairs = affinities >= value
        reached = np.zeros(values.size, bool)
        reached[seeds] = True
        count = 0
        while count != reached.sum():
            count = reached.sum()
            touched = open_pairs & (reached[first] | reached[second])
            reached[first[touched]] = reached[second[touched]] = True
        values[reached] = value
    values[seeds] = 1
    return values.reshape(shape)
