"""VMTK's own filters on our lines: they run, and make the groups that the lines have already."""

import numpy as np
import pytest

from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.interchange import rooted_centrelines, split_centrelines
from PotentialSkeletonLib.tree import rooted_forest
from support.solids import tapered_y
from support.trees import closed_ring, fork, random_tree, ring_with_handle, skeleton_of

vtk = pytest.importorskip("vtk", reason="VTK is not installed")
vmtkscripts = pytest.importorskip(
    "vmtk.vmtkscripts", reason="VMTK is not installed: pip install vmtk (Python 3.12 or newer)"
)
NAMES = ("CenterlineIds", "TractIds", "GroupIds", "Blanking")


def poly_data(lines):
    from PotentialSkeletonMRML import interchange

    return interchange.poly_data(lines)


def values(data, name):
    from vtk.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(data.GetArray(name))


def extracted(forest):
    script = vmtkscripts.vmtkBranchExtractor()
    script.Centerlines = poly_data(rooted_centrelines(forest))
    script.RadiusArrayName = "Radius"
    script.Execute()
    return script.Centerlines


def tracts(data):
    """Of each line: group, blanking and last point of its tracts."""
    columns = [values(data.GetCellData(), name).tolist() for name in NAMES]
    found = {}
    for cell, (line, tract, group, blanked) in enumerate(zip(*columns)):
        ids = data.GetCell(cell).GetPointIds()
        end = data.GetPoint(ids.GetId(ids.GetNumberOfIds() - 1))
        found.setdefault(line, []).append((tract, group, blanked, end))
    return {line: sorted(each) for line, each in sorted(found.items())}


TREES = {
    "fork": lambda: (fork(), 0),
    "skeleton of a fork": lambda: (skeletonize(tapered_y()[0]), None),
    "loop cut": lambda: (ring_with_handle(), None),
    **{f"random {seed}": lambda seed=seed: (random_tree(seed), 0) for seed in range(8)},
    **{f"short {seed}": lambda seed=seed: (random_tree(seed, (2, 4)), 0) for seed in range(6)},
}


@pytest.mark.parametrize("name", TREES)
def test_the_branch_extractor_makes_the_same_groups(name):
    skeleton, root = TREES[name]()
    forest = rooted_forest(skeleton, None if root is None else [root])
    theirs = tracts(extracted(forest))
    ours = tracts(poly_data(split_centrelines(forest)))
    assert theirs.keys() == ours.keys()
    same, back = {}, {}
    for line, own in ours.items():
        assert [each[2] for each in theirs[line]] == [each[2] for each in own]
        for (_, group, _, end), (_, our_group, _, our_end) in zip(theirs[line], own):
            assert same.setdefault(group, our_group) == our_group
            assert back.setdefault(our_group, group) == group
            assert np.linalg.norm(np.subtract(end, our_end)) < 1.0


@pytest.mark.parametrize("seed", range(3))
def test_the_branch_geometry_has_our_lengths(seed):
    lines = split_centrelines(rooted_forest(random_tree(seed), roots=[0]))
    script = vmtkscripts.vmtkBranchGeometry()
    script.Centerlines = poly_data(lines)
    script.Execute()
    found = script.GeometryData.GetPointData()
    groups = lines.cell_arrays["GroupIds"]
    assert set(values(found, "GroupIds")) == set(groups[lines.cell_arrays["Blanking"] == 0])
    for name, tolerance in (("Length", 1e-6), ("Tortuosity", 0.02), ("Curvature", 0.05)):
        means = [lines.cell_arrays[name][groups == n].mean() for n in values(found, "GroupIds")]
        np.testing.assert_allclose(values(found, name), means, atol=tolerance)


def test_the_branch_clipper_cuts_the_surface_at_our_groups():
    from PotentialSkeletonMRML.interchange import object_surface

    mask, _ = tapered_y()[:2]
    skeleton = skeletonize(mask)
    lines = split_centrelines(rooted_forest(skeleton)).in_space("LPS")
    script = vmtkscripts.vmtkBranchClipper()
    script.Surface = object_surface(mask, None, skeleton.spacing)
    script.Centerlines = poly_data(lines)
    script.Execute()
    found = set(values(script.Surface.GetPointData(), "GroupIds").astype(int).tolist())
    vessels = lines.cell_arrays["GroupIds"][lines.cell_arrays["Blanking"] == 0]
    assert found == set(vessels.tolist())


def test_files_with_names_are_read_and_keep_them(tmp_path):
    """The whole way: file, extractor, geometry, clipper; names have commas and quotes."""
    from PotentialSkeletonMRML.interchange import object_surface, write_vtp

    mask, _ = tapered_y()[:2]
    skeleton = skeletonize(mask)
    forest = rooted_forest(skeleton)
    names = {branch.number: f'vessel "{branch.number}", ä' for branch in forest.branches}
    for view in (rooted_centrelines, split_centrelines):
        write_vtp(view(forest, names=names), tmp_path / f"{view.__name__}.vtp")

    def read(name):
        reader = executed("vmtkSurfaceReader", InputFileName=str(tmp_path / f"{name}.vtp"))
        return reader.Surface

    groups = tracts(poly_data(split_centrelines(forest)))
    rooted = executed(
        "vmtkBranchExtractor", Centerlines=read("rooted_centrelines"), RadiusArrayName="Radius"
    ).Centerlines
    assert [len(each) for each in tracts(rooted).values()] == [
        len(each) for each in groups.values()
    ]
    split = read("split_centrelines")
    array = split.GetCellData().GetAbstractArray("Name")
    found = {array.GetValue(n) for n in range(array.GetNumberOfValues())}
    assert found - {""} == set(names.values())
    for name in ("vmtkBranchGeometry", "vmtkCenterlineAttributes", "vmtkCenterlineGeometry"):
        executed(name, Centerlines=split)
    surface = object_surface(mask, None, skeleton.spacing)
    clipped = executed("vmtkBranchClipper", Surface=surface, Centerlines=split).Surface
    vessels = {group for line in groups.values() for _, group, blanked, _ in line if not blanked}
    assert set(values(clipped.GetPointData(), "GroupIds").astype(int).tolist()) == vessels


def executed(name, **options):
    """A script of VMTK that has run."""
    script = getattr(vmtkscripts, name)()
    for key, value in options.items():
        setattr(script, key, value)
    script.Execute()
    return script


def test_several_trees_and_a_closed_curve_are_no_trouble():
    branches = [(b.points, b.radius) for b in fork().branches]
    apart = [(points + 300, radius) for points, radius in branches]
    forest = rooted_forest(skeleton_of([*branches, *apart]))
    assert sorted(tracts(extracted(forest))) == [0, 1, 2, 3]
    assert list(tracts(extracted(rooted_forest(closed_ring())))) == [0]
