"""Peeling keeps the topology and what stays, equals its definition, and is the same on a card."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distance.euclidean import distance_to_outside
from FuzzyVesselCoreLib.voxels.distance.ridge import removal_order
from FuzzyVesselCoreLib.voxels.topology.euler import euler_characteristic
from FuzzyVesselCoreLib.voxels.topology.simple_points import is_simple
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.thinning import cuda_peeling, level_thinning
from PotentialSkeletonLib.thinning.peeling import peel, rounds_step
from support.solids import random_solids, ring

SPACING = (1.6, 0.7, 1.0)
BLOCK = np.ones((3, 3, 3), bool)


class Case:
    """An object with an empty margin, the order of its voxels, and some that stay."""

    def __init__(self, mask, seed=0, share=0.05):
        self.mask = np.pad(np.asarray(mask, bool), 1)
        self.voxels = np.flatnonzero(self.mask)
        depth = distance_to_outside(self.mask.astype(np.uint8), SPACING)
        self.order = removal_order(depth, self.voxels)
        few = np.random.default_rng(seed).random(len(self.voxels)) < share
        self.stays, self.step = self.voxels[few], rounds_step(SPACING)

    def peeled(self, progress=None):
        given = self.voxels, self.order, self.stays, self.step, self.mask.shape
        return peel(*given, progress or Progress())

    def peeled_on(self, gpu, progress=None):
        given = (gpu.put(a) for a in (self.mask.view(np.uint8), self.voxels, self.order))
        return cuda_peeling.peel(*given, self.stays, self.step, gpu, progress or Progress())

    def left(self):
        left = np.zeros(self.mask.shape, bool)
        left.reshape(-1)[self.peeled()] = True
        return left


def knot(seed=2, shape=(11, 14, 17)):
    """An object with many tunnels."""
    return ndimage.gaussian_filter(np.random.default_rng(seed).random(shape), 1.0) > 0.5


def simple_in(mask, voxel):
    block = mask[tuple(slice(n - 1, n + 2) for n in np.unravel_index(voxel, mask.shape))].ravel()
    return is_simple(sum(1 << n for n in range(27) if n != 13 and block[n]))


def peeled_by_definition(case):
    mask, stays = case.mask.copy(), set(case.stays.tolist())
    rounds = (case.order / np.float32(case.step)).astype(int).tolist()
    round_of = {v: r for v, r in zip(case.voxels.tolist(), rounds) if v not in stays}
    fields = np.stack(np.unravel_index(case.voxels, mask.shape), axis=1) % 2 @ [4, 2, 1]
    number, gone = 0, True
    while gone or number <= max(rounds):
        gone = False
        for field in range(8):
            here = [v for v in case.voxels[fields == field].tolist() if v in round_of]
            simple = [v for v in here if round_of[v] <= number and simple_in(mask, v)]
            for voxel in simple:
                mask.reshape(-1)[voxel] = False
                del round_of[voxel]
                gone = True
        number += 1
    return np.flatnonzero(mask)


@given(random_solids(largest=9), st.integers(0, 99))
@settings(max_examples=60)
def test_the_topology_stays_and_nothing_that_could_go_is_left(mask, seed):
    case = Case(mask, seed)
    left = case.left()
    assert left.reshape(-1)[case.stays].all()
    assert not (left & ~case.mask).any()
    assert ndimage.label(left, BLOCK)[1] == ndimage.label(case.mask, BLOCK)[1]
    assert ndimage.label(~left)[1] == ndimage.label(~case.mask)[1]
    assert euler_characteristic(left) == euler_characteristic(case.mask)
    for voxel in np.setdiff1d(np.flatnonzero(left), case.stays):
        assert not simple_in(left, voxel)


@given(random_solids(largest=7), st.integers(0, 99))
@settings(max_examples=25)
def test_what_is_left_is_that_of_the_definition(mask, seed):
    case = Case(mask, seed)
    assert case.peeled().tolist() == peeled_by_definition(case).tolist()


def test_many_tunnels_stay():
    case = Case(knot())
    left = case.left()
    assert euler_characteristic(left) == euler_characteristic(case.mask) < -5
    assert left.sum() < 0.3 * case.mask.sum()


def test_what_is_left_of_a_tube_is_its_axis():
    k, j, i = np.indices((13, 13, 40))
    case = Case(((k - 6) ** 2 + (j - 6) ** 2 <= 30) & (i >= 0))
    case.stays = np.ravel_multi_index(([7, 7], [7, 7], [3, 38]), case.mask.shape)
    left = np.argwhere(case.left())
    assert len(left) == 36
    assert abs(left[:, :2] - 7).max() <= 1


def assert_same(case, gpu):
    assert case.peeled_on(gpu).tolist() == case.peeled().tolist()


def test_a_card_leaves_the_same_voxels(cpu_cuda):
    for seed in range(3):
        assert_same(Case(knot(seed), seed), cpu_cuda)
    assert_same(Case(np.ones((1, 1, 1)), share=0), cpu_cuda)


def test_blocks_wait_for_one_another(cooperative_cuda):
    assert_same(Case(knot()), cooperative_cuda)


def test_threads_do_not_race(interleaved_cuda):
    assert_same(Case(knot(shape=(8, 9, 10))), interleaved_cuda)


def test_many_launches_leave_the_same_voxels(cooperative_cuda, monkeypatch):
    monkeypatch.setattr(cuda_peeling, "ROUNDS_PER_LAUNCH", 1)
    before = cooperative_cuda.launches
    assert_same(Case(knot()), cooperative_cuda)
    assert cooperative_cuda.launches - before > 6


def test_peeling_can_be_cancelled(cpu_cuda):
    case, stop = Case(knot()), Progress(lambda share: False)
    with pytest.raises(Cancelled):
        case.peeled(stop)
    with pytest.raises(Cancelled):
        case.peeled_on(cpu_cuda, stop)


@pytest.mark.gpu
def test_a_real_card_leaves_the_same_voxels(gpu):
    for seed in range(20):
        assert_same(Case(knot(seed, (40, 50, 60)), seed), gpu)


def test_an_object_with_a_tunnel_is_thinned_after_it_was_peeled(monkeypatch):
    mask, _ = ring()
    sizes, thinned = [], level_thinning.thin

    def listed(voxels, *rest):
        sizes.append(len(voxels))
        return thinned(voxels, *rest)

    monkeypatch.setattr(level_thinning, "thin", listed)
    report = skeletonize(mask, (1, 1, 1), device="cpu").report
    assert report["object_cycles"] == report["skeleton_cycles"] == 1
    assert max(sizes) < 0.2 * np.count_nonzero(mask)
