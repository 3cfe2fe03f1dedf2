"""GraphML and the CSV pair: read by networkx, igraph, pandas and the csv module."""

import csv
from xml.etree import ElementTree

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.interchange import read_courses, write_csv_pair, write_graphml
from support.trees import (
    OBLIQUE,
    OBLIQUE_SPACING,
    closed_ring,
    fork,
    random_tree,
    ring_with_handle,
    skeleton_of,
    straight,
)

NAMES = {0: 'trunk, "main"', 1: "gauche <l'une> & l'autre", 2: "Vena\nportæ 𝛼"}
SKELETONS = {
    "fork": lambda: fork(OBLIQUE_SPACING),
    "parallel branches": ring_with_handle,
    "closed curve": closed_ring,
    "tree": lambda: random_tree(3),
    "single voxel": lambda: skeletonize(np.ones((1, 1, 1))),
}


@pytest.fixture(params=SKELETONS)
def skeleton(request):
    return SKELETONS[request.param]()


def test_networkx_reads_the_graph(skeleton, tmp_path):
    networkx = pytest.importorskip("networkx")
    write_graphml(skeleton, tmp_path / "a.graphml")
    graph = networkx.read_graphml(tmp_path / "a.graphml", force_multigraph=True)
    assert not graph.is_directed()
    assert (graph.graph["space"], graph.graph["unit"]) == ("RAS", "mm")
    assert graph.number_of_nodes() == len(skeleton.nodes)
    assert graph.number_of_edges() == len(skeleton.branches)
    for number, node in enumerate(skeleton.nodes):
        found = graph.nodes[f"n{number}"]
        position = (node.position * skeleton.spacing)[::-1]
        assert [found[axis] for axis in "XYZ"] == pytest.approx(position)
        assert (found["kind"], found["radius"]) == (node.kind, pytest.approx(node.radius))
        assert found["degree"] == graph.degree(f"n{number}")
    for first, last, found in graph.edges(data=True):
        branch = skeleton.branches[found["branch"]]
        assert {first, last} == {f"n{branch.start}", f"n{branch.end}"}
        assert found["length"] == pytest.approx(skeleton.length(branch))
        points, radii = read_courses(found["points"], found["radii"])
        world = (branch.points * skeleton.spacing)[:, ::-1]
        np.testing.assert_allclose(points, world, atol=1e-4)
        np.testing.assert_allclose(radii, branch.radius, atol=1e-4)


def test_igraph_reads_the_graph(skeleton, tmp_path):
    igraph = pytest.importorskip("igraph", reason="igraph is not installed: pip install igraph")
    write_graphml(skeleton, tmp_path / "a.graphml")
    graph = igraph.Graph.Read_GraphML(str(tmp_path / "a.graphml"))
    assert graph.vcount() == len(skeleton.nodes)
    ends = [(branch.start, branch.end) for branch in skeleton.branches]
    assert [set(edge) for edge in graph.get_edgelist()] == [set(pair) for pair in ends]
    if ends:
        assert graph.es["length"] == pytest.approx([skeleton.length(b) for b in skeleton.branches])


@pytest.mark.parametrize("format_", ["graphml", "csv"])
def test_any_name_survives(tmp_path, format_):
    if format_ == "graphml":
        networkx = pytest.importorskip("networkx")
        write_graphml(fork(), tmp_path / "a.graphml", names=NAMES)
        graph = networkx.read_graphml(tmp_path / "a.graphml")
        assert {e["branch"]: e["name"] for _, _, e in graph.edges(data=True)} == NAMES
    else:
        write_csv_pair(fork(), tmp_path / "n.csv", tmp_path / "e.csv", names=NAMES)
        assert [row["name"] for row in rows(tmp_path / "e.csv")] == list(NAMES.values())


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_csv_pair_has_vesselvios_columns_and_rows_as_numbers(skeleton, tmp_path):
    nodes_path, edges_path = tmp_path / "n.csv", tmp_path / "e.csv"
    write_csv_pair(skeleton, nodes_path, edges_path)
    nodes, edges = rows(nodes_path), rows(edges_path)
    assert len(nodes) == len(skeleton.nodes)
    for row, node in zip(nodes, skeleton.nodes):
        place = [float(row[axis]) for axis in "XYZ"]
        assert place == pytest.approx((node.position * skeleton.spacing)[::-1], abs=1e-5)
        assert float(row["radius"]) == pytest.approx(node.radius, abs=1e-5)
    header = edges_path.read_text(encoding="utf-8").splitlines()[0].split(",")
    assert header[:2] == ["Source ID", "Target ID"]
    vesselvio = {"radius_avg", "length", "tortuosity", "volume", "surface_area"}
    assert vesselvio <= set(header)
    for row, branch in zip(edges, skeleton.branches, strict=True):
        assert (int(row["Source ID"]), int(row["Target ID"])) == (branch.start, branch.end)
        closed = branch.start == branch.end
        assert (row["tortuosity"] == "") == closed
        assert closed or float(row["tortuosity"]) >= 1 - 1e-6


def test_volume_and_area_of_a_cone_and_a_cylinder(tmp_path):
    cylinder, cone = straight((0, 0, 0), (20, 0, 0), 3, 3), straight((0, 50, 0), (20, 50, 0), 3, 1)
    write_csv_pair(skeleton_of([cylinder, cone]), tmp_path / "n.csv", tmp_path / "e.csv")
    first, second = rows(tmp_path / "e.csv")
    assert float(first["volume"]) == pytest.approx(np.pi * 9 * 20)
    assert float(first["surface_area"]) == pytest.approx(2 * np.pi * 3 * 20)
    assert float(second["volume"]) == pytest.approx(np.pi * 20 / 3 * (9 + 3 + 1))
    assert float(second["surface_area"]) == pytest.approx(np.pi * 4 * np.hypot(20, 2))


def test_places_are_ras_of_the_matrix(tmp_path):
    skeleton = fork(OBLIQUE_SPACING)
    files = tmp_path / "n.csv", tmp_path / "e.csv"
    write_csv_pair(skeleton, *files, ijk_to_ras=OBLIQUE)
    for row, node in zip(rows(files[0]), skeleton.nodes):
        expected = (OBLIQUE @ np.append(node.position[::-1], 1))[:3]
        assert [float(row[axis]) for axis in "XYZ"] == pytest.approx(expected, abs=1e-5)


def test_pandas_and_igraph_read_the_pair(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    write_csv_pair(ring_with_handle(), tmp_path / "n.csv", tmp_path / "e.csv", names=NAMES)
    nodes, edges = (pandas.read_csv(tmp_path / name) for name in ("n.csv", "e.csv"))
    graph = igraph.Graph.DataFrame(edges, vertices=nodes, directed=False)
    assert (graph.vcount(), graph.ecount()) == (4, 4)
    assert graph.es["name"][:3] == list(NAMES.values())


def test_generations_count_from_the_chosen_root(tmp_path):
    write_csv_pair(fork(), tmp_path / "n.csv", tmp_path / "e.csv", roots=[2])
    assert [row["generation"] for row in rows(tmp_path / "e.csv")] == ["1", "0", "1"]


def test_what_cannot_be_written_is_told_and_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="belongs to branch 5"):
        write_graphml(fork(), tmp_path / "a.graphml", names={5: "x"})
    with pytest.raises(InputError, match="character that XML files cannot hold"):
        write_graphml(fork(), tmp_path / "a.graphml", names={0: "a\x00b"})
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a.graphml").write_text("earlier")
    with pytest.raises(InputError):
        write_graphml(fork(), tmp_path / "a.graphml", names={0: "\ud800"})
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("a.graphml", "earlier")
    ]


def test_the_file_is_well_formed_and_in_graphmls_namespace(tmp_path):
    write_graphml(fork(), tmp_path / "a.graphml", courses=False)
    top = ElementTree.parse(tmp_path / "a.graphml").getroot()
    assert top.tag == "{http://graphml.graphdrawing.org/xmlns}graphml"
    declared = {key.get("id") for key in top.iter("{http://graphml.graphdrawing.org/xmlns}key")}
    used = {data.get("key") for data in top.iter("{http://graphml.graphdrawing.org/xmlns}data")}
    assert used <= declared
    assert not any("points" in key for key in declared)
