"""Tips of an object: where it reaches furthest from a core, and by more than its own width.

Seen from the core, each limb of the object holds a local maximum of the geodesic distance. The
voxels further out than some distance fall into pieces, one a limb; as that distance sinks, pieces
grow and merge. A piece's top is a tip as soon as the piece is long for its width. Bumps on a
surface, blunt ends and the corners of boxes merge into larger pieces before. Where a
skeleton ends within a limb, little is left of the limb beyond: such an end is drawn out.
"""

import numpy as np
from numba import njit, prange

from .geodesic import FAR, neighbour_steps, unit_of
from .topology import neighbour_bits

SLENDERNESS = 2.0  # length of a piece over its largest inscribed radius that makes its top a tip
DRAWN_OUT = 1.3  # inscribed radii at an end of the core beyond which its limb goes on
CAP = 0.75  # share of a limb's radius: so far from the top reaches the cap that the tip is put on
VOXELS_A_SLICE = 1 << 18  # joined to pieces between two looks at the progress callback
PLAIN = 16  # times as many voxels that are just compared with their neighbours


def geodesic_tips(distances, order, depth, spacing, smallest, report=None):
    """Ends of the object's limbs.

    Parameters
    ----------
    distances : ndarray of int32, shape (K, J, I)
        Geodesic distance from the core, -1 outside the object (`distance_along`).
    order : ndarray of int
        Flat indices of the object's voxels in rising order of their distances.
    depth : ndarray of float32, shape (K, J, I)
        Distance to the outside in mm.
    spacing : 3 floats K, J, I, in mm
    smallest : float
        Millimetres that a limb is longer than `SLENDERNESS` times its radius.
    report : callable, optional
        Called between slices; raises to cancel.

    Returns
    -------
    ndarray of int64
        Flat indices in rising order.
    """
    flat, deep, unit = distances.reshape(-1), depth.reshape(-1), unit_of(spacing)
    offsets, _ = neighbour_steps(distances.shape, spacing)
    pieces = np.zeros(flat.size, np.int32)  # of each voxel, from 1
    merged, tops = np.empty(1024, np.int32), np.empty(1024, np.int64)
    widths, accepted = np.empty(1024, np.float32), np.empty(1024, np.uint8)
    lowest, count = FAR, 0
    planes = max(1, VOXELS_A_SLICE * PLAIN // distances[0].size)
    for first in range(1, distances.shape[0] - 1, planes):
        last = min(first + planes, distances.shape[0] - 1)
        lowest = min(lowest, lowest_top(distances, offsets, smallest / unit, first, last))
        if report is not None:
            report()
    for last in range(order.size, 0, -VOXELS_A_SLICE):
        some = order[max(last - VOXELS_A_SLICE, 0) : last][::-1]
        if flat[some[0]] < lowest and not any_may_become_a_limb(
            flat, unit, smallest, count, merged, tops, widths, accepted
        ):
            break
        count, merged, tops, widths, accepted = sink(
            some, flat, deep, offsets, unit, smallest,
            pieces, count, merged, tops, widths, accepted,
        )  # fmt: skip
        if report is not None:
            report()
    tips = [
        _middle_of_cap(distances, tops[n], CAP * widths[n], spacing)
        for n in np.flatnonzero(accepted[:count] == 1)
    ]
    return np.unique(np.array(tips, np.int64))


@njit(cache=True, parallel=True)
def lowest_top(distances, offsets, nearest, first, last):
    """The least distance, from `nearest` on, of the voxels that no neighbour exceeds in it.

    Of the planes from `first` to before `last`.
    """
    flat = distances.reshape(-1)
    size = distances.shape[1] * distances.shape[2]
    lowest = np.full(last - first, FAR, np.int32)
    for plane in prange(last - first):
        k = first + plane
        for voxel in range(k * size, (k + 1) * size):
            here = flat[voxel]
            if nearest <= here < lowest[plane]:
                is_top = True
                for offset in offsets:
                    if flat[voxel + offset] > here:
                        is_top = False
                        break
                if is_top:
                    lowest[plane] = here
    return lowest.min()


@njit(cache=True)
def any_may_become_a_limb(distances, unit, smallest, count, merged, tops, widths, accepted):
    """Whether there is a piece that would be long enough for a limb if it grew to the core."""
    for piece in range(count):
        longest = distances[tops[piece]] * unit
        is_open = merged[piece] == piece and accepted[piece] == 0
        if is_open and longest > SLENDERNESS * widths[piece] + smallest:
            return True
    return False


@njit(cache=True)
def root(merged, piece):
    while merged[piece] != piece:
        merged[piece] = merged[merged[piece]]
        piece = merged[piece]
    return piece


@njit(cache=True)
def doubled(array):
    return np.concatenate((array, np.empty_like(array)))


@njit(cache=True)
def sink(
    order, distances, depth, offsets, unit, smallest, pieces, count, merged, tops, widths, accepted
):
    """Give voxels in falling order of distance to pieces.

    `accepted` is 0 for a piece that may still become a limb, 1 where its top is a tip, and 2 where
    the piece was merged into another or holds a tip of another.
    """
    for voxel in order:
        own = last = -1
        for offset in offsets:
            other = pieces[voxel + offset] - 1
            if other < 0 or other == last:
                continue
            last = other
            other = root(merged, other)
            if other != own:
                own = other if own < 0 else merge(distances, own, other, merged, tops, widths,
                                                  accepted)  # fmt: skip
        if own < 0:
            if count == tops.size:
                merged, tops = doubled(merged), doubled(tops)
                widths, accepted = doubled(widths), doubled(accepted)
            own = count
            merged[own], tops[own], widths[own], accepted[own] = own, voxel, 0, 0
            count += 1
        if accepted[own] == 0:
            length = (distances[tops[own]] - distances[voxel]) * unit
            if length > SLENDERNESS * widths[own] + smallest:
                accepted[own] = 1
            widths[own] = max(widths[own], depth[voxel])
        pieces[voxel] = own + 1
    return count, merged, tops, widths, accepted


@njit(cache=True)
def merge(distances, first, second, merged, tops, widths, accepted):
    """Merge two pieces; one with a tip goes before one without, then the higher top."""
    has_tip = accepted[first] > 0, accepted[second] > 0
    height = distances[tops[first]], distances[tops[second]]
    if (has_tip[1], height[1], -tops[second]) > (has_tip[0], height[0], -tops[first]):
        first, second = second, first
    merged[second] = first
    if accepted[second] == 0:
        accepted[second] = 2
        if accepted[first] == 0:
            widths[first] = max(widths[first], widths[second])
    return first


def drawn_out_ends(distances, depth, skeleton, spacing, tips, report=None):
    """Ends of the limbs that go on beyond an end of a skeleton.

    Parameters
    ----------
    distances, depth, spacing
        As for `geodesic_tips`; the distances from the skeleton.
    skeleton : ndarray of bool, shape (K, J, I)
        Thin.
    tips : ndarray of int
        Flat indices of ends that stay.
    report : callable, optional
        Called at each end of the skeleton; raises to cancel.

    Returns
    -------
    ndarray of int64
        Flat indices in rising order.
    """
    flat, states = distances.reshape(-1), skeleton.reshape(-1).view(np.uint8)
    offsets, weights = neighbour_steps(distances.shape, spacing)
    row, plane = distances.shape[2], distances.shape[1] * distances.shape[2]
    seen = np.zeros(flat.size, np.uint8)
    unit, ends = unit_of(spacing), []
    for voxel in np.setdiff1d(np.flatnonzero(states), tips):
        if int(neighbour_bits(states, voxel, row, plane, 1)).bit_count() != 1:
            continue
        if report is not None:
            report()
        top, width = furthest_beyond(flat, offsets, weights, voxel, seen), depth.flat[voxel]
        if flat[top] * unit > DRAWN_OUT * width:
            ends.append(_middle_of_cap(distances, top, CAP * width, spacing))
    return np.unique(np.array(ends, np.int64))


@njit(cache=True)
def furthest_beyond(distances, offsets, weights, start, seen):
    """The voxel furthest from the skeleton of those whose shortest way to it ends at `start`."""
    waiting = [start]
    best = start
    while len(waiting) > 0:
        voxel = waiting.pop()
        if (distances[voxel], -voxel) > (distances[best], -best):
            best = voxel
        for side in range(offsets.size):
            other = voxel + offsets[side]
            if not seen[other] and distances[other] == distances[voxel] + weights[side]:
                seen[other] = 1
                waiting.append(other)
    return best


def _middle_of_cap(distances, top, reach, spacing):
    """The voxel where a limb's axis leaves it: a blunt end has its top on the rim."""
    place = np.array(np.unravel_index(top, distances.shape))
    reach = max(reach, 0.5 * min(spacing))
    radius = np.ceil(3 * reach / np.asarray(spacing)).astype(int) + 1
    low = np.maximum(place - radius, 0)
    box = tuple(slice(a, b) for a, b in zip(low, place + radius + 1))
    cap, slab = (
        _piece_with(distances[box] >= lowest, place - low) * np.asarray(spacing)
        for lowest in distances.flat[top] - np.array([reach, 2 * reach]) / unit_of(spacing)
    )
    middle = cap.mean(axis=0)
    axis = middle - slab.mean(axis=0)
    length = np.linalg.norm(axis)
    if length == 0:
        return top
    along = (cap - middle) @ (axis / length)
    across = np.linalg.norm(cap - middle - along[:, None] * (axis / length), axis=1)
    # Rounded, so that symmetric places tie on every machine; the first wins.
    best = np.argmax(np.round(along - 2 * across, 6))
    voxel = np.rint(cap[best] / spacing).astype(int) + low
    return int(np.ravel_multi_index(voxel, distances.shape))


def _piece_with(mask, place):
    """Voxels (n, 3) of the 26-connected piece that holds a place."""
    from scipy import ndimage

    labels, _ = ndimage.label(mask, np.ones((3, 3, 3), bool))
    return np.argwhere(labels == labels[tuple(place)])
