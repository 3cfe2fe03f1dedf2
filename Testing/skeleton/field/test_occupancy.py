"""Occupancy and threads per block: the paper's cards and figures, and cards of today."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from PotentialSkeletonLib.field.occupancy import (
    Multiprocessor,
    active_blocks,
    best_threads_per_block,
    occupancy,
)

# The paper's table 1; its formula (equation 2) knows no units of allocation.
EXACT = dict(register_unit=1, warp_unit=1, shared_unit=1)
FX_5800 = Multiprocessor(512, 1024, 8, 16384, 16384, **EXACT)
GTX_580 = Multiprocessor(1024, 1536, 8, 32768, 49152, **EXACT)
SHARED = 1548  # bytes of a block in the paper's program (section 3.4)
# From NVIDIA's tables for compute capability 9.0.
H200 = Multiprocessor(1024, 2048, 32, 65536, 233472, reserved_shared_bytes=1024)

cards = st.sampled_from([FX_5800, GTX_580, H200])
registers, shared = st.integers(1, 255), st.integers(0, 16384)


@pytest.mark.parametrize(
    ("threads", "share"), [(192, 0.9375), (193, 0.875), (320, 0.9375), (321, 0.6875)]
)
def test_the_papers_drops_on_the_fx_5800(threads, share):
    # Figure 3a and section 3.4: 93.8 % up to 192 threads, 87.5 % from 193; again at 321. These
    # shares follow from the threads alone: registers, at 42 a thread, would allow far less.
    assert occupancy(FX_5800, threads, registers=0, shared_bytes=SHARED) == share
    assert occupancy(FX_5800, threads, registers=16, shared_bytes=SHARED) == share


def test_with_the_papers_42_registers_occupancy_falls_at_193_too():
    # 16384 / (42 * 192) = 2.03 blocks of 6 warps, and 16384 / (42 * 224) = 1.7 of 7.
    assert occupancy(FX_5800, 192, 42, SHARED) == 12 / 32
    assert occupancy(FX_5800, 193, 42, SHARED) == 7 / 32


@pytest.mark.parametrize(
    ("registers", "shared_bytes", "blocks"),
    [
        (32, 0, 8),  # threads: 2048 / 256
        (64, 0, 4),  # registers: 65536 / (64 * 256)
        (65, 0, 3),  # 72 of them are given: 28 warps in multiples of 4
        (32, 40000, 5),  # shared memory: 233472 / (40000 + 1024, rounded up to 41088)
        (32, 300000, 0),
    ],
)
def test_a_block_of_256_threads_on_the_h200(registers, shared_bytes, blocks):
    assert active_blocks(H200, 256, registers, shared_bytes) == blocks


def test_more_threads_than_a_block_may_have_do_not_fit():
    assert active_blocks(FX_5800, 513, 1) == 0


@given(cards, st.integers(1, 1024), registers, shared)
def test_nothing_is_given_out_twice(card, threads, registers, shared_bytes):
    blocks = active_blocks(card, threads, registers, shared_bytes)
    warps = blocks * -(-threads // 32)
    assert 0 <= blocks <= card.blocks
    assert warps * 32 <= card.threads
    assert warps * 32 * registers <= card.registers
    assert blocks * (shared_bytes + card.reserved_shared_bytes) <= card.shared_bytes
    assert 0 <= occupancy(card, threads, registers, shared_bytes) <= 1


@given(cards, registers, shared)
def test_the_best_block_is_as_good_as_any(card, registers, shared_bytes):
    shares = [occupancy(card, n, registers, shared_bytes) for n in range(1, 1025)]
    threads = best_threads_per_block(card, registers, shared_bytes)
    if max(shares) == 0:
        assert threads == 0
    else:
        assert threads % 32 == 0
        assert shares[threads - 1] == max(shares)


def test_shared_memory_may_grow_with_the_block():
    # 128 bytes a thread: 16,384 of them hold 128 threads, whichever way they are split.
    threads = best_threads_per_block(FX_5800, 16, shared_bytes_per_thread=128)
    assert threads == 128
    assert occupancy(FX_5800, threads, 16, 128 * threads) == 128 / 1024


def test_of_equal_blocks_a_short_one_is_taken():
    assert best_threads_per_block(H200, 32) == 128
    assert best_threads_per_block(FX_5800, 16, SHARED) == 128


def test_limits_are_read_from_a_cards_properties():
    properties = {
        "warpSize": 32,
        "maxThreadsPerBlock": 1024,
        "maxThreadsPerMultiProcessor": 2048,
        "maxBlocksPerMultiProcessor": 32,
        "regsPerMultiprocessor": 65536,
        "sharedMemPerMultiprocessor": 233472,
        "reservedSharedMemPerBlock": 1024,
        "multiProcessorCount": 132,
    }
    assert Multiprocessor.of(properties) == H200
