"""Thinning keeps the topology and leaves nothing that could still go."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import ndimage

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components.labels import fill_cavities
from FuzzyVesselCoreLib.voxels.distance.euclidean import distance_to_outside
from FuzzyVesselCoreLib.voxels.topology.euler import euler_characteristic
from FuzzyVesselCoreLib.voxels.topology.simple_points import is_simple
from FuzzyVesselCoreLib.voxels.topology.sparse import sparse_topology
from PotentialSkeletonLib.thinning.thinning import empty_states, thin
from PotentialSkeletonLib.thinning.trimming import removable, trim
from support.solids import cube, random_solids, ring, tapered_y

BLOCK = np.ones((3, 3, 3), bool)
FACE_CENTRES = [(0, 1, 1), (2, 1, 1), (1, 0, 1), (1, 2, 1), (1, 1, 0), (1, 1, 2)]


def block_of(bits):
    return np.array([bits >> n & 1 for n in range(27)], bool).reshape(3, 3, 3)


def is_simple_by_definition(block):
    """One 26-component of object round the middle, one 6-component of background at its faces."""
    steps = np.abs(np.indices((3, 3, 3)) - 1).sum(axis=0)
    background, _ = ndimage.label(~block & (steps > 0) & (steps < 3))
    at_faces = {background[place] for place in FACE_CENTRES if not block[place]}
    return ndimage.label(block, BLOCK)[1] == 1 and len(at_faces) == 1


@pytest.mark.parametrize("share", [0.15, 0.4, 0.7, 0.9])
def test_simple_points_are_those_of_the_definition(share):
    rng = np.random.default_rng(int(100 * share))
    found = set()
    for _ in range(500):
        block = rng.random((3, 3, 3)) < share
        block[1, 1, 1] = False
        bits = sum(1 << int(n) for n in np.flatnonzero(block))
        assert is_simple(bits) == is_simple_by_definition(block)
        found.add(is_simple(bits))
    assert found == {True, False}


def padded(block):
    return np.pad(block, 1).astype(np.uint8)


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (np.ones((1, 1, 1)), 1),
        (np.ones((4, 3, 5)), 1),
        (np.eye(3)[None], 1),  # joined across edges
        (np.array([[[1, 0], [0, 0]], [[0, 0], [0, 1]]]), 1),  # joined across a corner
        (np.array([[[1, 0, 1]]]), 2),
        (1 - np.pad(np.ones((1, 1, 1)), 1), 2),  # a cavity
        (1 - np.pad(np.ones((3, 1, 1)), [(0, 0), (1, 1), (1, 1)]), 0),  # a tunnel
        (np.array([[[0, 1, 0], [1, 0, 1], [0, 1, 0]]]), 0),  # a diamond of four voxels
    ],
)
def test_the_euler_characteristic_counts_components_tunnels_and_cavities(mask, expected):
    assert euler_characteristic(mask.astype(bool)) == expected


@given(random_solids(largest=8))
@settings(max_examples=150)
def test_the_topology_of_few_voxels_is_that_of_their_volume(mask):
    found = sparse_topology(np.argwhere(mask)[::-1])
    assert found.components == ndimage.label(mask, BLOCK)[1]
    assert found.characteristic == euler_characteristic(mask)


@given(random_solids())
@settings(max_examples=40)
def test_distances_to_the_outside_are_exact(mask):
    mask = padded(mask)
    spacing = (1.6, 0.7, 1.0)
    expected = ndimage.distance_transform_edt(mask, sampling=spacing)
    np.testing.assert_allclose(distance_to_outside(mask, spacing), expected, rtol=1e-5)


def thinned(mask, kept=None, traced=None):
    """The skeleton as a mask; kept voxels and traced curves are masks, too."""
    none = np.zeros(mask.shape, bool)
    voxels = np.flatnonzero(mask)
    order = distance_to_outside(mask, (1, 1, 1)).reshape(-1)[voxels]
    kept, traced = ((none if some is None else some).reshape(-1)[voxels] for some in (kept, traced))
    states = empty_states(mask.shape)
    left = thin(voxels, order, kept, traced, mask.shape, Progress(), states)
    assert not states.any()
    return mask_of(left, mask.shape)


def mask_of(voxels, shape):
    """The mask of flat indices, which must ascend."""
    assert (np.diff(voxels) > 0).all()
    mask = np.zeros(shape, bool)
    mask.reshape(-1)[voxels] = True
    return mask


@given(random_solids())
@settings(max_examples=20)
def test_the_order_of_removal_is_that_of_a_plain_list(mask):
    """Always the first of those that came with the least key, whatever the buckets."""
    mask = padded(mask)
    voxels = np.flatnonzero(mask)
    rng = np.random.default_rng(len(voxels))
    order = rng.integers(1, 9, len(voxels)).astype(np.float32)
    traced = rng.random(len(voxels)) < 0.1
    kept = rng.random(len(voxels)) < 0.05
    found = thin(voxels, order, kept, traced, mask.shape, Progress())
    assert found.tolist() == thinned_by_a_list(mask > 0, voxels, order, kept, traced)


def thinned_by_a_list(mask, voxels, order, kept, traced):
    rank = {v: (t, o) for v, o, t, k in zip(voxels.tolist(), order, traced, kept) if not k}

    def block_at(voxel):
        return tuple(slice(n - 1, n + 2) for n in np.unravel_index(voxel, mask.shape))

    def is_at_the_surface(voxel):
        block = mask[block_at(voxel)]
        return not all(block[place] for place in FACE_CENTRES)

    waiting = [voxel for voxel in rank if is_at_the_surface(voxel)]
    while waiting:
        voxel = min(waiting, key=rank.get)
        waiting.remove(voxel)
        block = mask[block_at(voxel)]
        block[1, 1, 1] = False
        if not is_simple_by_definition(block):
            block[1, 1, 1] = True
            continue
        steps = np.argwhere(block) - 1
        beside = voxel + np.ravel_multi_index((steps + 1).T, mask.shape)
        beside -= np.ravel_multi_index((1, 1, 1), mask.shape)
        waiting += [v for v in beside.tolist() if v in rank and v not in waiting]
    return np.flatnonzero(mask).tolist()


@given(random_solids())
@settings(max_examples=60)
def test_thinning_keeps_components_tunnels_and_cavities(mask):
    mask = padded(mask)
    skeleton = thinned(mask)
    assert not (skeleton & (mask == 0)).any()
    assert ndimage.label(skeleton, BLOCK)[1] == ndimage.label(mask, BLOCK)[1]
    assert ndimage.label(~skeleton)[1] == ndimage.label(mask == 0)[1]
    assert euler_characteristic(skeleton) == euler_characteristic(mask)


@given(random_solids())
@settings(max_examples=40)
def test_nothing_simple_is_left_but_what_is_kept(mask):
    mask = padded(fill_cavities(mask)[0])
    kept = np.zeros(mask.shape, bool)
    kept[tuple(np.argwhere(mask)[::7].T)] = True
    skeleton = thinned(mask, kept)
    assert (skeleton[kept]).all()
    for place in np.argwhere(skeleton & ~kept):
        block = skeleton[tuple(slice(n - 1, n + 2) for n in place)].copy()
        block[1, 1, 1] = False
        assert not is_simple_by_definition(block)


def could_go(skeleton):
    """Voxels (n, 3) that are simple by definition and have more than one neighbour."""
    found = []
    for place in np.argwhere(skeleton):
        block = skeleton[tuple(slice(n - 1, n + 2) for n in place)].copy()
        block[1, 1, 1] = False
        if block.sum() > 1 and is_simple_by_definition(block):
            found.append(place.tolist())
    return found


@given(random_solids(largest=9))
@settings(max_examples=40)
def test_trimming_leaves_only_what_must_stay(mask):
    mask = np.pad(fill_cavities(mask)[0], 1)
    stays = np.zeros(mask.shape, bool)
    stays[tuple(np.argwhere(mask)[::5].T)] = True
    voxels, states = np.flatnonzero(mask), empty_states(mask.shape)
    skeleton = mask_of(trim(voxels, np.flatnonzero(stays), mask.shape, states), mask.shape)
    assert (mask & stays <= skeleton).all()
    assert (skeleton <= mask).all()
    assert euler_characteristic(skeleton) == euler_characteristic(mask)
    left = could_go(skeleton)
    found = removable(np.flatnonzero(skeleton), mask.shape, states)
    assert found.tolist() == [np.ravel_multi_index(p, mask.shape) for p in left]
    assert not states.any()
    assert all(stays[tuple(place)] for place in left)


def test_a_branch_at_a_straight_line_makes_a_voxel_of_the_line_removable():
    """Wherever it begins: so a level that contains the one before cannot always be minimal."""
    line = np.zeros((5, 5, 11), bool)
    line[2, 2, 1:10] = True
    assert not could_go(line)
    for k, j in np.argwhere(~line[1:4, 1:4, 5]) + 1:
        branch = line.copy()
        branch[k, j, 5] = True
        assert [2, 2, 5] in could_go(branch)


def test_thinning_is_deterministic_and_a_solid_without_endpoints_becomes_one_voxel_in_its_middle():
    mask = padded(cube(9))
    assert (np.argwhere(thinned(mask)) == [[7, 7, 7]]).all()
    mask = padded(tapered_y()[0])
    assert (thinned(mask) == thinned(mask)).all()
    assert thinned(mask).sum() == 1


def test_the_skeleton_lies_along_traced_curves():
    mask = padded(ring()[0])
    plain = thinned(mask)
    # The same loop, shifted away from the middle: without a curve it would not be there.
    traced = np.roll(plain, 1, axis=0)
    shifted = thinned(mask, traced=traced)
    assert (shifted & traced).sum() > 0.9 * traced.sum()
    assert (shifted & plain).sum() < 0.5 * plain.sum()
