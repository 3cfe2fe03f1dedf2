"""Pieces: the components of the object inside a block or a group, and what is known of each."""

from typing import NamedTuple

import numpy as np
from numba import njit

from ...partition import Box, Index
from .label_measures import count_labels, find_boxes


class Pieces(NamedTuple):
    """What adds up when pieces are joined; one row for each piece.

    Attributes
    ----------
    sizes : ndarray of int64, (n,)
        Numbers of voxels.
    firsts : ndarray of int64, (n,)
        Flat index in the volume of the first voxel in the order K, J, I.
    low, high : ndarray of int64, (n, 3)
        First voxel and the one after the last, along K, J, I.
    seeded : ndarray of bool, (n,)
        Whether a seed lies in it.
    """

    sizes: np.ndarray
    firsts: np.ndarray
    low: np.ndarray
    high: np.ndarray
    seeded: np.ndarray

    @property
    def packed(self) -> np.ndarray:
        """All columns in one array, int64 (n, 9)."""
        return np.column_stack(self)

    @classmethod
    def of(cls, packed: np.ndarray) -> "Pieces":
        """The pieces of a packed array."""
        sizes, firsts, seeded = packed[:, 0], packed[:, 1], packed[:, 8] > 0
        return cls(sizes, firsts, packed[:, 2:5], packed[:, 5:8], seeded)

    def take(self, rows: np.ndarray) -> "Pieces":
        """Some of the pieces."""
        return Pieces(*(column[rows] for column in self))

    def joined(self, owner: np.ndarray, count: int) -> "Pieces":
        """Pieces made of these; `owner` (n,) says which of `count`, and each has one or more."""
        sizes, seeded = np.zeros(count, np.int64), np.zeros(count, bool)
        firsts = np.full(count, np.iinfo(np.int64).max)
        low, high = np.full((count, 3), np.iinfo(np.int64).max), np.zeros((count, 3), np.int64)
        np.add.at(sizes, owner, self.sizes)
        np.minimum.at(firsts, owner, self.firsts)
        np.minimum.at(low, owner, self.low)
        np.maximum.at(high, owner, self.high)
        np.logical_or.at(seeded, owner, self.seeded)
        return Pieces(sizes, firsts, low, high, seeded)


def pieces_of(tables: list[Pieces]) -> Pieces:
    """All pieces of several tables, one or more, one after the other."""
    return Pieces(*(np.concatenate(columns) for columns in zip(*tables)))


def measured(labels: np.ndarray, count: int, box: Box, shape: Index, seeds: np.ndarray) -> Pieces:
    """The pieces of a block.

    Parameters
    ----------
    labels : ndarray of int32, of the box's shape
        From 1, in the order of their first voxels.
    count : int
    box : Box
    shape : tuple of int
        Of the volume.
    seeds : ndarray of int64
        Flat indices in the box.
    """
    sizes, boxes = np.zeros(count + 1, np.int64), np.empty((count, 3, 2), np.int64)
    flat = labels.reshape(-1)
    count_labels(flat, sizes)
    find_boxes(labels, boxes)
    at = np.unravel_index(_first_voxels(flat, count), box.shape)
    places = [along + start for along, start in zip(at, box.start)]
    firsts = np.ravel_multi_index(places, shape).astype(np.int64)
    seeded = np.zeros(count + 1, bool)
    seeded[flat[seeds]] = True
    corners = boxes + np.array(box.start)[:, None]
    return Pieces(sizes[1:], firsts, corners[..., 0], corners[..., 1] + 1, seeded[1:])


@njit(cache=True, nogil=True)
def _first_voxels(labels: np.ndarray, count: int) -> np.ndarray:
    """Index of the first voxel of each label, which are numbered in this order."""
    firsts, found = np.empty(count, np.int64), 0
    for n in range(labels.size):
        if labels[n] > found:
            firsts[found] = n
            found += 1
            if found == count:
                break
    return firsts
