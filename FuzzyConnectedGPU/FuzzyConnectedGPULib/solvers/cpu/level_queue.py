"""A bucket queue (Dial 1969) of voxels, with one bucket for each affinity level.

A bucket is a chain of chunks from one pool: entries that are neighbours in a bucket are neighbours
in memory.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

CHUNK = 62  # entries; with its link and count a chunk fills 256 bytes of 4-byte entries
LINK, COUNT, ENTRIES = 0, 1, 2  # columns of the pool
SPARE_CHUNKS = 64  # of the first pool, which grows by half when it is used up

# Counters of `LevelQueue.state`.
LEVEL, FREE_CHUNK, FRESH_CHUNK, EXPANDED = 0, 1, 2, 3


class LevelQueue(NamedTuple):
    """The queue's arrays.

    Attributes
    ----------
    heads : ndarray of int
        First chunk of each level, -1 for none.
    pool : ndarray of int, shape (chunks, CHUNK + ENTRIES)
    state : ndarray, int64, shape (4,)
        The current level, first free chunk, first fresh chunk and number of expanded voxels.
    """

    heads: np.ndarray
    pool: np.ndarray
    state: np.ndarray


def new_queue(top_level: int, entries: int, voxel_count: int, levels: int = 1) -> LevelQueue:
    """An empty queue with memory for so many entries on so many levels."""
    index = np.int32 if voxel_count < 2**31 else np.int64
    heads = np.full(top_level + 1, -1, index)
    chunks = entries // CHUNK + levels + SPARE_CHUNKS
    pool = np.empty((chunks, CHUNK + ENTRIES), index)
    return LevelQueue(heads, pool, np.array([top_level, -1, 0, 0], np.int64))


def grown(queue: LevelQueue) -> LevelQueue:
    """The queue with a pool that is larger by half."""
    chunks = queue.pool.shape[0]
    pool = np.empty((chunks * 3 // 2, CHUNK + ENTRIES), queue.pool.dtype)
    pool[:chunks] = queue.pool
    return LevelQueue(queue.heads, pool, queue.state)


@njit(cache=True)
def push(level: int, voxel: int, heads: np.ndarray, pool: np.ndarray, state: np.ndarray) -> None:
    """Add a voxel to a bucket."""
    head = heads[level]
    if head < 0 or pool[head, COUNT] == CHUNK:
        chunk = state[FREE_CHUNK]
        if chunk >= 0:
            state[FREE_CHUNK] = pool[chunk, LINK]
        else:
            chunk = state[FRESH_CHUNK]
            state[FRESH_CHUNK] += 1
        pool[chunk, LINK] = head
        pool[chunk, COUNT] = 0
        heads[level] = chunk
        head = chunk
    pool[head, ENTRIES + pool[head, COUNT]] = voxel
    pool[head, COUNT] += 1


@njit(cache=True)
def pop(level: int, heads: np.ndarray, pool: np.ndarray, state: np.ndarray) -> int:
    """Remove a voxel from a bucket; -1 if it is empty."""
    head = heads[level]
    while head >= 0 and pool[head, COUNT] == 0:
        heads[level] = pool[head, LINK]
        pool[head, LINK] = state[FREE_CHUNK]
        state[FREE_CHUNK] = head
        head = heads[level]
    if head < 0:
        return -1
    pool[head, COUNT] -= 1
    return pool[head, ENTRIES + pool[head, COUNT]]
