"""Tips of an object that is on the card; see `..tips`."""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.voxels.distance.geodesic import unit_of

from .cuda_local_maxima import Pieces, lengths, lines_of, parts_of_keys
from .endpoints import CAP, DRAWN_OUT, ends_of

KERNELS = Path(__file__).with_name("endpoints.cu")
THREADS, BLOCKS = 128, 4096
ROOM = 1 << 16  # tops in the list of the first try
AT_ONCE = 1 << 10  # tops that are copied together with their number
MOST_STEPS = 1 << 14  # of the ways that one warp follows in a launch


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
    heights, tops = tops_in_order(distances, depth, spacing, smallest, gpu, report)
    if len(tops) == 0:
        return np.array([], np.int64)
    pieces = Pieces(distances, spacing, count, gpu, report)
    widths = pieces.limb_widths(tops, depth, smallest)
    are_tips = widths >= 0
    limbs = heights[are_tips], tops[are_tips], CAP * widths[are_tips]
    return np.unique(pieces.middles_of_caps(*limbs))


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
    (heights, tops), widths = pieces.furthest_beyond(ends), values_at(depth, ends, gpu)
    go_on = heights * unit > DRAWN_OUT * widths
    limbs = heights[go_on], tops[go_on], CAP * widths[go_on]
    return np.unique(pieces.middles_of_caps(*limbs))


def may_be_tips(distances, depth, spacing, smallest, gpu):
    """Flat indices, rising, of the tops that pass a quick test; see `..tips.may_be_tips`."""
    return np.sort(tops_in_order(distances, depth, spacing, smallest, gpu)[1]).astype(np.int64)


def tops_in_order(distances, depth, spacing, smallest, gpu, report=None):
    """The tops that pass a quick test, which all tips do; see `..tips`.

    Parameters
    ----------
    distances : CuPy's ndarray of int32, shape (K, J, I)
        Geodesic distance from the core, -1 outside the object (`geodesic.geodesic_distance`).
    depth : CuPy's ndarray of float32, shape (K, J, I)
        Distance to the outside in mm.
    spacing : 3 floats K, J, I, in mm
    smallest : float
        Millimetres that a limb is longer than `SLENDERNESS` times its radius.
    gpu : CudaDevice
    report : callable, optional
        Called between launches; raises to cancel.

    Returns
    -------
    heights, tops : ndarray of int32, (n,)
        Distances and flat indices, on the host; lower ones first, of equally high ones the last in
        memory.
    """
    lines = lines_of(distances)
    numbers = np.float64(unit_of(spacing)), np.float64(smallest)
    blocks = (min(-(-distances.size // THREADS), BLOCKS),)
    steps, room = gpu.put(lengths(distances.shape, spacing)), ROOM
    while True:
        tops, found = gpu.xp.empty(room, np.int32), gpu.xp.zeros(room + 2, np.uint64)
        counts, places = found[:2].view(np.int32), gpu.xp.empty(2 * room, np.int32)
        fixed = *lines, *numbers
        gpu.kernel(KERNELS, "find_tops")(
            blocks, (THREADS,),
            (distances, np.int32(distances.size), *fixed, np.int32(room), tops, counts),
        )  # fmt: skip
        fixed = depth, *fixed, steps, tops, np.int32(room), np.int32(MOST_STEPS)
        begins, left = 1, True
        while left:
            gpu.kernel(KERNELS, "follow_ways")(
                (BLOCKS // 8,), (THREADS,),
                (distances, *fixed, np.int32(begins), places, found[2:], counts),
            )  # fmt: skip
            first = gpu.get(found[: AT_ONCE + 2])
            of_tops, count, left = first[:2].view(np.int32)[:3]
            if left:
                begins, counts[2:3] = 0, 0
            if report is not None:
                report()
        if of_tops <= room:
            break
        room = int(of_tops)
    keys = first[2 : count + 2] if count <= AT_ONCE else gpu.get(found[2 : count + 2])
    return parts_of_keys(np.sort(keys))


def values_at(volume, voxels, gpu):
    """Numbers of a volume on the card at flat indices of the host."""
    return gpu.get(volume.reshape(-1)[gpu.put(np.asarray(voxels, np.int64))])
