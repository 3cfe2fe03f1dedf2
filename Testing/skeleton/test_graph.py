"""The graph of thin voxels, radii, measures and exports of a skeleton; networkx and SciPy judge."""

import sys
from itertools import pairwise

import networkx
import numpy as np
import pytest
from hypothesis import given, settings, strategies
from scipy import ndimage
from skimage.measure import euler_number

from FuzzyVesselCoreLib.errors import FuzzyVesselError
from FuzzyVesselCoreLib.progress import Progress
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.graph.lines import line_shape
from PotentialSkeletonLib.graph.voxel_graph import VoxelGraph, topology
from support.solids import line, ring, tapered_y, tube
from support.trees import closed_ring, fork, random_tree, ring_with_handle

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
