"""Inscribed balls of places in an object, and which voxels they hold."""

import numpy as np
from numba import njit

PAIRS_A_SLICE = 1 << 24  # of a voxel and a ball, between two looks at the progress callback


class Balls:
    """Gathers balls round voxels.

    Parameters
    ----------
    depths : Tiles
        Distance to the outside in mm, float32.
    spacing : 3 floats K, J, I, in mm
    enlarged : float
        Radius of a ball as a multiple of the depth at its centre.
    margin : float
        Added to the radius, in shortest sides of a voxel.
    """

    def __init__(self, depths, spacing, enlarged, margin=0.0):
        self._depths, self._enlarged = depths, enlarged
        self._spacing = np.asarray(spacing, float)
        self._margin = margin * self._spacing.min()
        self._centres, self._radii, self._count = np.empty((64, 3)), np.empty(64), 0

    def add(self, voxels):
        """Add the balls round voxels (n, 3)."""
        count = self._count + len(voxels)
        while count > len(self._radii):
            self._centres = np.concatenate([self._centres, np.empty_like(self._centres)])
            self._radii = np.concatenate([self._radii, np.empty_like(self._radii)])
        self._centres[self._count : count] = voxels * self._spacing
        self._radii[self._count : count] = self._enlarged * self._depths.at(voxels) + self._margin
        self._count = count

    def hold(self, voxels, report=None):
        """Which of some voxels (n, 3) a ball holds; bool (n,).

        `report` is called between slices; it raises to cancel.
        """
        used = slice(0, self._count)
        held = np.zeros(len(voxels), bool)
        step = max(1, PAIRS_A_SLICE // max(1, self._count))
        for first in range(0, len(voxels), step):
            some = slice(first, first + step)
            places = voxels[some] * self._spacing
            held[some] = are_held(places, self._centres[used], self._radii[used])
            if report is not None:
                report()
        return held


@njit(cache=True)
def are_held(places, centres, radii):
    held = np.zeros(len(places), np.bool_)
    for n in range(len(places)):
        held[n] = is_held(places[n], centres, radii)
    return held


@njit(cache=True)
def is_held(place, centres, radii):
    for n in range(radii.size):
        k, j, i = place[0] - centres[n, 0], place[1] - centres[n, 1], place[2] - centres[n, 2]
        if np.sqrt(k * k + j * j + i * i) <= radii[n]:
            return True
    return False
