"""Distances along an object, tips and ends on the card equal the CPU's bit for bit."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distance import cuda_geodesic, geodesic
from FuzzyVesselCoreLib.voxels.distance.euclidean import distance_to_outside
from PotentialSkeletonLib.endpoints import cuda_end_caps as caps_on_cuda
from PotentialSkeletonLib.endpoints import cuda_endpoints as tips_on_cuda
from PotentialSkeletonLib.endpoints import cuda_large_components as large_pieces
from PotentialSkeletonLib.endpoints import cuda_local_maxima as limbs_on_cuda
from PotentialSkeletonLib.endpoints import end_caps as caps
from PotentialSkeletonLib.endpoints import endpoints as tips
from PotentialSkeletonLib.tracing import cuda_descent_paths as ways_in_on_cuda
from PotentialSkeletonLib.tracing.descent_paths import ways_in
from support.solid_shapes import wavy_tube
from support.solids import helix, plate, ring, rough, tapered_y
from trust.random_solids import random_solid

SPACINGS = [(1, 1, 1), (2.3, 0.4, 1.0), (0.6, 0.6, 0.9), (1.0, 1.0, 1.5)]


def cases():
    """Masks, flat sources, further sources, spacings, the least length of a limb."""
    solids = [rough(plate(), 0.3), helix()[0], ring()[0], tapered_y()[0], np.ones((9, 9, 30))]
    solids += [random_solid(np.random.default_rng(seed), 26) for seed in range(8)]
    for seed, solid in enumerate(solids):
        mask, rng = np.pad(solid, 1).astype(np.uint8), np.random.default_rng(seed)
        voxels = rng.permutation(np.flatnonzero(mask))
        more = np.sort(voxels[: rng.integers(5, 30)])
        yield mask, np.sort(voxels[: seed % 3]), more, SPACINGS[seed % 4], 0.4 * (seed % 3)


def check(gpu, mask, sources, more, spacing, smallest):
    """How many tips and drawn-out ends there were."""
    distances = geodesic.geodesic_distance(mask, sources, spacing)
    found = cuda_geodesic.geodesic_distance(gpu.put(mask), gpu.put(sources), spacing, gpu)
    np.testing.assert_array_equal(gpu.get(found), distances)
    count = np.count_nonzero(mask)
    geodesic.add_sources(distances, more, spacing)
    cuda_geodesic.add_sources(found, gpu.put(more), spacing, gpu)
    np.testing.assert_array_equal(gpu.get(found), distances)

    distances = geodesic.geodesic_distance(mask, more, spacing)
    depth = distance_to_outside(mask, spacing)
    there = gpu.put(distances), gpu.put(depth)
    tops = tips.may_be_tips(distances, depth, spacing, smallest)
    assert tips_on_cuda.may_be_tips(*there, spacing, smallest, gpu).tolist() == tops.tolist()
    ends = tips.geodesic_tips(distances, depth, spacing, smallest)
    found = tips_on_cuda.limb_tips(*there, spacing, smallest, count, gpu)
    assert found.tolist() == ends.tolist()
    further = tips.drawn_out_ends(distances, depth, more, spacing, ends[::2])
    found = tips_on_cuda.drawn_out_ends(*there, more, spacing, ends[::2], count, gpu)
    assert found.tolist() == further.tolist()
    check_ways_in(gpu, distances, np.union1d(ends, further), np.random.default_rng(count))
    return len(ends) + len(further)


def check_ways_in(gpu, distances, voxels, rng):
    forces = ((rng.random(distances.shape) < 0.05)[..., None] * [0, -1, 0]).astype(np.float32)
    for field, there in ((forces, gpu.put(forces)), (None, None)):
        found = ways_in_on_cuda.ways_in(gpu.put(distances), there, voxels, gpu)
        for way, wanted in zip(found, ways_in(distances, field, voxels), strict=True):
            np.testing.assert_array_equal(way, wanted)


def test_all_equals_the_cpu(cpu_cuda):
    assert sum(check(cpu_cuda, *case) for case in cases()) > 60


def test_large_pieces_are_grown_by_many_blocks(cooperative_cuda, monkeypatch):
    """All that have more than a few voxels, with tops that are told before and after."""
    asked, names = [], ("limb_widths", "cap_sizes", "furthest_beyond")

    def counted(name, method):
        return lambda *args: asked.append(name) or method(*args)

    for name in names:
        method = getattr(large_pieces.LargePieces, name)
        monkeypatch.setattr(large_pieces.LargePieces, name, counted(name, method))
    monkeypatch.setattr(limbs_on_cuda, "LARGE", 20)
    monkeypatch.setattr(caps_on_cuda, "LARGEST_BOX", 8)
    monkeypatch.setattr(large_pieces, "MOST_WORK", 20_000)  # several launches for a piece
    monkeypatch.setattr(large_pieces, "THREADS", 64)
    assert sum(check(cooperative_cuda, *case) for case in list(cases())[1:7]) > 10
    assert set(asked) == set(names)


def test_bounds_of_caps_are_those_of_single_caps():
    rng, shape = np.random.default_rng(0), (40, 30, 20)
    for spacing in SPACINGS:
        heights = rng.integers(0, 900, 50).astype(np.int32)
        tops = rng.integers(0, np.prod(shape), 50).astype(np.int32)
        reaches = (rng.random(50) * rng.choice([0.3, 3, 30], 50)).astype(np.float32)
        every = caps_on_cuda.bounds_of_all(heights, tops, reaches, shape, spacing)
        for n, limb in enumerate(zip(heights, tops, reaches)):
            for several, one in zip(every, caps.bounds(*limb, shape, spacing)):
                np.testing.assert_array_equal(several[n], one)


@pytest.mark.parametrize("spacing", [(1.0, 0.5, 0.703125), np.float32([0.57, 1.6, 1e-3]).tolist()])
def test_exact_sums_of_places_may_be_taken_up_in_any_order(spacing):
    voxels = np.random.default_rng(0).integers(0, 200, (20_000, 3)).astype(np.int32)
    assert caps_on_cuda.is_exact(voxels.sum(axis=0), spacing)
    mean = voxels.sum(axis=0) * np.array(spacing) / len(voxels)
    np.testing.assert_array_equal(mean, caps.mean(voxels, np.array(spacing)))


def test_sums_that_are_rounded_are_not_exact():
    assert not caps_on_cuda.is_exact([5, 5, 5], (1.0, 1.0, 0.1))
    assert not caps_on_cuda.is_exact([2**53 + 1, 5, 5], (1.0, 1.0, 1.0))


def test_threads_of_a_tile_may_give_way_to_one_another(interleaved_cuda):
    mask = np.pad(random_solid(np.random.default_rng(2), 14), 1).astype(np.uint8)
    voxels = np.flatnonzero(mask)
    check(interleaved_cuda, mask, voxels[:1], voxels[::40], (2.3, 0.4, 1.0), 0.0)


def test_more_than_there_is_room_for_at_first(cpu_cuda, monkeypatch):
    monkeypatch.setattr(tips_on_cuda, "ROOM", 2)
    monkeypatch.setattr(tips_on_cuda, "AT_ONCE", 1)
    monkeypatch.setattr(tips_on_cuda, "MOST_STEPS", 5)
    monkeypatch.setattr(limbs_on_cuda, "A_LAUNCH", 3)
    monkeypatch.setattr(caps_on_cuda, "A_LAUNCH", 3)
    monkeypatch.setattr(ways_in_on_cuda, "ROOM", 1)
    check(cpu_cuda, *next(cases()))


CANCEL = Progress(lambda share: False)


def test_spreading_can_be_cancelled_between_rounds(cpu_cuda):
    mask = np.zeros((3, 3, 200), np.uint8)
    mask[1, 1, 1:-1] = 1
    source = np.array([801])
    with pytest.raises(Cancelled):
        cuda_geodesic.geodesic_distance(
            cpu_cuda.put(mask), cpu_cuda.put(source), (1, 1, 1), cpu_cuda, CANCEL
        )


def test_no_launch_waits_on_the_card_when_a_run_may_be_cancelled(cpu_cuda, monkeypatch):
    ended, looks = [0], []

    def waits(method):
        def waiting(*args):
            ended[0] = cpu_cuda.launches
            return method(*args)

        return waiting

    for name in ("synchronize", "get"):
        monkeypatch.setattr(cpu_cuda, name, waits(getattr(cpu_cuda, name)))
    monkeypatch.setattr(limbs_on_cuda, "A_LAUNCH", 1)
    monkeypatch.setattr(large_pieces, "MOST_WORK", 1)
    mask, _, sources, spacing, _ = next(cases())
    distances = geodesic.geodesic_distance(mask, sources, spacing)
    depth = distance_to_outside(mask, spacing)
    tips_on_cuda.limb_tips(
        cpu_cuda.put(distances), cpu_cuda.put(depth), spacing, 0.0, np.count_nonzero(mask),
        cpu_cuda, lambda: looks.append(cpu_cuda.launches - ended[0]),
    )  # fmt: skip
    assert len(looks) > 10
    assert max(looks) == 0


@pytest.mark.gpu
@pytest.mark.parametrize("large", [limbs_on_cuda.LARGE, 1000])
def test_a_tube_on_a_card(gpu, large, monkeypatch):
    monkeypatch.setattr(limbs_on_cuda, "LARGE", large)
    mask = np.pad(wavy_tube((120, 64, 64)), 1).astype(np.uint8)
    rng = np.random.default_rng(0)
    axis = [np.argwhere(plane).mean(axis=0) for plane in mask[20:100]]
    axis = [(k + 20, *np.rint(middle).astype(int)) for k, middle in enumerate(axis)]
    sources = np.sort(np.ravel_multi_index(np.transpose(axis), mask.shape))
    more = np.union1d(sources, rng.permutation(np.flatnonzero(mask))[:5])
    check(gpu, mask, sources, more, (1, 1, 1), 2.0)
