"""Objects split by branch, and organs divided among branches."""

import dataclasses

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled, InputError
from PotentialSkeletonLib.branch_tools import (
    branch_labels,
    dense_points,
    inherited_names,
    territories,
)
from PotentialSkeletonLib.tree import rooted_forest
from support.trees import random_tree, ring_with_handle, skeleton_of, straight

SPACING = (2.0, 1.0, 1.5)


def exact_distances(mask, seeds, spacing):
    """Geodesic distances by scipy's Dijkstra over the graph of all steps; seeds voxel: mm."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import dijkstra

    number = np.cumsum(mask.reshape(-1)).reshape(mask.shape) - 1
    rows, columns, lengths = [], [], []
    for step in np.ndindex(3, 3, 3):
        step = np.array(step) - 1
        if not step.any():
            continue
        for voxel in np.argwhere(mask):
            other = voxel + step
            if ((other >= 0) & (other < mask.shape)).all() and mask[tuple(other)]:
                rows.append(number[tuple(voxel)])
                columns.append(number[tuple(other)])
                lengths.append(np.linalg.norm(step * spacing))
    count = int(mask.sum())
    graph = coo_matrix((lengths, (rows, columns)), (count, count)).tocsr()
    found = np.full(count, np.inf)
    for voxel, start in seeds.items():
        found = np.minimum(found, start + dijkstra(graph, indices=number[voxel]))
    full = np.full(mask.shape, np.inf)
    full[mask] = found
    return full


@pytest.mark.parametrize("seed", range(3))
def test_each_voxel_goes_to_the_branch_that_is_nearest_along_the_object(seed):
    rng = np.random.default_rng(seed)
    mask = rng.random((6, 9, 10)) < 0.7
    ends = rng.uniform(0, 1, (3, 3)) * (np.array(mask.shape) - 1)
    centre = (np.array(mask.shape) - 1) / 2
    skeleton = skeleton_of([straight(centre, end, 1, 1, 6) for end in ends], SPACING)
    skeleton = dataclasses.replace(skeleton, shape=mask.shape)
    distances = []
    for branch in skeleton.branches:
        points, seeds = dense_points(branch.points), {}
        for point in points:
            voxel = tuple(np.floor(point + 0.5).astype(int))
            if mask[voxel]:
                away = float(np.linalg.norm((point - voxel) * SPACING))
                seeds[voxel] = min(seeds.get(voxel, np.inf), away)
        distances.append(exact_distances(mask, seeds, SPACING))
    distances = np.array(distances)
    labels = branch_labels(mask, skeleton)
    reached = np.isfinite(distances).any(axis=0)
    assert (labels[~reached] == 0).all()
    own = np.take_along_axis(distances, np.maximum(labels[None] - 1, 0), axis=0)[0]
    np.testing.assert_allclose(own[reached], distances.min(axis=0)[reached], rtol=1e-9)
    assert (labels > 0).sum() == reached.sum() > 100


@pytest.fixture
def rake():
    """Two prongs that touch beyond a gap of air, joined by a handle; each its branch."""
    mask = np.zeros((3, 11, 30), bool)
    mask[1, 1:4, 1:29] = mask[1, 7:10, 1:29] = mask[1, 1:10, 1:4] = True
    lines = [
        straight((1, 5, 2), (1, 2, 28), 1, 1),
        straight((1, 5, 2), (1, 8, 28), 1, 1),
    ]
    return mask, dataclasses.replace(skeleton_of(lines), shape=mask.shape)


def test_a_split_by_groups(rake):
    mask, skeleton = rake
    labels = branch_labels(mask, skeleton, {0: 7, 1: 9})
    assert set(np.unique(labels)) == {0, 7, 9}
    assert (labels[1, 1:4, 10:29] == 7).all()
    assert (labels[1, 7:10, 10:29] == 9).all()
    assert ((labels > 0) == mask).all()


def test_straight_and_geodesic_territories_differ_where_there_is_a_gap():
    """A voxel just across a slit from the branch is far along the organ."""
    organ = np.ones((1, 21, 40), bool)
    organ[0, 5, :35] = False
    lines = [straight((0, 2, 1), (0, 2, 30), 1, 1), straight((0, 19, 1), (0, 19, 30), 1, 1)]
    skeleton = dataclasses.replace(skeleton_of(lines), shape=organ.shape)
    straight_ones = territories(organ, skeleton)
    along = territories(organ, skeleton, distance="geodesic")
    assert straight_ones.labels[0, 7, 5] == 1
    assert along.labels[0, 7, 5] == 2
    for found in (straight_ones, along):
        assert found.unreached == 0
        counts = [np.count_nonzero(found.labels == label) for label in (1, 2)]
        assert list(found.volumes.values()) == pytest.approx([n / 1000 for n in counts])
        assert sum(counts) == organ.sum()


def test_volumes_are_ml_and_groups_join_branches():
    organ = np.ones((10, 20, 20), bool)
    lines = [straight((n, 5, 5), (n, 15, 15), 1, 1) for n in (2, 5, 8)]
    skeleton = skeleton_of(lines, (3.0, 2.0, 1.0))
    skeleton = dataclasses.replace(skeleton, shape=organ.shape)
    found = territories(organ, skeleton, {0: 1, 2: 1, 1: 4})
    assert set(found.volumes) == {1, 4}
    assert sum(found.volumes.values()) == pytest.approx(4000 * 6 / 1000)


def test_what_geodesic_distance_does_not_reach_is_told():
    organ = np.ones((1, 5, 20), bool)
    organ[0, :, 12] = False
    skeleton = skeleton_of([straight((0, 2, 1), (0, 2, 9), 1, 1)])
    skeleton = dataclasses.replace(skeleton, shape=organ.shape)
    found = territories(organ, skeleton, distance="geodesic")
    assert found.unreached == pytest.approx(5 * 7 / 1000)
    assert (found.labels[0, :, 13:] == 0).all()


def test_a_run_can_be_cancelled(rake):
    from PotentialSkeletonLib.branch_tools import dividing

    mask, skeleton = rake
    before = dividing.VOXELS_AT_ONCE
    dividing.VOXELS_AT_ONCE = 3
    try:
        with pytest.raises(Cancelled):
            branch_labels(mask, skeleton, progress=lambda share: False)
    finally:
        dividing.VOXELS_AT_ONCE = before


def test_bad_input_is_told(rake):
    mask, skeleton = rake
    with pytest.raises(InputError, match="same grid"):
        branch_labels(mask[:2], skeleton)
    with pytest.raises(InputError, match="Branch 5 cannot get the label 1"):
        branch_labels(mask, skeleton, {5: 1})
    with pytest.raises(InputError, match="label 0"):
        branch_labels(mask, skeleton, {0: 0})
    with pytest.raises(InputError, match="use straight or geodesic"):
        territories(mask, skeleton, distance="taxi")
    with pytest.raises(InputError, match="nothing to divide"):
        territories(np.zeros_like(mask), skeleton)
    organ = np.zeros_like(mask)
    organ[2, 0, 0] = True
    with pytest.raises(InputError, match="No branch goes through the organ"):
        territories(organ, skeleton, distance="geodesic")
    assert territories(organ, skeleton).labels[2, 0, 0] > 0


def test_branches_without_a_name_have_that_of_the_nearest_upstream():
    skeleton = random_tree(3)
    forest = rooted_forest(skeleton, roots=[0])
    by_number = {branch.number: branch for branch in forest.branches}
    first = forest.branches[0]
    child = forest.branches[first.children[0]]
    names = inherited_names(forest, {first.number: "trunk", child.number: "left, upper"})
    assert set(names) == set(by_number)
    for number, name in names.items():
        way = [number]
        while by_number[way[-1]].parent >= 0:
            way.append(forest.branches[by_number[way[-1]].parent].number)
        assert name == ("left, upper" if child.number in way else "trunk")
    assert set(inherited_names(forest, {child.number: "x", first.number: ""})) == {
        number for number, name in names.items() if name == "left, upper"
    }


def test_names_of_a_tree_with_a_loop_and_of_none():
    forest = rooted_forest(ring_with_handle())
    (cut,) = forest.cut
    assert cut not in inherited_names(forest, {forest.branches[0].number: "in"})
    assert inherited_names(forest, {cut: "loop"}) == {cut: "loop"}
    assert inherited_names(forest, {}) == {}
    with pytest.raises(InputError, match="belongs to branch 99"):
        inherited_names(forest, {99: "x"})
