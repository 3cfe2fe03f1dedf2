"""Small objects with known properties, and the force field as its definition says."""

import numpy as np

from Benchmarks.volumes import wavy_tube  # noqa: F401
from PotentialSkeletonLib import classify_voxels


def ball(radius, margin=2):
    """A ball whose centre is the middle of the volume."""
    side = 2 * (int(radius) + margin) + 1
    return sum((n - side // 2) ** 2 for n in np.indices((side, side, side))) <= radius**2


def box_corner():
    """Three plates that meet in a corner of the volume."""
    mask = np.zeros((14, 15, 16), bool)
    mask[:7] = mask[:, :8] = mask[:, :, :7] = True
    return mask


def two_components():
    """A ball and a block, one voxel apart."""
    mask = np.zeros((13, 13, 26), bool)
    mask[:, :, :13] = ball(5, margin=1)
    mask[2:10, 3:12, 13:25] = True
    return mask


def summed_forces(mask, strength):
    """Force at every inner voxel of one component without cavities, by numpy, in float64.

    Returns
    -------
    forces : ndarray, float64, shape (K, J, I, 3)
    lengths : ndarray, float64, shape (K, J, I)
        The sum of the single forces' lengths: rounding errors are relative to it.
    """
    classes = classify_voxels(mask)
    charges = np.argwhere(classes == 1).astype(float)
    forces, lengths = np.zeros((*mask.shape, 3)), np.zeros(mask.shape)
    for point in np.argwhere(classes == 3):
        away = point - charges
        distance = np.sqrt((away**2).sum(axis=1))
        forces[tuple(point)] = (away / distance[:, None] ** (strength + 1)).sum(axis=0)
        lengths[tuple(point)] = (distance**-strength).sum()
    return forces, lengths


def largest_error(vectors, expected, lengths):
    """Largest error relative to the force; where that nearly vanishes, to 1e-4 of its parts'."""
    known = lengths > 0
    error = np.linalg.norm(vectors[known] - expected[known], axis=1)
    size = np.maximum(np.linalg.norm(expected[known], axis=1), 1e-4 * lengths[known])
    return (error / size).max()
