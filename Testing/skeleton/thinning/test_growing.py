"""Growing keeps the topology and leaves nothing that could still be added; gap paths lead to it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.bucket_queue import GROUP, empty_queue, put, take
from FuzzyVesselCoreLib.voxels.distance.euclidean import distance_to_outside
from FuzzyVesselCoreLib.voxels.topology.euler import euler_characteristic
from FuzzyVesselCoreLib.voxels.topology.simple_points import is_simple, neighbour_bits
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.field.tiles import Tiles
from PotentialSkeletonLib.thinning import gap_paths as gap_paths_module
from PotentialSkeletonLib.thinning import level_thinning
from PotentialSkeletonLib.thinning.gap_paths import gap_paths
from PotentialSkeletonLib.thinning.growing import grow
from PotentialSkeletonLib.thinning.thinning import OBJECT, empty_states, thin
from support.solids import random_solids, ring

UNIT = (1.0, 1.0, 1.0)
BLOCK = np.ones((3, 3, 3), bool)


def flat(mask):
    return np.flatnonzero(mask)


def grown(skeleton, offered, order, first=None):
    """The grown skeleton as a mask; the order is a volume."""
    states = empty_states(offered.shape)
    voxels = flat(offered)
    first = np.zeros(len(voxels), bool) if first is None else first.ravel()[voxels]
    found = grow(
        flat(skeleton), voxels, order.ravel()[voxels].astype(np.float32), first, offered.shape,
        states,
    )  # fmt: skip
    assert not states.any()
    assert (np.diff(found) > 0).all()
    mask = np.zeros(offered.shape, bool)
    mask.ravel()[found] = True
    return mask


def topology_of(mask):
    """Euler characteristic, components, and components of the background."""
    return euler_characteristic(mask), ndimage.label(mask, BLOCK)[1], ndimage.label(~mask)[1]


@given(random_solids(largest=9), st.integers(0, 2**32 - 1))
@settings(max_examples=80)
def test_what_is_grown_has_the_skeletons_topology_and_nothing_can_be_added(mask, seed):
    labels, _ = ndimage.label(np.pad(mask, 1), BLOCK)
    mask = labels == 1
    rng = np.random.default_rng(seed)
    depth = distance_to_outside(mask.astype(np.uint8), UNIT)
    voxels = flat(mask)
    nothing = np.zeros(len(voxels), bool)
    skeleton = np.zeros(mask.shape, bool)
    order = depth.ravel()[voxels]
    left = thin(voxels, order, nothing, nothing, mask.shape, Progress())
    skeleton.ravel()[left] = True
    offered = skeleton | mask & (rng.random(mask.shape) < rng.random())
    found = grown(skeleton, offered, depth)
    assert not (found & ~offered).any()
    assert not (skeleton & ~found).any()
    assert topology_of(found) == topology_of(skeleton)
    states = found.ravel().astype(np.uint8) * OBJECT
    strides = mask.shape[2], mask.shape[1] * mask.shape[2]
    for voxel in flat(offered & ~found):
        assert not is_simple(neighbour_bits(states, voxel, *strides, OBJECT))


def square_of_curves():
    """A curve that goes on in two, which meet again: the object has no such tunnel."""
    curves = np.zeros((5, 11, 11), bool)
    curves[2, 2:9, [2, 8]] = curves[2, [2, 8], 2:9] = True
    return curves


def test_a_false_tunnel_stays_open_at_its_least_central_voxel():
    curves = square_of_curves()
    start = np.zeros_like(curves)
    start[2, 2, 2] = True
    order = np.full(curves.shape, 5.0)
    order[2, 5, 8] = 1.0
    found = grown(start, curves, order)
    assert np.argwhere(curves & ~found).tolist() == [[2, 5, 8]]


def test_curves_round_a_cavity_do_not_close_it():
    """A hollow knot of curves with a loop at it has the Euler characteristic of a ball."""
    curves, start = np.zeros((5, 5, 10), bool), np.zeros((5, 5, 10), bool)
    curves[1:4, 1:4, 1:4] = ndimage.generate_binary_structure(3, 1)
    curves[2, 2, 2] = False
    curves[2, 1:4, 4:7] = True
    curves[2, 2, 5] = False
    start[2, 3, 2] = True
    assert topology_of(curves) == (1, 1, 2)
    assert topology_of(grown(start, curves, np.ones(curves.shape))) == (1, 1, 1)


def test_voxels_that_go_first_are_in_and_another_one_stays_out():
    curves = square_of_curves()
    start, first = np.zeros_like(curves), np.zeros_like(curves)
    start[2, 2, 2] = first[2, 5, 8] = True
    order = np.full(curves.shape, 5.0)
    order[2, 5, 8] = order[2, 7, 8] = 1.0
    order[2, 6, 8] = 0.5
    found = grown(start, curves, order, first)
    assert found[2, 5, 8]
    assert np.count_nonzero(curves & ~found) == 1


def test_voxels_that_were_left_out_do_not_count_as_traced():
    some = np.array([1, 5, 12]), np.array([9, 10])
    assert level_thinning.membership(np.array([2, 5, 9]), *some).tolist() == [False, True, True]


def test_the_queue_gives_the_lowest_keys_first_and_equal_ones_in_order():
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 5 << GROUP, 400) // 3
    queue = empty_queue(len(keys), 5 << GROUP)
    assert take(queue) == -1
    waiting, taken = [], 0
    for place, key in enumerate(keys):
        put(queue, place, key)
        waiting.append((key, place))
        if rng.random() < 0.4:
            assert take(queue) == min(waiting)[1]
            waiting.remove(min(waiting))
            taken += 1
    assert [take(queue) for _ in waiting] == [place for _, place in sorted(waiting)]
    assert take(queue) == -1
    assert taken > 100


def bent_tube():
    """A tube, and its depth; its axis is (12, j, 12) for j up to 40, then (k, 40, 12)."""
    k, j, i = np.indices((60, 60, 25))
    along = np.where(j <= 40, abs(k - 12) ** 2, 10**4) + (i - 12) ** 2
    upward = np.where(k >= 12, (j - 40) ** 2, 10**4) + (i - 12) ** 2
    mask = (np.minimum(along, upward) <= 36) & (j > 3) & (k < 56)
    return mask, distance_to_outside(mask.astype(np.uint8), UNIT)


def in_tiles(depth):
    return Tiles(depth.shape, lambda box: [depth[box]])


@pytest.mark.parametrize("tiles", [Tiles.whole, in_tiles])
def test_a_gap_path_runs_along_the_middle_to_the_skeleton(tiles):
    mask, depth = bent_tube()
    skeleton, curve = np.zeros_like(mask), np.zeros_like(mask)
    skeleton[12, 6:11, 12] = True
    curve[40:54, 40, 15] = True  # off the axis, ends far from the skeleton
    end = np.ravel_multi_index((53, 40, 15), mask.shape)
    states = empty_states(mask.shape)
    found = gap_paths(flat(skeleton), flat(curve), [end], tiles(depth), states, Progress())
    assert not states.any()
    assert mask.ravel()[found].all()
    assert np.isin(flat(curve), found).all()
    offered = skeleton.copy()
    offered.ravel()[found] = True
    joined = grown(skeleton, offered, depth)
    assert joined[53, 40, 15]
    middle = np.argwhere(joined & ~curve)
    middle = middle[(middle[:, 0] == 12) & (middle[:, 1] > 15) & (middle[:, 1] < 30)]
    assert set(range(16, 30)) == set(middle[:, 1])
    assert abs(middle[:, 2] - 12).max() <= 2  # with those beside it


def test_there_is_no_gap_path_where_too_many_voxels_would_be_needed(monkeypatch):
    mask, depth = bent_tube()
    skeleton = np.zeros_like(mask)
    skeleton[12, 6, 12] = True
    end = np.ravel_multi_index((53, 40, 12), mask.shape)
    monkeypatch.setattr(gap_paths_module, "MAX_SEEN", 0)
    nothing = np.empty(0, np.int64)
    states = empty_states(mask.shape)
    found = gap_paths(flat(skeleton), nothing, [end], Tiles.whole(depth), states, Progress())
    assert flat(skeleton)[0] not in found


def test_gap_paths_can_be_cancelled():
    mask, depth = bent_tube()

    end = flat(mask)[:1]
    states = empty_states(mask.shape)
    with pytest.raises(Cancelled):
        gap_paths(
            flat(mask)[-1:], end, end, Tiles.whole(depth), states, Progress(lambda share: False)
        )


@pytest.mark.parametrize("mask", [ring()[0], bent_tube()[0]])
def test_the_whole_object_is_thinned_where_growing_does_not_reach_all(monkeypatch, mask):
    expected = skeletonize(mask, UNIT, device="cpu")
    monkeypatch.setattr(level_thinning, "grow", lambda skeleton, *_: skeleton)
    found = skeletonize(mask, UNIT, device="cpu")
    assert all(found.report["guarantees"].values())
    for of in ("object_cycles", "skeleton_cycles"):
        assert found.report[of] == expected.report[of]


def test_a_protrusion_is_added_without_thinning_the_whole_object_again(monkeypatch):
    mask, _ = bent_tube()
    sizes, thinned = [], level_thinning.thin

    def listed(voxels, *rest):
        sizes.append(len(voxels))
        return thinned(voxels, *rest)

    monkeypatch.setattr(level_thinning, "thin", listed)
    skeletonize(mask, UNIT, device="cpu")
    assert len(sizes) >= 2
    assert max(sizes) < 0.1 * np.count_nonzero(mask)
