"""Distances along an object on the device equal the CPU's bit for bit."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distance import cuda_geodesic, geodesic
from support.random_solids import random_solid
from support.solid_shapes import wavy_tube
from support.solids import helix, plate, ring, rough, tapered_y

SPACINGS = [(1, 1, 1), (2.3, 0.4, 1.0), (0.6, 0.6, 0.9), (1.0, 1.0, 1.5)]


def cases():
    """Masks, flat sources, further sources, spacings."""
    solids = [rough(plate(), 0.3), helix()[0], ring()[0], tapered_y()[0], np.ones((9, 9, 30))]
    solids += [random_solid(np.random.default_rng(seed), 26) for seed in range(8)]
    for seed, solid in enumerate(solids):
        mask, rng = np.pad(solid, 1).astype(np.uint8), np.random.default_rng(seed)
        voxels = rng.permutation(np.flatnonzero(mask))
        more = np.sort(voxels[: rng.integers(5, 30)])
        yield mask, np.sort(voxels[: seed % 3]), more, SPACINGS[seed % 4]


def check(gpu, mask, sources, more, spacing):
    distances = geodesic.geodesic_distance(mask, sources, spacing)
    found = cuda_geodesic.geodesic_distance(gpu.put(mask), gpu.put(sources), spacing, gpu)
    np.testing.assert_array_equal(gpu.get(found), distances)
    geodesic.add_sources(distances, more, spacing)
    cuda_geodesic.add_sources(found, gpu.put(more), spacing, gpu)
    np.testing.assert_array_equal(gpu.get(found), distances)


def test_distances_equal_the_cpu(cpu_cuda):
    for case in cases():
        check(cpu_cuda, *case)


def test_threads_of_a_tile_may_give_way_to_one_another(interleaved_cuda):
    mask = np.pad(random_solid(np.random.default_rng(2), 14), 1).astype(np.uint8)
    voxels = np.flatnonzero(mask)
    check(interleaved_cuda, mask, voxels[:1], voxels[::40], (2.3, 0.4, 1.0))


def test_spreading_can_be_cancelled_between_rounds(cpu_cuda):
    mask = np.zeros((3, 3, 200), np.uint8)
    mask[1, 1, 1:-1] = 1
    source = np.array([801])
    cancelled = Progress(lambda share: False)
    with pytest.raises(Cancelled):
        cuda_geodesic.geodesic_distance(
            cpu_cuda.put(mask), cpu_cuda.put(source), (1, 1, 1), cpu_cuda, cancelled
        )


@pytest.mark.gpu
def test_a_tube_on_a_device(gpu):
    mask = np.pad(wavy_tube((120, 64, 64)), 1).astype(np.uint8)
    rng = np.random.default_rng(0)
    axis = [np.argwhere(plane).mean(axis=0) for plane in mask[20:100]]
    axis = [(k + 20, *np.rint(middle).astype(int)) for k, middle in enumerate(axis)]
    sources = np.sort(np.ravel_multi_index(np.transpose(axis), mask.shape))
    more = np.union1d(sources, rng.permutation(np.flatnonzero(mask))[:5])
    check(gpu, mask, sources, more, (1, 1, 1))
