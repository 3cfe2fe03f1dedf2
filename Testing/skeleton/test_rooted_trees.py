"""Rooted trees, root-to-tip lines, tracts and groups: by definition, and against VMTK's files."""

from itertools import pairwise

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.tree import (
    nearest_ends,
    root_to_tip_lines,
    rooted_forest,
    skeleton_of_polylines,
    split_lines,
)
from support.trees import closed_ring, fork, random_tree, skeleton_of, straight


def test_the_thickest_end_is_the_root_or_the_end_nearest_to_a_point_in_mm():
    assert rooted_forest(fork()).roots == fork().roots() == [0]
    skeleton = fork(spacing=(0.1, 1.0, 1.0))
    # In voxels the trunk's end is nearer, in mm a limb's.
    assert nearest_ends(skeleton, [[20, 62, 50]]) == [2]
    forest = rooted_forest(skeleton, near=[[20, 62, 50]])
    assert (forest.roots, forest.branches[0].start) == ([2], 2)
    np.testing.assert_array_equal(forest.branches[0].points[0], (55, 70, 50))
    apart = straight((0, 0, 0), (0, 0, 20), 1, 1)
    forest = rooted_forest(
        skeleton_of([straight((0, 50, 50), (30, 50, 50), 3, 3), apart]), near=[[0, 0, 21]]
    )
    assert sorted(forest.roots) == [0, 3]
    assert len(root_to_tip_lines(forest)) == 2


def test_closed_curves_points_and_nothing():
    forest = rooted_forest(closed_ring())
    (line,) = root_to_tip_lines(forest)
    assert (forest.cut, line.root, line.tip) == ([], 0, 0)
    turn = np.linspace(0, 2 * np.pi, 50)
    loop = np.stack([10 * np.sin(turn) + 20, 10 * (1 - np.cos(turn)), 0 * turn], axis=1)
    loop[-1] = loop[0]
    handle = skeleton_of([straight((0, 0, 0), (20, 0, 0), 2, 2), (loop, np.ones(50))])
    forest = rooted_forest(handle)
    assert (forest.cut, len(forest.branches)) == ([1], 1)
    forest = rooted_forest(skeletonize(np.ones((1, 1, 1))))
    assert (forest.roots, forest.isolated, root_to_tip_lines(forest)) == ([], [0], [])
    empty = skeleton_of_polylines([], [])
    assert root_to_tip_lines(rooted_forest(empty)) == []
    with pytest.raises(InputError, match="empty"):
        rooted_forest(empty, near=[[0, 0, 0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rooted_forest(fork(), roots=[7]), "Root 7 is no node; the skeleton has 4"),
        (lambda: rooted_forest(fork(), roots=[0, 2]), "Roots 0 and 2 lie in the same component"),
        (lambda: rooted_forest(fork(), roots=[0], near=[[0, 0, 0]]), "not both"),
        (lambda: rooted_forest(fork(), near=[[0, 0, np.nan]]), "finite"),
        (lambda: rooted_forest(fork(), near=[0, 0, 0]), "finite"),
        (lambda: skeleton_of_polylines([[[0, 0, 0]]], [[1]]), "at least two"),
        (lambda: skeleton_of_polylines([[[0, 0, 0], [1, 1, 1]]], [[1]]), "2 radii"),
        (lambda: skeleton_of_polylines([[[0, 0, 0], [1, 1, 1]]], [[1, -1]]), "2 radii"),
        (lambda: skeleton_of_polylines([[[0, 0, 0], [1, 1, np.nan]]], [[1, 1]]), "finite"),
    ],
)
def test_bad_input_is_told(make, message):
    with pytest.raises(InputError, match=message):
        make()


def in_tube(place, points, radius):
    """By dense sampling: how far a place lies outside of the balls of a line."""
    share = np.linspace(0, 1, 50)
    parts = [(points[:-1] + s * np.diff(points, axis=0)) for s in share]
    sizes = [(radius[:-1] + s * np.diff(radius)) for s in share]
    return (np.linalg.norm(np.concatenate(parts) - place, axis=1) - np.concatenate(sizes)).min()


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (0.8, 1.2, 2.0)])
def test_reference_points_are_those_of_antiga_and_steinman(spacing):
    """The second lies on the other line's tube; the first ball upstream reaches just there."""
    skeleton = fork(spacing)
    tracts = split_lines(rooted_forest(skeleton))
    for own, other in ((1, 2), (2, 1)):
        line = tracts[3 * (own - 1) : 3 * own]
        leaving, before = line[1].points[-1], line[1].points[0]
        limb, trunk = skeleton.branches[other], skeleton.branches[0]
        points = np.concatenate([trunk.points, limb.points[1:]]) * spacing
        radius = np.concatenate([trunk.radius, limb.radius[1:]])
        assert abs(in_tube(leaving, points, radius)) < 0.02
        assert np.linalg.norm(leaving - before) == pytest.approx(line[1].radius[0], rel=1e-3)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("length", [(8, 14), (2, 4), (1, 3)])
def test_tracts_make_up_their_lines_and_stand_for_all_branches(seed, length):
    skeleton = random_tree(seed, length)
    forest = rooted_forest(skeleton, roots=[0])
    tracts = split_lines(forest)
    groups, blanked = [t.group for t in tracts], {}
    assert list(dict.fromkeys(groups)) == list(range(max(groups) + 1))
    for before, after in pairwise(tracts):
        if before.line == after.line:
            np.testing.assert_allclose(before.points[-1], after.points[0])
            assert before.tract + 1 == after.tract
            assert before.group != after.group
        else:
            assert (after.line, after.tract) == (before.line + 1, 0)
    for tract in tracts:
        assert len(tract.points) == len(tract.radius) >= 2
        assert blanked.setdefault(tract.group, tract.blanked) == tract.blanked
        assert tract.branches or tract.blanked
    for number, line in enumerate(root_to_tip_lines(forest)):
        own = [n for t in tracts if t.line == number for n in t.branches]
        assert sorted(own) == sorted(forest.branches[n].number for n in line.branches)
    if length == (8, 14):  # long branches: a group for each branch and each junction
        assert sum(not each for each in blanked.values()) == len(skeleton.branches)
        assert sum(blanked.values()) == sum(node.kind == "junction" for node in skeleton.nodes)


def read_lines(path):
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    points = vtk_to_numpy(data.GetPoints().GetData()).astype(float)
    radius = vtk_to_numpy(data.GetPointData().GetArray("MaximumInscribedSphereRadius"))
    cells = (data.GetCell(n).GetPointIds() for n in range(data.GetNumberOfCells()))
    ids = [[each.GetId(n) for n in range(each.GetNumberOfIds())] for each in cells]
    cells = data.GetCellData()
    names = ("CenterlineIds", "TractIds", "GroupIds", "Blanking")
    values = [vtk_to_numpy(cells.GetArray(n)).tolist() for n in names if cells.HasArray(n)]
    return [(points[own], radius[own]) for own in ids], values


def test_vmtks_own_centrelines_are_split_as_vmtk_split_them(data_folder):
    """Its two lines have no point in common but the first: only the tubes tell what is shared."""
    lines, _ = read_lines(data_folder / "aorta_mra_centerline.vtp")
    expected, values = read_lines(data_folder / "vmtk" / "aorta-centerline-branches.vtp")
    tracts = split_lines(rooted_forest(skeleton_of_polylines(*zip(*lines)), roots=[0]))
    columns = zip(*((t.line, t.tract, t.group, int(t.blanked)) for t in tracts))
    assert [list(column) for column in columns] == values
    for tract, (points, radius) in zip(tracts, expected):
        assert abs(len(tract.points) - len(points)) <= 1
        for side in (0, -1):
            assert np.linalg.norm(tract.points[side] - points[side]) < 0.1  # mm
            assert tract.radius[side] == pytest.approx(radius[side], abs=0.05)
