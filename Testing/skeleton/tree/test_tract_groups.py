"""Tracts and groups: against their definition, and against files that VMTK wrote."""

from itertools import pairwise

import numpy as np
import pytest

from PotentialSkeletonLib.tree import (
    root_to_tip_lines,
    rooted_forest,
    skeleton_of_polylines,
    split_lines,
)
from support.trees import closed_ring, fork, random_tree, skeleton_of, straight


def columns(tracts):
    return [(t.line, t.tract, t.group, t.blanked) for t in tracts]


def test_a_fork_has_a_trunk_a_bifurcation_and_two_limbs():
    tracts = split_lines(rooted_forest(fork()))
    assert columns(tracts) == [
        (0, 0, 0, False), (0, 1, 1, True), (0, 2, 2, False),
        (1, 0, 0, False), (1, 1, 1, True), (1, 2, 3, False),
    ]  # fmt: skip


def in_tube(place, points, radius):
    """By dense sampling: whether a place lies in a ball of a line."""
    share = np.linspace(0, 1, 50)
    parts = [(points[:-1] + s * np.diff(points, axis=0)) for s in share]
    sizes = [(radius[:-1] + s * np.diff(radius)) for s in share]
    away = np.linalg.norm(np.concatenate(parts) - place, axis=1) - np.concatenate(sizes)
    return away.min()


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (0.8, 1.2, 2.0)])
def test_reference_points_are_those_of_antiga_and_steinman(spacing):
    """The second lies on the other line's tube; the first ball upstream reaches just there."""
    skeleton = fork(spacing)
    tracts = split_lines(rooted_forest(skeleton))
    for own, other in ((1, 2), (2, 1)):
        line = tracts[3 * (own - 1) : 3 * own]
        leaving, before = line[1].points[-1], line[1].points[0]
        limb = skeleton.branches[other]
        trunk = skeleton.branches[0]
        points = np.concatenate([trunk.points, limb.points[1:]]) * spacing
        radius = np.concatenate([trunk.radius, limb.radius[1:]])
        assert abs(in_tube(leaving, points, radius)) < 0.02
        assert np.linalg.norm(leaving - before) == pytest.approx(line[1].radius[0], rel=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_the_branches_and_junctions_of_a_tree_with_long_branches(seed):
    skeleton = random_tree(seed)
    tracts = split_lines(rooted_forest(skeleton, roots=[0]))
    vessels = {t.group for t in tracts if not t.blanked}
    junctions = {t.group for t in tracts if t.blanked}
    assert not vessels & junctions
    assert len(vessels) == len(skeleton.branches)
    assert len(junctions) == sum(node.kind == "junction" for node in skeleton.nodes)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("length", [(8, 14), (1, 3)])
def test_tracts_make_up_their_lines(seed, length):
    skeleton = random_tree(seed, length)
    tracts = split_lines(rooted_forest(skeleton, roots=[0]))
    groups = [t.group for t in tracts]
    assert list(dict.fromkeys(groups)) == list(range(max(groups) + 1))
    blanked = {}
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


def test_bifurcations_that_overlap_are_one():
    """Two limbs leave a trunk 1 mm apart: a trifurcation."""
    trunk = straight((0, 50, 50), (30, 50, 50), 3, 3)
    between = straight((30, 50, 50), (31, 50, 50), 3, 3, 3)
    limbs = [
        straight((30, 50, 50), (45, 70, 50), 2, 1),
        straight((31, 50, 50), (45, 30, 50), 2, 1),
        straight((31, 50, 50), (60, 50, 50), 2, 1),
    ]
    tracts = split_lines(rooted_forest(skeleton_of([trunk, between, *limbs]), roots=[0]))
    assert len({t.group for t in tracts if t.blanked}) == 1
    assert len({t.group for t in tracts if not t.blanked}) == 4
    assert all([t.blanked for t in tracts if t.line == n] == [False, True, False] for n in range(3))


def test_each_branch_of_a_line_stands_in_one_of_its_tracts():
    """Also one that has no tract of its own, as its whole length lies within a bifurcation."""
    for skeleton in (fork(), *(random_tree(seed, (2, 4)) for seed in range(6))):
        forest = rooted_forest(skeleton, roots=[0])
        tracts = split_lines(forest)
        for number, line in enumerate(root_to_tip_lines(forest)):
            own = [n for t in tracts if t.line == number for n in t.branches]
            assert sorted(own) == sorted(forest.branches[n].number for n in line.branches)
        assert all(tract.branches for tract in tracts if not tract.blanked)


def test_a_spur_inside_the_trunk_is_not_split_off():
    limbs = [
        straight((0, 50, 50), (30, 50, 50), 6, 6),
        straight((30, 50, 50), (60, 50, 50), 6, 6),
        straight((30, 50, 50), (30, 53, 50), 1, 1, 5),
    ]
    tracts = split_lines(rooted_forest(skeleton_of(limbs), roots=[0]))
    assert [t.blanked for t in tracts if len(t.points) and t.line == 1] == [False]


def test_one_line_and_a_closed_curve_are_one_group():
    for skeleton in (skeleton_of([straight((0, 0, 0), (30, 0, 0), 2, 2)]), closed_ring()):
        assert columns(split_lines(rooted_forest(skeleton))) == [(0, 0, 0, False)]


def test_trees_apart_share_no_group():
    branches = [
        *zip([b.points for b in fork().branches], [b.radius for b in fork().branches]),
        *zip([b.points + 200 for b in fork().branches], [b.radius for b in fork().branches]),
    ]
    tracts = split_lines(rooted_forest(skeleton_of(branches)))
    first = {t.group for t in tracts if t.line < 2}
    assert len(first) == 4
    assert not first & {t.group for t in tracts if t.line >= 2}
    assert {t.line for t in tracts} == {0, 1, 2, 3}


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
    values = {name: vtk_to_numpy(cells.GetArray(name)) for name in names if cells.HasArray(name)}
    return [(points[own], radius[own]) for own in ids], values


def test_vmtks_own_centrelines_are_split_as_vmtk_split_them(data_folder):
    """Its two lines have no point in common but the first: only the tubes tell what is shared."""
    lines, _ = read_lines(data_folder / "aorta_mra_centerline.vtp")
    expected, arrays = read_lines(data_folder / "vmtk" / "aorta-centerline-branches.vtp")
    np.testing.assert_array_equal(lines[0][0][0], lines[1][0][0])
    skeleton = skeleton_of_polylines(*zip(*lines))
    tracts = split_lines(rooted_forest(skeleton, roots=[0]))
    assert [t.line for t in tracts] == arrays["CenterlineIds"].tolist()
    assert [t.tract for t in tracts] == arrays["TractIds"].tolist()
    assert [t.group for t in tracts] == arrays["GroupIds"].tolist()
    assert [int(t.blanked) for t in tracts] == arrays["Blanking"].tolist()
    for tract, (points, radius) in zip(tracts, expected):
        assert abs(len(tract.points) - len(points)) <= 1
        for side in (0, -1):
            assert np.linalg.norm(tract.points[side] - points[side]) < 0.1  # mm
            assert tract.radius[side] == pytest.approx(radius[side], abs=0.05)
