"""The graph of thin voxels, radii, measures and exports of a skeleton; networkx and SciPy judge."""

import csv
import sys
from functools import partial
from itertools import pairwise
from xml.etree import ElementTree

import networkx
import numpy as np
import pytest
from hypothesis import given, settings, strategies
from scipy import ndimage
from skimage.measure import euler_number

from FuzzyVesselCoreLib.errors import FuzzyVesselError, InputError
from FuzzyVesselCoreLib.progress import Progress
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.course import line_shape
from PotentialSkeletonLib.interchange import (
    network,
    rooted_centrelines,
    split_centrelines,
    write_csv_pair,
    write_graphml,
    write_simvascular,
)
from PotentialSkeletonLib.skeleton_graph import VoxelGraph, topology
from PotentialSkeletonLib.tree import root_to_tip_lines, rooted_forest, skeleton_of_polylines
from support.solids import line, ring, tapered_y, tube
from support.trees import OBLIQUE, OBLIQUE_SPACING, closed_ring, fork, random_tree, ring_with_handle

SPACING = (2.0, 1.0, 0.5)


def graph_of(*paths):
    """Graph of voxels that lie on polylines through the given corners."""
    voxels = set()
    for path in paths:
        for a, b in pairwise(path):
            count = int(np.abs(np.subtract(a, b)).max()) + 1
            voxels.update(map(tuple, np.rint(line(a, b, count)).astype(int).tolist()))
    return VoxelGraph(np.array(sorted(voxels)), Progress())


LOOP = [(0, 0, 4), (0, 4, 0), (0, 8, 4), (0, 4, 8), (0, 0, 4)]
SMALL_RING = [(0, 0, 1), (0, 1, 2), (0, 2, 1), (0, 1, 0), (0, 0, 1)]  # each voxel has an arm
ARMS = [[(0, 0, 1), (5, -5, 1)], [(0, 1, 2), (-5, 1, 7)], [(0, 2, 1), (5, 7, 1)],
        [(0, 1, 0), (-5, 1, -5)]]  # fmt: skip


@pytest.mark.parametrize(
    ("paths", "degrees"),
    [
        ([[(3, 4, 5), (3, 4, 5)]], [0]),
        ([[(0, 0, 0), (0, 5, 9)]], [1, 1]),
        ([[(0, 0, 0), (0, 5, 0)], [(0, 5, 0), (0, 5, 5)]], [1, 1]),  # three meet in the corner
        ([[(0, 0, 5), (0, 10, 5)], [(0, 5, 0), (0, 5, 10)]], [1, 1, 1, 1, 4]),
        ([LOOP], [2]),
        ([LOOP, [(0, 4, -6), (0, 4, 0)], [(0, 4, 8), (0, 4, 14)]], [1, 1, 3, 3]),
        # Junction voxels side by side are one node; a small ring of them has a hole.
        ([[(0, 0, 0), (0, 20, 0)], [(0, 10, 0), (0, 10, 9)], [(0, 11, 0), (9, 11, 0)]],
         [1, 1, 1, 1, 4]),
        ([SMALL_RING, *ARMS], [1, 1, 1, 1, 3, 3, 3, 3]),
    ],
)  # fmt: skip
def test_ends_and_junctions_of_thin_voxels(paths, degrees):
    graph = graph_of(*paths)
    ends = [node for first, _, last in graph.chains for node in (first, last)]
    assert sorted(np.bincount(ends, minlength=len(graph.nodes))) == degrees
    used = [voxel for _, chain, _ in graph.chains for voxel in chain]
    used += [voxel for voxels in graph.nodes for voxel in voxels]
    assert len(set(used)) == len(used)
    steps = [np.diff(graph.voxels[chain], axis=0) for _, chain, _ in graph.chains]
    assert all(np.abs(step).max(initial=0) <= 1 for step in steps)


@given(strategies.integers(0, 10**6), strategies.sampled_from([0.1, 0.3, 0.6]))
@settings(max_examples=60)
def test_any_voxels_have_the_components_and_cycles_of_their_union(seed, share):
    mask = np.random.default_rng(seed).random((4, 5, 6)) < share
    mask[0, 0, 0] = True
    voxels = np.argwhere(mask)
    components = ndimage.label(mask, np.ones((3, 3, 3)))[1]
    characteristic = euler_number(np.pad(mask, 1), connectivity=3)
    assert topology(voxels) == (components, characteristic)
    filled = ndimage.binary_fill_holes(mask)
    graph = VoxelGraph(np.argwhere(filled), Progress())
    known = networkx.MultiGraph([(first, last) for first, _, last in graph.chains])
    known.add_nodes_from(range(len(graph.nodes)))
    pieces = ndimage.label(filled, np.ones((3, 3, 3)))[1]
    assert networkx.number_connected_components(known) == pieces
    cycles = len(graph.chains) - len(graph.nodes) + pieces
    assert cycles == pieces - euler_number(np.pad(filled, 1), connectivity=3)


def test_shapes_of_lines():
    turn = np.linspace(0, 6 * np.pi, 900)
    helix = np.stack([10 * np.cos(turn), 10 * np.sin(turn), 2 * turn], axis=1)
    shape = line_shape(helix, np.full(900, 2.0))
    assert shape.length == pytest.approx(6 * np.pi * np.hypot(10, 2), rel=1e-4)
    assert shape.curvature == pytest.approx(10 / 104, rel=0.02)
    assert shape.torsion == pytest.approx(2 / 104, rel=0.05)
    assert line_shape(helix * [1, 1, -1], np.full(900, 2.0)).torsion == pytest.approx(
        -shape.torsion
    )
    straight = line_shape(np.eye(3)[[0, 1]], np.ones(2))
    assert (straight.curvature, straight.torsion, straight.tortuosity) == (0, 0, 0)


@pytest.fixture(scope="module")
def found():
    return skeletonize(tapered_y()[0], spacing=(2.0, 1.0, 1.0))


def test_a_skeletons_root_radii_labelmap_and_lengths(found):
    (root,) = found.roots()
    assert found.nodes[root].position[0] < 15  # the trunk's end
    trunk = found.branches[found.generations().index(0)]
    inner = (trunk.points[:, 0] > 15) & (trunk.points[:, 0] < 35)
    expected = 7 - 1.5 * (trunk.points[inner, 0] - 5) / 40
    np.testing.assert_allclose(trunk.radius[inner], expected, atol=0.5)
    assert (np.argwhere(found.to_labelmap()) == found.voxels).all()
    axis = line((10, 10, 10), (30, 50, 60))
    (length,) = skeletonize(tube(axis, 4, (40, 60, 72))).to_table()["length_mm"]
    true_length = np.linalg.norm(axis[-1] - axis[0])
    assert true_length - 2 < length < true_length + 2 * 4 + 1  # the caps are round, radius 4


@pytest.mark.parametrize("make", [fork, lambda: random_tree(2), ring_with_handle, closed_ring])
def test_swc_has_every_point_once_and_parents_first(make):
    """A loop is cut open: both sides end at copies of one point."""
    skeleton = make()
    matrix = np.array([[0, 0, 2.0, 5], [0, 1, 0, 6], [-1, 0, 0, 7], [0, 0, 0, 1]])
    for world in (None, matrix):
        lines = skeleton.to_swc(voxel_to_world=world).splitlines()
        samples = np.array([each.split() for each in lines if not each.startswith("#")], float)
        numbers, parents = samples[:, 0], samples[:, 6]
        assert numbers.tolist() == list(range(1, len(samples) + 1))
        assert (parents < numbers).all()
        assert np.count_nonzero(parents == -1) == 1
        assert len(samples) == 1 + sum(len(branch.points) - 1 for branch in skeleton.branches)
        k, j, i = skeleton.nodes[skeleton.roots()[0]].position
        first = [i, j, k] if world is None else [2 * k + 5, j + 6, -i + 7]
        assert samples[0, 2:5] == pytest.approx(first, abs=1e-5)
        if world is None:
            others = samples[1:]
            steps = others[:, 2:5] - samples[others[:, 6].astype(int) - 1, 2:5]
            total = sum(skeleton.to_table()["length_mm"])
            assert np.linalg.norm(steps, axis=1).sum() == pytest.approx(total, rel=1e-4)


def test_networkx_has_the_reports_graph(monkeypatch):
    """Three components: a ring with a bar across it (two cycles), a straight tube, one voxel."""
    mask = np.zeros((40, 64, 64), bool)
    mask[:24] = ring()[0] | tube(line((12, 32, 12), (12, 32, 52)), 3, (24, 64, 64))
    mask |= tube(line((34, 8, 8), (34, 8, 50)), 3, mask.shape)
    mask[38, 60, 60] = True
    skeleton = skeletonize(mask, SPACING)
    graph = skeleton.to_networkx()
    parts = list(networkx.connected_components(graph))
    assert len(parts) == skeleton.report["components"] == 3
    cycles = graph.number_of_edges() - graph.number_of_nodes() + len(parts)
    assert cycles == skeleton.report["skeleton_cycles"] == skeleton.report["object_cycles"] == 2
    assert all(len({graph.nodes[node]["component"] for node in nodes}) == 1 for nodes in parts)
    meeting = {"end": {1}, "isolated": {0}, "loop": {2}, "junction": {3, 4, 5}}
    for number, degree in graph.degree():
        node = graph.nodes[number]
        np.testing.assert_array_equal(node["position"], skeleton.nodes[number].position)
        assert degree in meeting[node["kind"]]
    for first, last, edge in graph.edges(data=True):
        ends = {tuple(graph.nodes[node]["position"]) for node in (first, last)}
        assert ends == {tuple(edge["points"][0]), tuple(edge["points"][-1])}
        steps = np.linalg.norm(np.diff(edge["points"], axis=0) * SPACING, axis=1)
        assert edge["length"] == pytest.approx(steps.sum())
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(FuzzyVesselError, match="pip install networkx"):
        skeleton.to_networkx()


# ---- Files for other programs, read back: GraphML, CSV, SimVascular, VMTK's arrays, surfaces


SKELETONS = {
    "fork": lambda: fork(OBLIQUE_SPACING),
    "parallel branches": ring_with_handle,
    "closed curve": closed_ring,
    "tree": lambda: random_tree(3),
    "single voxel": lambda: skeletonize(np.ones((1, 1, 1))),
    "empty": lambda: skeleton_of_polylines([], []),
}


@pytest.fixture(params=SKELETONS)
def skeleton(request):
    return SKELETONS[request.param]()


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_csv_pair_has_vesselvios_columns_and_rows_as_numbers(skeleton, tmp_path):
    write_csv_pair(skeleton, tmp_path / "n.csv", tmp_path / "e.csv")
    nodes, edges = rows(tmp_path / "n.csv"), rows(tmp_path / "e.csv")
    for row, node in zip(nodes, skeleton.nodes, strict=True):
        place = [float(row[axis]) for axis in "XYZ"]
        assert place == pytest.approx((node.position * skeleton.spacing)[::-1], abs=1e-5)
        assert float(row["radius"]) == pytest.approx(node.radius, abs=1e-5)
    header = (tmp_path / "e.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert header[:2] == ["Source ID", "Target ID"]
    assert {"radius_avg", "length", "tortuosity", "volume", "surface_area"} <= set(header)
    for row, branch in zip(edges, skeleton.branches, strict=True):
        assert (int(row["Source ID"]), int(row["Target ID"])) == (branch.start, branch.end)
        assert (row["tortuosity"] == "") == (branch.start == branch.end)


def xyz(element):
    return np.array([float(element.get(axis)) for axis in "xyz"])


@pytest.mark.parametrize("make", [lambda: fork(OBLIQUE_SPACING), closed_ring, ring_with_handle])
def test_simvasculars_paths_are_the_lines_in_lps(make, tmp_path):
    skeleton = make()
    forest = rooted_forest(skeleton)
    matrix = OBLIQUE if skeleton.spacing == OBLIQUE_SPACING else np.eye(4)
    files = write_simvascular(forest, tmp_path / "paths", ijk_to_ras=matrix)
    lines = root_to_tip_lines(forest)
    assert [path.name for path in files] == [f"path-{n:03d}.pth" for n in range(1, len(lines) + 1)]
    for number, (path, way) in enumerate(zip(files, lines), 1):
        top = ElementTree.parse(path).getroot()
        assert (top.tag, top.get("id"), top.get("version")) == ("path", str(number), "1.0")
        element = top.find("timestep[@id='0']/path_element")
        points = element.findall("path_points/path_point")
        places, tangents, across = (
            np.array([xyz(point.find(name)) for point in points])
            for name in ("pos", "tangent", "rotation")
        )
        ijk = np.column_stack([way.points[:, ::-1], np.ones(len(way.points))])
        np.testing.assert_allclose(places, (ijk @ matrix.T)[:, :3] * [-1, -1, 1], atol=1e-5)
        controls = np.array([xyz(each) for each in element.findall("control_points/point")])
        np.testing.assert_allclose(controls[[0, -1]], places[[0, -1]])
        for directions in (tangents, across):
            np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1, atol=1e-5)
        assert abs((tangents * across).sum(axis=1)).max() < 1e-5
        assert (np.linalg.norm(np.diff(across, axis=0), axis=1) < 1).all()  # they do not spin


FLAT = np.diag([1.0, 1, 0, 1])
VIEWS = (rooted_centrelines, split_centrelines)


def writers(folder):
    trees = [*VIEWS, partial(write_simvascular, folder=folder / "paths")]
    return [
        network,
        partial(write_graphml, path=folder / "a.graphml"),
        partial(write_csv_pair, nodes_path=folder / "n.csv", edges_path=folder / "e.csv"),
        *(lambda s, write=write, **options: write(rooted_forest(s), **options) for write in trees),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": {7: "x"}}, "name 'x' belongs to branch 7"),
        ({"ijk_to_ras": OBLIQUE}, r"voxels of \[2.0, 1.2, 0.8\] mm"),
        ({"ijk_to_ras": np.eye(3)}, "4 x 4"),
        ({"ijk_to_ras": FLAT}, "4 x 4"),
        ({"names": {0: "a\x01", 1: "\ud800"}}, r"name .{1,8} has a character that XML"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_files_as_they_were(options, message, tmp_path):
    (tmp_path / "a.graphml").write_text("earlier")
    for number, write in enumerate(writers(tmp_path)):
        if "XML" in message and number not in (1, 5):
            continue
        with pytest.raises(InputError, match=message):
            write(fork(), **options)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir() if path.is_file()] == [
        ("a.graphml", "earlier")
    ]


def test_files_have_the_arrays_and_axes_that_vmtk_and_slicer_read(tmp_path, data_folder):
    vtk = pytest.importorskip("vtk", reason="VTK is not installed")
    from PotentialSkeletonMRML.interchange import write_vtp

    def read(path):
        reader = vtk.vtkXMLPolyDataReader()
        reader.SetFileName(str(path))
        reader.Update()
        return reader.GetOutput()

    def kinds(data):
        arrays = (data.GetAbstractArray(n) for n in range(data.GetNumberOfArrays()))
        return {(a.GetName(), a.GetDataTypeAsString(), a.GetNumberOfComponents()) for a in arrays}

    forest = rooted_forest(fork(OBLIQUE_SPACING))
    write_vtp(split_centrelines(forest, OBLIQUE), tmp_path / "split.vtp")
    ours = read(tmp_path / "split.vtp")
    theirs = read(data_folder / "vmtk" / "aorta-centerline-branches.vtp")
    assert kinds(theirs.GetCellData()) <= kinds(ours.GetCellData())
    assert kinds(theirs.GetPointData()) <= kinds(ours.GetPointData())
    slicervmtk = {"Radius", "MaximumInscribedSphereRadius", "EdgeArray", "EdgePCoordArray"}
    assert slicervmtk <= {name for name, *_ in kinds(ours.GetPointData())}
    ijk = np.append(forest.skeleton.nodes[forest.roots[0]].position[::-1], 1)
    np.testing.assert_allclose(ours.GetPoint(0), (OBLIQUE @ ijk)[:3] * [-1, -1, 1])
    assert ours.GetFieldData().GetAbstractArray("SPACE").GetValue(0) == "LPS"
