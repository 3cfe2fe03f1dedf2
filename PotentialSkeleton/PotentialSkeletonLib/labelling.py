"""Connected pieces of a mask, numbered slab by slab, so that a run can be cancelled in between."""

from itertools import pairwise, product

import numpy as np

SLAB = 1 << 22  # voxels labelled by one call of scipy
CUBE = np.ones((3, 3, 3), bool)  # 26-neighbourhood as a structuring element


def label_pieces(mask, corners=True, report=None):
    """Number the connected pieces of a mask from 1, in the order of their first voxels.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
    corners : bool
        Whether voxels are connected over edges and corners, too (26 neighbours), or over faces
        only (6 neighbours).
    report : callable, optional
        Called between slabs; raises to cancel.

    Returns
    -------
    labels : ndarray of int32, shape (K, J, I)
        0 outside of the mask.
    count : int
    """
    labels = np.empty(mask.shape, np.int32)
    slabs = _slabs(mask.shape)
    if len(slabs) <= 1:
        return labels, _label(mask, corners, labels)
    numbers, count = _numbers(slabs, mask, corners, labels, report)
    for slab, own in zip(slabs, numbers):
        labels[slab] = own[labels[slab]]
        _pause(report)
    return labels, count


def count_pieces(mask, corners=True, report=None):
    """How many connected pieces a mask has; parameters as for `label_pieces`."""
    slabs = _slabs(mask.shape)
    if len(slabs) <= 1:
        return _label(mask, corners, np.empty(mask.shape, np.int32))
    return _numbers(slabs, mask, corners, None, report)[1]


def sizes_of(labels, count, report=None):
    """Voxels of each piece, from number 0 (outside of all) on; int64 (count + 1,)."""
    sizes = np.zeros(count + 1, np.int64)
    for slab in _slabs(labels.shape):
        sizes += np.bincount(labels[slab].ravel(), minlength=count + 1)
        _pause(report)
    return sizes


def _numbers(slabs, mask, corners, labels, report):
    """Label each slab by itself, in `labels` if there are any.

    Returns the final number of each slab's own numbers, and how many pieces there are.
    """
    before, starts, pairs = None, [0], [np.empty((0, 2), np.int32)]
    for slab in slabs:
        own = np.empty(mask[slab].shape, np.int32) if labels is None else labels[slab]
        count = _label(mask[slab], corners, own)
        if before is not None:
            pairs.append(_meeting(before, own[0], corners) + np.array(starts[-2:]))
        before = own[-1].copy()
        starts.append(starts[-1] + count)
        _pause(report)
    numbers, count = _merged(np.concatenate(pairs), starts[-1])
    own = [np.append(np.int32(0), numbers[a:b]) for a, b in pairwise(starts)]
    return own, count


def _slabs(shape):
    step = max(1, SLAB // max(shape[1] * shape[2], 1))
    return [slice(first, min(first + step, shape[0])) for first in range(0, shape[0], step)]


def _label(mask, corners, labels):
    """Number the pieces of one slab from 1; how many there are."""
    from scipy import ndimage

    return ndimage.label(mask, CUBE if corners else None, labels)


def _meeting(plane, following, corners):
    """Pairs (n, 2) of numbers that touch across two planes (J, I)."""
    shifts = [-1, 0, 1] if corners else [0]
    pairs = []
    for j, i in product(shifts, shifts):
        here = plane[_inner(j), _inner(i)]
        there = following[_inner(-j), _inner(-i)]
        both = (here > 0) & (there > 0)
        found = here[both].astype(np.int64) << 32 | there[both]
        again = found[1:] == found[:-1]  # mostly: a sort of all would take long
        pairs += [found[:1], found[1:][~again]]
    found = np.unique(np.concatenate(pairs))
    return np.stack([found >> 32, found & 0xFFFFFFFF], axis=1)


def _inner(shift):
    return slice(max(shift, 0), min(shift, 0) or None)


def _merged(pairs, count):
    """Numbers for pieces of which pairs (counted from 1) are one, and how many there are.

    The lowest number of a piece gives its place: numbers rise with the first voxels.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(pairs), bool), tuple(pairs.T - 1)), (count, count))
    pieces, piece_of = connected_components(links, directed=False)
    _, first = np.unique(piece_of, return_index=True)
    place = np.empty(pieces, np.int32)
    place[np.argsort(first)] = np.arange(1, pieces + 1, dtype=np.int32)
    return place[piece_of], pieces


def _pause(report):
    if report is not None:
        report()
