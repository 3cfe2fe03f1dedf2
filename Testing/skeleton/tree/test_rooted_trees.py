"""Where trees begin, which branches of loops they leave out, and their root-to-tip lines."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib.tree import (
    nearest_ends,
    root_to_tip_lines,
    rooted_forest,
    skeleton_of_polylines,
)
from PotentialSkeletonLib.tree import rooting as lines_room
from support.trees import closed_ring, fork, random_tree, ring_with_handle, skeleton_of, straight


def test_the_thickest_end_is_the_root():
    assert rooted_forest(fork()).roots == fork().roots() == [0]


def test_a_point_chooses_the_nearest_end_in_mm():
    skeleton = fork(spacing=(0.1, 1.0, 1.0))
    # In voxels the trunk's end is nearer, in mm a limb's.
    assert nearest_ends(skeleton, [[20, 62, 50]]) == [2]
    forest = rooted_forest(skeleton, near=[[20, 62, 50]])
    assert forest.roots == [2]
    assert forest.branches[0].start == 2
    np.testing.assert_array_equal(forest.branches[0].points[0], (55, 70, 50))


def test_each_component_has_a_tree():
    apart = straight((0, 0, 0), (0, 0, 20), 1, 1)
    pieces = [straight((0, 50, 50), (30, 50, 50), 3, 3), apart]
    forest = rooted_forest(skeleton_of(pieces), near=[[0, 0, 21]])
    assert sorted(forest.roots) == [0, 3]
    assert len(root_to_tip_lines(forest)) == 2


def test_of_a_loop_the_branch_with_the_thinnest_place_is_cut():
    """Branch 1 is the thicker one on average, but for one place."""
    skeleton = ring_with_handle()
    assert skeleton.branches[1].radius.mean() > skeleton.branches[2].radius.mean()
    forest = rooted_forest(skeleton)
    assert forest.cut == [1]
    assert [branch.number for branch in forest.branches] == [0, 2, 3]
    assert len(skeleton.branches) == 4


@pytest.mark.parametrize("seed", range(5))
def test_cutting_leaves_the_widest_way_to_every_place(seed):
    """A maximum spanning tree: no way in the graph is wider than the tree's."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 100, (12, 3))
    pairs = {tuple(sorted(rng.choice(12, 2, replace=False))) for _ in range(30)}
    pairs |= {(n, n + 1) for n in range(11)}
    widths = dict(zip(sorted(pairs), rng.permutation(len(pairs)) + 1.0))
    skeleton = skeleton_of(
        [straight(places[a], places[b], w, w, 2) for (a, b), w in widths.items()]
    )
    forest = rooted_forest(skeleton)
    assert len(forest.branches) == 11
    assert len(forest.branches) + len(forest.cut) == len(pairs)
    width = np.full((12, 12), -np.inf)
    for branch in skeleton.branches:
        width[branch.start, branch.end] = width[branch.end, branch.start] = branch.radius[0]
    for middle in range(12):  # widest ways by Floyd and Warshall
        width = np.maximum(width, np.minimum(width[:, [middle]], width[[middle]]))
    for line in root_to_tip_lines(forest):
        assert line.radius.min() == width[line.root, line.tip]


def test_a_closed_curve_is_opened_at_its_node():
    forest = rooted_forest(closed_ring())
    assert forest.cut == []
    (line,) = root_to_tip_lines(forest)
    assert line.root == line.tip == 0
    np.testing.assert_array_equal(line.points[0], line.points[-1])


def test_a_handle_at_a_junction_is_left_out():
    turn = np.linspace(0, 2 * np.pi, 50)
    loop = np.stack([10 * np.sin(turn) + 20, 10 * (1 - np.cos(turn)), 0 * turn], axis=1)
    loop[-1] = loop[0]
    skeleton = skeleton_of([straight((0, 0, 0), (20, 0, 0), 2, 2), (loop, np.ones(50))])
    forest = rooted_forest(skeleton)
    assert (forest.cut, len(forest.branches)) == ([1], 1)


def test_an_empty_skeleton_and_isolated_points_have_no_lines():
    empty = skeleton_of_polylines([], [])
    assert root_to_tip_lines(rooted_forest(empty)) == []
    with pytest.raises(InputError, match="empty"):
        rooted_forest(empty, near=[[0, 0, 0]])


def test_a_single_voxel_has_no_line():
    from PotentialSkeletonLib import skeletonize

    forest = rooted_forest(skeletonize(np.ones((1, 1, 1))))
    assert (forest.roots, forest.isolated) == ([], [0])
    assert root_to_tip_lines(forest) == []


@pytest.mark.parametrize("seed", range(4))
def test_lines_run_from_the_root_to_each_tip_and_share_their_beginnings(seed):
    skeleton = random_tree(seed)
    forest = rooted_forest(skeleton, roots=[0])
    lines = root_to_tip_lines(forest)
    ends = {n for n, node in enumerate(skeleton.nodes) if node.kind == "end"} - {0}
    assert {line.tip for line in lines} == ends
    for line in lines:
        assert line.root == 0
        for index, position in enumerate(line.branches):
            own = slice(line.starts[index], line.starts[index + 1] + 1)
            branch = forest.branches[position]
            np.testing.assert_array_equal(line.points[own], branch.points)
            if index:
                assert branch.parent == line.branches[index - 1]
    covered = {forest.branches[n].number for line in lines for n in line.branches}
    assert covered == set(range(len(skeleton.branches)))


def test_bad_roots_are_told():
    with pytest.raises(InputError, match="Root 7 is no node; the skeleton has 4"):
        rooted_forest(fork(), roots=[7])
    with pytest.raises(InputError, match="Roots 0 and 2 lie in the same component"):
        rooted_forest(fork(), roots=[0, 2])
    with pytest.raises(InputError, match="not both"):
        rooted_forest(fork(), roots=[0], near=[[0, 0, 0]])
    for points in ([[0, 0]], [[0, 0, np.nan]], [0, 0, 0]):
        with pytest.raises(InputError, match="finite"):
            rooted_forest(fork(), near=points)


def test_too_many_points_are_told_before_memory_is_taken(monkeypatch):
    monkeypatch.setattr(lines_room, "MAX_POINTS", 100)
    with pytest.raises(InputError, match=r"2 tips would have 158 points.*prune"):
        root_to_tip_lines(rooted_forest(fork()))


@pytest.mark.parametrize(
    ("points", "radius", "message"),
    [
        ([[0, 0, 0]], [1], "at least two"),
        ([[0, 0], [1, 1]], [1, 1], "at least two"),
        ([[0, 0, 0], [1, 1, 1]], [1], "2 radii"),
        ([[0, 0, 0], [1, 1, 1]], [1, -1], "2 radii"),
        ([[0, 0, 0], [1, 1, np.nan]], [1, 1], "finite"),
    ],
)
def test_bad_polylines_are_told(points, radius, message):
    with pytest.raises(InputError, match=message):
        skeleton_of_polylines([points], [radius])
