"""Endpoints and descent paths on the device equal the CPU's bit for bit."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distance import geodesic
from FuzzyVesselCoreLib.voxels.distance.euclidean import distance_to_outside
from PotentialSkeletonLib.endpoints import (
    candidates,
    cuda_endpoints,
    cuda_large_components,
    cuda_local_maxima,
    endpoints,
)
from PotentialSkeletonLib.endpoints.device_object import DeviceObject
from PotentialSkeletonLib.endpoints.end_caps import cap_centre, cuda_cap_centre
from PotentialSkeletonLib.tracing import cuda_descent_paths
from PotentialSkeletonLib.tracing.descent_paths import descent_paths
from support.random_solids import random_solid
from support.solid_shapes import wavy_tube
from support.solids import helix, plate, ring, rough, tapered_y

SPACINGS = [(1, 1, 1), (2.3, 0.4, 1.0), (0.6, 0.6, 0.9), (1.0, 1.0, 1.5)]


def cases():
    """Masks, flat sources, spacings, the least length of a protrusion."""
    solids = [rough(plate(), 0.3), helix()[0], ring()[0], tapered_y()[0], np.ones((9, 9, 30))]
    solids += [random_solid(np.random.default_rng(seed), 26) for seed in range(8)]
    for seed, solid in enumerate(solids):
        mask, rng = np.pad(solid, 1).astype(np.uint8), np.random.default_rng(seed)
        voxels = rng.permutation(np.flatnonzero(mask))
        sources = np.sort(voxels[: rng.integers(5, 30)])
        yield mask, sources, SPACINGS[seed % 4], 0.4 * (seed % 3)


def check(gpu, mask, sources, spacing, min_length):
    """How many endpoints there were, and ends beyond those of the sources."""
    distances = geodesic.geodesic_distance(mask, sources, spacing)
    depth = distance_to_outside(mask, spacing)
    on_host, progress, count = (distances, depth, spacing), Progress(), np.count_nonzero(mask)
    on_device = DeviceObject(gpu.put(distances), gpu.put(depth), spacing, count, gpu)
    maxima = candidates.endpoint_candidates(*on_host, min_length, progress)
    found = cuda_endpoints.endpoint_candidates(on_device, min_length, progress)
    assert found.tolist() == maxima.tolist()
    ends = endpoints.protrusion_endpoints(*on_host, min_length, progress)
    found = cuda_endpoints.protrusion_endpoints(on_device, min_length, progress)
    assert found.tolist() == ends.tolist()
    further = endpoints.endpoints_beyond(*on_host, sources, ends[::2], progress)
    found = cuda_endpoints.endpoints_beyond(on_device, sources, ends[::2], progress)
    assert found.tolist() == further.tolist()
    check_paths(gpu, distances, np.union1d(ends, further), np.random.default_rng(count))
    return len(ends) + len(further)


def check_paths(gpu, distances, voxels, rng):
    forces = ((rng.random(distances.shape) < 0.05)[..., None] * [0, -1, 0]).astype(np.float32)
    for field, on_device in ((forces, gpu.put(forces)), (None, None)):
        found = cuda_descent_paths.descent_paths(gpu.put(distances), on_device, voxels, gpu)
        for path, wanted in zip(found, descent_paths(distances, field, voxels), strict=True):
            np.testing.assert_array_equal(path, wanted)


def test_all_equals_the_cpu(cpu_cuda):
    assert sum(check(cpu_cuda, *case) for case in cases()) > 60


def test_large_components_are_grown_by_many_blocks(cooperative_cuda, monkeypatch):
    """All that have more than a few voxels, with maxima that are decided before and after."""
    called, names = [], ("protrusion_widths", "cap_sizes", "furthest_beyond")

    def counted(name, method):
        return lambda *args: called.append(name) or method(*args)

    for name in names:
        method = getattr(cuda_large_components.LargeComponents, name)
        monkeypatch.setattr(cuda_large_components.LargeComponents, name, counted(name, method))
    monkeypatch.setattr(cuda_local_maxima, "MAX_SMALL", 20)
    monkeypatch.setattr(cuda_cap_centre, "MAX_BOX", 8)
    # Several launches for a component.
    monkeypatch.setattr(cuda_large_components, "MAX_WORK_PER_LAUNCH", 20_000)
    monkeypatch.setattr(cuda_large_components, "THREADS", 64)
    assert sum(check(cooperative_cuda, *case) for case in list(cases())[1:7]) > 10
    assert set(called) == set(names)


def test_bounds_of_all_end_caps_are_those_of_single_ones():
    rng, shape = np.random.default_rng(0), (40, 30, 20)
    for spacing in SPACINGS:
        heights = rng.integers(0, 900, 50).astype(np.int32)
        maxima = rng.integers(0, np.prod(shape), 50).astype(np.int32)
        reaches = (rng.random(50) * rng.choice([0.3, 3, 30], 50)).astype(np.float32)
        every = cuda_cap_centre.bounds_of_all(heights, maxima, reaches, shape, spacing)
        for n, protrusion in enumerate(zip(heights, maxima, reaches)):
            for several, one in zip(every, cap_centre.bounds(*protrusion, shape, spacing)):
                np.testing.assert_array_equal(several[n], one)


@pytest.mark.parametrize("spacing", [(1.0, 0.5, 0.703125), np.float32([0.57, 1.6, 1e-3]).tolist()])
def test_exact_sums_of_positions_may_be_taken_up_in_any_order(spacing):
    voxels = np.random.default_rng(0).integers(0, 200, (20_000, 3)).astype(np.int32)
    assert cuda_cap_centre.is_exact(voxels.sum(axis=0), spacing)
    mean = voxels.sum(axis=0) * np.array(spacing) / len(voxels)
    np.testing.assert_array_equal(mean, cap_centre.mean(voxels, np.array(spacing)))


def test_sums_that_are_rounded_are_not_exact():
    assert not cuda_cap_centre.is_exact([5, 5, 5], (1.0, 1.0, 0.1))
    assert not cuda_cap_centre.is_exact([2**53 + 1, 5, 5], (1.0, 1.0, 1.0))


def test_threads_may_give_way_to_one_another(interleaved_cuda):
    mask = np.pad(random_solid(np.random.default_rng(2), 14), 1).astype(np.uint8)
    check(interleaved_cuda, mask, np.flatnonzero(mask)[::40], (2.3, 0.4, 1.0), 0.0)


def test_more_than_the_first_capacity(cpu_cuda, monkeypatch):
    monkeypatch.setattr(cuda_endpoints, "CAPACITY", 2)
    monkeypatch.setattr(cuda_endpoints, "MAX_COPIED_AT_ONCE", 1)
    monkeypatch.setattr(cuda_endpoints, "MAX_STEPS_PER_LAUNCH", 5)
    monkeypatch.setattr(cuda_local_maxima, "COMPONENTS_PER_LAUNCH", 3)
    monkeypatch.setattr(cuda_cap_centre, "CAPS_PER_LAUNCH", 3)
    monkeypatch.setattr(cuda_descent_paths, "CAPACITY", 1)
    check(cpu_cuda, *next(cases()))


def test_no_launch_waits_on_the_device_when_a_run_may_be_cancelled(cpu_cuda, monkeypatch):
    ended, waiting = [0], []

    def waits(method):
        def counted(*args):
            ended[0] = cpu_cuda.launches
            return method(*args)

        return counted

    for name in ("synchronize", "get"):
        monkeypatch.setattr(cpu_cuda, name, waits(getattr(cpu_cuda, name)))
    monkeypatch.setattr(cuda_local_maxima, "COMPONENTS_PER_LAUNCH", 1)
    monkeypatch.setattr(cuda_large_components, "MAX_WORK_PER_LAUNCH", 1)
    mask, sources, spacing, _ = next(cases())
    on_device = DeviceObject(
        cpu_cuda.put(geodesic.geodesic_distance(mask, sources, spacing)),
        cpu_cuda.put(distance_to_outside(mask, spacing)),
        spacing,
        np.count_nonzero(mask),
        cpu_cuda,
    )
    progress = Progress(lambda share: waiting.append(cpu_cuda.launches - ended[0]))
    cuda_endpoints.protrusion_endpoints(on_device, 0.0, progress)
    assert len(waiting) > 10
    assert max(waiting) == 0


@pytest.mark.gpu
@pytest.mark.parametrize("small", [cuda_local_maxima.MAX_SMALL, 1000])
def test_a_tube_on_a_device(gpu, small, monkeypatch):
    monkeypatch.setattr(cuda_local_maxima, "MAX_SMALL", small)
    mask = np.pad(wavy_tube((120, 64, 64)), 1).astype(np.uint8)
    rng = np.random.default_rng(0)
    axis = [np.argwhere(plane).mean(axis=0) for plane in mask[20:100]]
    axis = [(k + 20, *np.rint(middle).astype(int)) for k, middle in enumerate(axis)]
    sources = np.sort(np.ravel_multi_index(np.transpose(axis), mask.shape))
    more = np.union1d(sources, rng.permutation(np.flatnonzero(mask))[:5])
    check(gpu, mask, more, (1, 1, 1), 2.0)
