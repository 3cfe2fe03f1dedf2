"""The skeleton as a graph of the real networkx."""

import sys

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import FuzzyVesselError
from PotentialSkeletonLib import skeletonize
from support.solids import line, ring, tapered_y, trefoil, tube

SPACING = (2.0, 1.0, 0.5)


def ring_with_a_handle_and_an_island():
    """Three components: a ring with a bar across it (two cycles), a straight tube, one voxel."""
    mask = np.zeros((40, 64, 64), bool)
    mask[:24] = ring()[0] | tube(line((12, 32, 12), (12, 32, 52)), 3, (24, 64, 64))
    mask |= tube(line((34, 8, 8), (34, 8, 50)), 3, mask.shape)
    mask[38, 60, 60] = True
    return mask


MASKS = {
    "fork": tapered_y()[0],
    "ring": ring()[0],
    "knot": trefoil()[0],
    "three components": ring_with_a_handle_and_an_island(),
}


@pytest.fixture(scope="module", params=MASKS)
def skeleton(request):
    return skeletonize(MASKS[request.param], SPACING)


@pytest.fixture
def networkx():
    return pytest.importorskip("networkx")


def test_components_and_cycles_are_those_of_the_report(skeleton, networkx):
    graph = skeleton.to_networkx()
    components = networkx.number_connected_components(graph)
    assert components == skeleton.report["components"]
    cycles = graph.number_of_edges() - graph.number_of_nodes() + components
    assert cycles == skeleton.report["skeleton_cycles"] == skeleton.report["object_cycles"]
    for nodes in networkx.connected_components(graph):
        assert len({graph.nodes[node]["component"] for node in nodes}) == 1


def test_nodes_have_their_place_kind_and_radius(skeleton, networkx):
    graph = skeleton.to_networkx()
    assert list(graph) == list(range(len(skeleton.nodes)))
    for number, node in enumerate(skeleton.nodes):
        found = graph.nodes[number]
        np.testing.assert_array_equal(found["position"], node.position)
        assert (found["kind"], found["radius"]) == (node.kind, node.radius)
    meeting = {"end": {1}, "isolated": {0}, "loop": {2}}  # a loop's edge counts at both its ends
    for number, degree in graph.degree():
        kind = graph.nodes[number]["kind"]
        assert degree > 2 if kind == "junction" else degree in meeting[kind]


def test_edges_have_points_radii_and_a_length_in_mm(skeleton, networkx):
    graph = skeleton.to_networkx()
    assert graph.number_of_edges() == len(skeleton.branches)
    for first, last, edge in graph.edges(data=True):
        ends = {tuple(graph.nodes[node]["position"]) for node in (first, last)}
        assert ends == {tuple(edge["points"][0]), tuple(edge["points"][-1])}
        assert edge["radius"].shape == (len(edge["points"]),)
        steps = np.linalg.norm(np.diff(edge["points"], axis=0) * SPACING, axis=1)
        assert edge["length"] == pytest.approx(steps.sum())


def test_shortest_paths_follow_the_vessel_in_mm(networkx):
    skeleton = skeletonize(MASKS["fork"], SPACING)
    graph = skeleton.to_networkx()
    ends = [node for node in graph if graph.nodes[node]["kind"] == "end"]
    lengths = dict(networkx.all_pairs_dijkstra_path_length(graph, weight="length"))
    (fork,) = set(graph) - set(ends)
    first, last = ends[:2]
    assert lengths[first][last] == pytest.approx(lengths[first][fork] + lengths[fork][last])
    total = sum(skeleton.length(branch) for branch in skeleton.branches)
    assert sum(lengths[fork][end] for end in ends) == pytest.approx(total)


def test_without_networkx_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    skeleton = skeletonize(np.ones((2, 2, 2)))
    with pytest.raises(FuzzyVesselError, match="pip install networkx"):
        skeleton.to_networkx()
