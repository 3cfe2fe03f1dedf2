"""The max-tree of a contrast: which voxels are connected at each contrast, over 26 neighbours.

A node is a voxel. The voxels of at least the contrast of a node that are connected with it are the
subtree of it or of an ancestor of the same contrast (Salembier, Oliveras and Garrido 1998). So the
weakest voxel of the widest path between two voxels is their lowest common ancestor, whatever the
levels, starts and thresholds of a run.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.voxels.neighbourhood import rows_around

from .packed_voxels import PackedVoxels, listed, number_of, packed_voxels, row_of


@dataclass(frozen=True)
class MaxTree:
    """Voxels of at least a contrast, by their numbers in `packed`.

    Attributes
    ----------
    packed : PackedVoxels
    voxels : ndarray, int32
        Flat indices.
    contrast : ndarray, float32
    order : ndarray, int32
        Numbers, the highest contrast first; a parent comes after its children.
    parents : ndarray, int32
        Number of each one's parent; -1 of a root.
    least : float
        Voxels of lower contrast are left out.
    """

    packed: PackedVoxels
    voxels: np.ndarray
    contrast: np.ndarray
    order: np.ndarray
    parents: np.ndarray
    least: float

    def widest_from(self, starts: np.ndarray) -> np.ndarray:
        """The weakest contrast of the widest path to each voxel from any of the starts.

        Parameters
        ----------
        starts : ndarray of bool
            One for each voxel of the tree.

        Returns
        -------
        ndarray, float32
            -inf where no path leads; a start has its own contrast.
        """
        widest = np.empty(self.contrast.size, np.float32)
        _spread(self.order, self.parents, self.contrast, starts.copy(), widest)
        return widest


def max_tree(contrast: np.ndarray, inside: np.ndarray | None, least: float) -> MaxTree:
    """The max-tree of the voxels of at least a contrast.

    Parameters
    ----------
    contrast : ndarray, shape (K, J, I), float32
    inside : ndarray of uint8, same shape, or None
        Paths stay where it is not 0.
    least : float

    Returns
    -------
    MaxTree

    Examples
    --------
    >>> tree = max_tree(np.array([[[5, 1, 3, 9]]], np.float32), None, 1.0)
    >>> tree.widest_from(np.array([True, False, False, False])).tolist()
    [5.0, 1.0, 1.0, 1.0]
    """
    packed = packed_voxels(contrast, inside, least)
    voxels = listed(packed)
    values = contrast.reshape(-1)[voxels]
    order = np.argsort(-values, kind="stable").astype(np.int32)
    parents = np.full(voxels.size, -1, np.int32)
    _connect(order, voxels, *packed, contrast.shape, parents)
    return MaxTree(packed, voxels, values, order, parents, least)


@njit(cache=True, nogil=True)
def _connect(order, voxels, bits, before, shape, parents):
    roots = np.full(voxels.size, -1, np.int32)  # union-find; -1 where a voxel is yet to come
    done = np.zeros_like(bits)
    for node in order:
        voxel = np.int64(voxels[node])
        roots[node] = node
        planes, rows, low, span = rows_around(voxel, shape)
        for k in range(*planes):
            for j in range(*rows):
                first = (k * shape[1] + j) * shape[2] + low
                near = row_of(first, span, done)
                for step in range(span):
                    if not (near >> np.uint64(step)) & np.uint64(1):
                        continue
                    root = number_of(first + step, bits, before)
                    while roots[root] != root:
                        roots[root] = roots[roots[root]]
                        root = roots[root]
                    if root != node:
                        roots[root] = node
                        parents[root] = node
        done[voxel >> 6] |= np.uint64(1) << np.uint64(voxel & 63)


@njit(cache=True, nogil=True)
def _spread(order, parents, contrast, reached, widest):
    """Contrast of the lowest ancestor whose subtree holds a start; overwrites `reached`."""
    for node in order:
        if reached[node] and parents[node] >= 0:
            reached[parents[node]] = True
    for n in range(order.size - 1, -1, -1):
        node = order[n]
        if reached[node]:
            widest[node] = contrast[node]
        else:
            widest[node] = widest[parents[node]] if parents[node] >= 0 else -np.inf
