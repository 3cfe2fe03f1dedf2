"""Tiles that are copied at once hold all of a volume that is not 0."""

import numpy as np
import pytest

from PotentialSkeletonLib.field.cuda_tiles import SIDE, tiles_on_host


def volumes_of(shape, share=0.01, seed=0):
    """Where something is, forces there, and bytes."""
    rng = np.random.default_rng(seed)
    where = (rng.random(shape) < share).astype(np.uint8) * rng.integers(1, 4, shape, np.uint8)
    forces = rng.normal(size=(*shape, 3)).astype(np.float32) * (where > 0)[..., None]
    return where, forces, where


def tile_at(tiles, number, place):
    """A tile of the first volume, as far as the volume goes, and the box that it is of."""
    box = tuple(slice(n << SIDE, (n << SIDE) + (1 << SIDE) + 1) for n in place)
    inside = tuple(slice(max(n - s.start, 0)) for n, s in zip(tiles.shape, box))
    return [volume[(number, *inside)] for volume in tiles.volumes], box


SHAPES = [(9, 17, 26), (8, 8, 8), (1, 2, 3), (16, 7, 40)]


def check(shape, gpu):
    where, *volumes = volumes_of(shape)
    tiles = tiles_on_host(gpu.put(where), 1, [gpu.put(v) for v in volumes], gpu)
    assert tiles.is_complete
    assert not any(volume[0].any() for volume in tiles.volumes)
    for place in np.ndindex(tiles.numbers.shape):
        found, box = tile_at(tiles, tiles.numbers[place], place)
        for one, volume in zip(found, volumes, strict=True):
            assert np.array_equal(one, volume[box])
        assert (tiles.numbers[place] > 0) == where[box].any()


@pytest.mark.parametrize("shape", SHAPES)
def test_each_tile_is_that_part_of_the_volume(shape, cpu_cuda):
    check(shape, cpu_cuda)


def test_no_thread_writes_what_another_one_reads(interleaved_cuda):
    check(SHAPES[0], interleaved_cuda)


@pytest.mark.gpu
def test_tiles_on_a_real_card(gpu):
    for shape in (*SHAPES, (70, 81, 95)):
        check(shape, gpu)
