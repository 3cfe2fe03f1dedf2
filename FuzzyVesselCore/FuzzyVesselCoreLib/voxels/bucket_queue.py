"""A queue of voxels by key, the lowest first, of equal keys in the order of arrival.

Each key has a bucket: a chain of places in a list of voxels. The queue is a tuple of arrays.
"""

import numpy as np
from numba import njit

KEY_STEPS = 1 << 16  # of an order; as many keys again are for voxels that go last
FEW_VOXELS = 1 << 12  # that are sorted faster than a table of all keys is made
GROUP = 7  # power of 2 of the buckets that are passed at once where all are empty


def keys_of(order, last):
    """Bucket of each voxel, and how many there are: none that no voxel has.

    Parameters
    ----------
    order : ndarray of float32, (n,)
        Not negative.
    last : ndarray of bool, (n,)
        Voxels that come after all others.

    Returns
    -------
    keys : ndarray of int32, (n,)
    count : int
    """
    deepest = float(order.max(initial=0))
    scale = (KEY_STEPS - 1) / deepest if deepest > 0 else 0.0
    keys = (order.astype(np.float64) * scale).astype(np.int32) + np.int32(KEY_STEPS) * last
    if len(keys) > FEW_VOXELS:
        used = np.zeros(2 * KEY_STEPS, np.int32)
        used[keys] = 1
        rank = np.cumsum(used, dtype=np.int32)
        return rank[keys] - np.int32(1), int(rank[-1])
    used, keys = np.unique(keys, return_inverse=True)
    return keys.astype(np.int32), len(used)


def empty_queue(voxels, buckets):
    """A queue for so many voxels and buckets."""
    index = np.int32 if voxels < 2**31 else np.int64
    first, last = np.full(buckets, -1, index), np.full(buckets, -1, index)
    following = np.empty(voxels, index)
    counts = np.zeros((buckets >> GROUP) + 1, index)  # voxels in each group of buckets
    lowest = np.array([buckets], np.int64)  # no bucket before it holds a voxel
    return first, last, following, counts, lowest


@njit(cache=True, inline="always")
def put(queue, place, key):
    """Put a voxel, by its place in the list, into a bucket."""
    first, last, following, counts, lowest = queue
    following[place] = -1
    if first[key] < 0:
        first[key] = place
    else:
        following[last[key]] = place
    last[key] = place
    counts[key >> GROUP] += 1
    lowest[0] = min(lowest[0], key)


@njit(cache=True, inline="always")
def take(queue):
    """Take the next voxel's place in the list; -1 if the queue is empty."""
    first, _, following, counts, lowest = queue
    bucket = lowest[0]
    while bucket < first.size and first[bucket] < 0:
        if counts[bucket >> GROUP]:
            bucket += 1
        else:
            bucket = ((bucket >> GROUP) + 1) << GROUP
    if bucket >= first.size:
        lowest[0] = first.size
        return np.int64(-1)
    lowest[0] = bucket
    place = np.int64(first[bucket])
    first[bucket] = following[place]
    counts[bucket >> GROUP] -= 1
    return place


@njit(cache=True)
def rows_of(voxels, count, row):
    """At which places in a rising list each of an array's rows begins, and where the last ends."""
    places = np.empty(count + 1, np.int64)
    place = 0
    for n in range(count + 1):
        while place < voxels.size and voxels[place] < n * row:
            place += 1
        places[n] = place
    return places


@njit(cache=True)
def place_of(voxel, voxels, rows, row):
    """Where a voxel stands in the list; `rows` from `rows_of`."""
    low, high = rows[voxel // row], rows[voxel // row + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if voxels[middle] <= voxel:
            low = middle
        else:
            high = middle
    return low
