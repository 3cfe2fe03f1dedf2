"""A priority queue of voxels: the lowest key first, equal keys in the order of arrival; compiled.

Each key has a bucket: a linked list of places in a list of voxels. The queue is a tuple of arrays.
"""

from typing import Any

import numpy as np

from ..jit.decorators import compiled, compiled_inside, inlined

KEY_STEPS = 1 << 16  # of an order; as many keys again are for voxels that come last
GROUP = 7  # 2**GROUP buckets are skipped at once if all are empty


def keys_of(order: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the bucket of each voxel and the number of buckets; every bucket has a voxel.

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
    return keys, rank_keys(keys, np.zeros(2 * KEY_STEPS, np.int32))


@compiled
def rank_keys(keys: np.ndarray, table: np.ndarray) -> int:
    """Replace keys by their ranks among those that there are, whose number is returned.

    The table has a 0 for each possible key.
    """
    for key in keys:
        table[key] = 1
    count: Any = np.int32(0)
    for key in range(table.size):
        count += table[key]
        table[key] = count
    for n in range(keys.size):
        keys[n] = table[keys[n]] - 1
    return count


def empty_queue(voxels: int, buckets: int) -> tuple[np.ndarray, ...]:
    """Return a queue for so many voxels and buckets."""
    index = np.int32 if voxels < 2**31 else np.int64
    first, last = np.full(buckets, -1, index), np.full(buckets, -1, index)
    following = np.empty(voxels, index)
    counts = np.zeros((buckets >> GROUP) + 1, index)  # voxels in each group of buckets
    lowest = np.array([buckets], np.int64)  # no bucket before it holds a voxel
    return first, last, following, counts, lowest


@inlined
def put(queue: tuple[np.ndarray, ...], place: int, key: int) -> None:
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


@inlined
def take(queue: tuple[np.ndarray, ...]) -> Any:
    """Remove the next voxel and return its place in the list; -1 if the queue is empty."""
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


@compiled
def rows_of(voxels: np.ndarray, count: int, row: int) -> np.ndarray:
    """Return where each of `count` rows of `row` voxels begins in a rising list, and its end."""
    places = np.empty(count + 1, np.int64)
    place = 0
    for n in range(count + 1):
        while place < voxels.size and voxels[place] < n * row:
            place += 1
        places[n] = place
    return places


@compiled_inside
def place_of(voxel: int, voxels: np.ndarray, rows: np.ndarray, row: int) -> int:
    """Return the place of a voxel in the list, by bisection; `rows` from `rows_of`."""
    low, high = rows[voxel // row], rows[voxel // row + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if voxels[middle] <= voxel:
            low = middle
        else:
            high = middle
    return low
