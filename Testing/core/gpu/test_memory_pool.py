"""The emulated device's memory pool: what it asks the device for."""

from emulators.cuda.memory_pool import UNIT, MemoryPool


def test_freed_memory_is_split_and_joined_again():
    pool = MemoryPool()
    pieces = [pool.take(size * UNIT) for size in (8, 2, 4)]
    for piece in pieces:
        pool.give_back(piece)
    assert pool.total == 14 * UNIT
    halves = [pool.take(4 * UNIT) for _ in "abc"]  # the third and both halves of the first
    assert (pool.total, pool.used) == (14 * UNIT, 12 * UNIT)
    for piece in halves:
        pool.give_back(piece)
    pool.give_back(pool.take(8 * UNIT))  # the halves are one again
    assert pool.total == pool.peak == 14 * UNIT


def test_memory_that_no_array_has_a_part_of_goes_back():
    pool = MemoryPool()
    first, second = (pool.take(8 * UNIT) for _ in "ab")
    pool.give_back(first)
    pool.give_back(second)
    part = pool.take(1)
    pool.free_all_blocks()
    assert (pool.total, pool.used, pool.peak) == (8 * UNIT, UNIT, 16 * UNIT)
    pool.give_back(part)
    pool.free_all_blocks()
    assert (pool.total, pool.used) == (0, 0)
