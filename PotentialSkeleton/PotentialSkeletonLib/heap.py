"""A queue of voxels that gives the lowest key first, ties by the voxel's index: compiled.

An entry packs key and voxel into one integer (key * 2^40 + voxel), so that the order is total and
results never depend on the order of insertion.
"""

from numba import njit

KEY_SHIFT = 40
VOXEL_BITS = (1 << KEY_SHIFT) - 1
LARGEST_KEY = (1 << 22) - 1  # entries stay below 2^62


@njit(cache=True)
def push(heap, size, entry):
    """Insert into `heap[:size]`; the caller keeps room and counts `size` up."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if heap[above] <= entry:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = entry


@njit(cache=True)
def pop(heap, size):
    """Take the lowest entry out of `heap[:size]`; the caller counts `size` down."""
    lowest = heap[0]
    size -= 1
    entry = heap[size]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= entry:
            break
        heap[place] = heap[below]
        place = below
    heap[place] = entry
    return lowest
