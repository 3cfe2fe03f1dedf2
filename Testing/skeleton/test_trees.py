"""Rooted trees, root-to-tip lines, tracts and groups: by definition, and against VMTK's files."""

from itertools import pairwise

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.branch_tools import inherited_names, propose_names
from PotentialSkeletonLib.branch_tools.straightening import straightened_frames
from PotentialSkeletonLib.tree import (
    nearest_ends,
    root_to_tip_lines,
    rooted_forest,
    skeleton_of_polylines,
    split_lines,
)
from support.trees import closed_ring, fork, random_tree, ring_with_handle, skeleton_of, straight


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


# ---- Names proposed for a portal vein and an aorta whose branches are known


# Ends in R, A, S mm, and the radius; a branch begins where the branch of that name ends.
PORTAL = {
    "portal vein": (None, (0, 0, 0), (40, 0, 10), 6),
    "right branch": ("portal vein", None, (60, -5, 12), 5),
    "left branch": ("portal vein", None, (30, 25, 30), 4),
    "right anterior": ("right branch", None, (75, 15, 15), 4),
    "right posterior": ("right branch", None, (80, -30, 10), 4),
    "segment 8": ("right anterior", None, (85, 20, 60), 3),
    "segment 5": ("right anterior", None, (90, 30, -30), 3),
    "segment 7": ("right posterior", None, (95, -45, 55), 3),
    "segment 6": ("right posterior", None, (100, -45, -35), 3),
    "segment 2": ("left branch", None, (-20, 20, 70), 3),
    "umbilical part": ("left branch", None, (20, 45, 30), 3),
    "segment 4": ("umbilical part", None, (40, 60, 20), 2),
    "segment 3": ("umbilical part", None, (-30, 60, 20), 2),
    "": ("right branch", None, (60, -10, 16), 1),  # a twig: no division
    "upstream": ("portal vein", (0, 0, 0), (-60, -10, 20), 4),  # from where the trunk begins
}
AORTA = {
    "aorta": (None, (0, 0, 200), (0, 0, 120), 9),
    "other branch": ("aorta", None, (0, 60, 60), 4),
    "": ("aorta", None, (0, 0, 100), 9),
    "left renal artery": ("", None, (-60, -20, 90), 3),
    "right renal artery": ("", None, (55, -20, 85), 3),
    "lower": ("", None, (0, 5, 0), 8),
    "right common iliac": ("lower", None, (40, 0, -60), 6),
    "left common iliac": ("lower", None, (-40, 0, -60), 6),
}
CAVA = {
    "vena cava": (None, (0, 0, 0), (0, 0, 80), 9),
    "": ("vena cava", None, (-50, -20, 80), 4),  # a renal vein
    "upper": ("vena cava", None, (0, 5, 160), 8),
    "right hepatic vein": ("upper", None, (60, 10, 100), 5),
    "trunk": ("upper", None, (-5, 25, 150), 6),
    "middle hepatic vein": ("trunk", None, (30, 60, 110), 4),
    "left hepatic vein": ("trunk", None, (-60, 50, 130), 4),
}


def tree_of(rows, matrix=None):
    """The skeleton of rows, and the name of each branch; voxels through the inverse of a matrix."""
    back = np.eye(4) if matrix is None else np.linalg.inv(matrix)
    ends, lines = {}, []
    for name, (parent, start, end, radius) in rows.items():
        points = np.array([ends[parent] if start is None else start, end], float)
        ends[name] = end
        points = (points @ back[:3, :3].T + back[:3, 3])[:, ::-1]
        lines.append(straight(*points, radius, radius))
    spacing = (1, 1, 1) if matrix is None else np.linalg.norm(matrix[:3, :3], axis=0)[::-1]
    return skeleton_of(lines, spacing), list(rows)


@pytest.mark.parametrize(
    ("anatomy", "rows", "unnamed"),
    [
        ("portal vein", PORTAL, {"", "upstream"}),
        ("aorta", AORTA, {"", "lower"}),
        ("vena cava", CAVA, {"", "upper", "trunk"}),
    ],
)
@pytest.mark.parametrize("trunk", [None, 0])
def test_every_branch_gets_its_own_name(anatomy, rows, unnamed, trunk):
    turned = np.array([[0, 0.5, 0, -40], [-0.8, 0, 0, 9], [0, 0, 2, 30], [0, 0, 0, 1.0]])
    for matrix in (None, turned):
        skeleton, names = tree_of(rows, matrix)
        found = propose_names(skeleton, anatomy, trunk, matrix)
        expected = {n: f"{name} (?)" for n, name in enumerate(names) if name not in unnamed}
        assert found == expected
        whole = inherited_names(rooted_forest(skeleton, roots=[0]), found)
        assert set(whole) >= set(expected)


def test_three_branches_at_one_place_are_two_divisions():
    rows = {n: row for n, row in PORTAL.items() if n not in ("right branch", "")}
    for name in ("right anterior", "right posterior"):
        rows[name] = ("portal vein", *PORTAL[name][1:])
    skeleton, names = tree_of(rows)
    found = propose_names(skeleton, "portal vein")
    assert found == {n: f"{name} (?)" for n, name in enumerate(names) if name != "upstream"}


def test_what_cannot_be_named_is_refused():
    skeleton, _names = tree_of(AORTA)
    with pytest.raises(InputError, match="use portal vein, vena cava, aorta"):
        propose_names(skeleton, "lung")
    with pytest.raises(InputError, match="branch 99"):
        propose_names(skeleton, "aorta", 99)
    with pytest.raises(InputError, match="Branch 1 closes a loop"):
        propose_names(ring_with_handle(), "aorta", 1)


# ---- A straightened vessel, checked on tubes whose straight form is known


STEP, RADIUS, WIDTH = 0.5, 3.0, 16.0


def helix(count=400):
    turn = np.linspace(0, 3 * np.pi, count)
    return np.stack([20 + 15 * np.cos(turn), 20 + 15 * np.sin(turn), 5 + 4 * turn], axis=1)


def oblique():
    """World to voxels I, J, K of an oblique, anisotropic image with reversed K."""
    angle = np.radians(20)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0]])
    ijk_to_world = np.eye(4)
    ijk_to_world[:3, :3] = np.array([*turn, [0, 0, 1.0]]) * [0.7, 0.8, -0.9]
    ijk_to_world[:3, 3] = [-12, -20, 52]
    return np.linalg.inv(ijk_to_world)


def tube(points, world_to_ijk, shape):
    """Distance (mm) of each voxel to the nearest of the points."""
    from scipy.spatial import cKDTree

    kji = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 3)
    back = np.linalg.inv(world_to_ijk)
    world = kji[:, ::-1] @ back[:3, :3].T + back[:3, 3]
    return cKDTree(points).query(world)[0].reshape(shape).astype(np.float32)


def frames_of(points, radius=RADIUS):
    return straightened_frames(points, np.full(len(points), radius), WIDTH, STEP)


def test_a_coiled_tube_becomes_a_straight_one():
    world_to_ijk, shape = oblique(), (60, 75, 90)
    frames = frames_of(helix())
    found = frames.resample(tube(helix(), world_to_ijk, shape), world_to_ijk, outside=99)
    offsets = (np.arange(frames.shape[1]) - frames.half) * STEP
    straight = np.hypot(offsets[:, None], offsets[None, :])
    near = (straight >= 2) & (straight <= RADIUS)  # the wall; distances bend too much at the axis
    inner = found[12:-12]  # at the ends the nearest point of the line lies in another slice
    assert np.abs(inner[:, near] - straight[near]).max() < 0.45  # mm; half a voxel


def test_frames_are_right_handed_and_do_not_spiral():
    frames = frames_of(helix())
    assert np.allclose(np.linalg.det(frames.axes), 1)
    i = frames.axes[:, 0]
    change = np.diff(i, axis=0)
    spin = (change * frames.axes[:-1, 1]).sum(axis=1)  # about the centreline
    assert np.abs(spin).max() < 1e-3


def test_the_way_back_leads_to_the_voxel_that_is_shown():
    world_to_ijk, shape = oblique(), (60, 75, 90)
    image = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    frames = frames_of(helix())
    found = frames.resample(image, world_to_ijk, order=0)
    place = np.array([[40, 9, 20]])
    ijk = frames.to_world(place)[0] @ world_to_ijk[:3, :3].T + world_to_ijk[:3, 3]
    assert found[tuple(place[0])] == image[tuple(np.round(ijk[::-1]).astype(int))]


@pytest.mark.parametrize(
    ("points", "width", "words"),
    [([[0, 0, 0], [0, 0, 0.1]], WIDTH, "too short"), ([[0, 0, 0], [0, 0, 9]], 0, "above 0")],
)
def test_what_cannot_be_straightened_is_refused(points, width, words):
    with pytest.raises(InputError, match=words):
        straightened_frames(np.array(points, float), np.ones(2), width, STEP)
