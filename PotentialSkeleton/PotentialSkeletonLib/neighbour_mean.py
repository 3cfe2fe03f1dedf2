"""Forces at boundary voxels: the mean of their 26 neighbours' (Zhao et al. 2016, section 2.1)."""

from itertools import product

import numpy as np


def mean_of_neighbours(vectors, known, wanted):
    """Mean of the known vectors among the 26 neighbours.

    Parameters
    ----------
    vectors : ndarray, shape (K, J, I, 3)
    known : ndarray, bool, shape (K, J, I)
        Whose vector counts.
    wanted : ndarray, int64
        Flat indices of voxels that have such a neighbour, and lie not on the array's border.

    Returns
    -------
    ndarray, float64, shape (n, 3)
    """
    _, rows, width = known.shape
    vectors, known = vectors.reshape(-1, 3), known.ravel()
    total = np.zeros((wanted.size, 3))
    count = np.zeros(wanted.size)
    for k, j, i in product((-1, 0, 1), repeat=3):
        neighbours = wanted + (k * rows + j) * width + i
        here = known[neighbours]
        total[here] += vectors[neighbours[here]]
        count += here
    return total / count[:, np.newaxis]
