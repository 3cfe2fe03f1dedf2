"""Tips of an object that is on the card; see `..tips`."""

from pathlib import Path

import numpy as np

from ..geodesic import unit_of
from ..tips import CAP, DRAWN_OUT, ends_of
from .limbs import Pieces, lengths, lines_of

KERNELS = Path(__file__).with_name("kernels") / "tips.cu"
THREADS, BLOCKS = 128, 4096
ROOM = 1 << 16  # tops in the list of the first try
AT_ONCE = 1 << 10  # tops that are copied together with their number


def limb_tips(distances, depth, spacing, smallest, count, gpu, report=None):
    """Ends of the object's limbs; see `..tips.geodesic_tips`.

    Parameters
    ----------
    distances, depth, spacing, smallest, gpu
        As for `may_be_tips`.
    count : int
        The object's voxels.
    report : callable, optional
        Called between launches; raises to cancel.

    Returns
    -------
    ndarray of int64
        Flat indices on the host, rising.
    """
    tops = may_be_tips(distances, depth, spacing, smallest, gpu)
    if len(tops) == 0:
        return tops
    pieces = Pieces(distances, spacing, count, gpu, report)
    heights = pieces.at(distances, tops)
    order = np.lexsort((-tops, heights))
    widths = pieces.limb_widths(tops[order], depth, smallest)
    tips = [
        pieces.middle_of_cap(heights[n], tops[n], CAP * width)
        for n, width in zip(order, widths)
        if width >= 0
    ]
    return np.unique(np.array(tips, np.int64))


def drawn_out_ends(distances, depth, skeleton, spacing, tips, count, gpu, report=None):
    """Ends of the limbs that go on beyond an end of a skeleton; see `..tips.drawn_out_ends`.

    Parameters
    ----------
    distances, depth, spacing, count, gpu, report
        As for `limb_tips`; the distances from the skeleton.
    skeleton, tips : ndarray of int
        Flat indices, rising, of its voxels and of ends that stay; on the host.

    Returns
    -------
    ndarray of int64
        Flat indices on the host, rising.
    """
    ends = ends_of(skeleton, distances.shape, tips)
    if len(ends) == 0:
        return np.array([], np.int64)
    pieces, unit = Pieces(distances, spacing, count, gpu, report), unit_of(spacing)
    tops, widths = pieces.furthest_beyond(ends), pieces.at(depth, ends)
    found = [
        pieces.middle_of_cap(height, top, CAP * width)
        for height, top, width in zip(pieces.at(distances, tops), tops, widths)
        if height * unit > DRAWN_OUT * width
    ]
    return np.unique(np.array(found, np.int64))


def may_be_tips(distances, depth, spacing, smallest, gpu):
    """Flat indices of the tops that pass a quick test, which all tips do; see `..tips`.

    Parameters
    ----------
    distances : CuPy's ndarray of int32, shape (K, J, I)
        Geodesic distance from the core, -1 outside the object (`geodesic.distance_along`).
    depth : CuPy's ndarray of float32, shape (K, J, I)
        Distance to the outside in mm.
    spacing : 3 floats K, J, I, in mm
    smallest : float
        Millimetres that a limb is longer than `SLENDERNESS` times its radius.
    gpu : CudaDevice

    Returns
    -------
    ndarray of int64
        On the host, rising.
    """
    lines = lines_of(distances)
    numbers = np.float64(unit_of(spacing)), np.float64(smallest)
    blocks = (min(-(-distances.size // THREADS), BLOCKS),)
    steps, room = gpu.put(lengths(distances.shape, spacing)), ROOM
    while True:
        tops, found = gpu.xp.empty(room, np.int32), gpu.xp.zeros(room + 2, np.int32)
        gpu.kernel(KERNELS, "find_tops")(
            blocks,
            (THREADS,),
            (distances, np.int32(distances.size), *lines, *numbers, np.int32(room), tops, found),
        )
        gpu.kernel(KERNELS, "follow_ways")(
            (BLOCKS // 8,), (32,),
            (distances, depth, *lines, *numbers, steps, tops, np.int32(room), found[2:], found),
        )  # fmt: skip
        first = gpu.get(found[: AT_ONCE + 2])
        if first[0] <= room:
            break
        room = int(first[0])
    count = int(first[1])
    tips = first[2 : count + 2] if count <= AT_ONCE else gpu.get(found[2 : count + 2])
    return np.sort(tips).astype(np.int64)
