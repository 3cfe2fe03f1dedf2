"""Each format with a loop, an empty tree, a single point, names with commas, another geometry."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.interchange import (
    network,
    rooted_centrelines,
    split_centrelines,
    write_csv_pair,
    write_graphml,
    write_simvascular,
)
from PotentialSkeletonLib.tree import rooted_forest, skeleton_of_polylines
from support.trees import OBLIQUE, fork, ring_with_handle

pytest.importorskip("vtk", reason="VTK is not installed")
NAMES = {0: 'Aorta, "abdominal"', 1: "left, main", 2: "left, main"}


def vtp(view):
    def write(skeleton, folder, names=None, ijk_to_ras=None):
        from PotentialSkeletonMRML.interchange import write_vtp

        lines = view(skeleton if view is network else rooted_forest(skeleton), ijk_to_ras, names)
        write_vtp(lines, folder / "lines.vtp")

    return write


def graphml(skeleton, folder, **options):
    write_graphml(skeleton, folder / "network.graphml", **options)


def csv_pair(skeleton, folder, **options):
    write_csv_pair(skeleton, folder / "nodes.csv", folder / "edges.csv", **options)


def simvascular(skeleton, folder, **options):
    write_simvascular(rooted_forest(skeleton), folder, **options)


LINES = {
    "rooted": vtp(rooted_centrelines),
    "split": vtp(split_centrelines),
    "network": vtp(network),
}
GRAPHS = {"graphml": graphml, "csv": csv_pair}
ALL = {**LINES, **GRAPHS, "simvascular": simvascular}


def single_point():
    mask = np.zeros((5, 5, 5), np.uint8)
    mask[2, 2, 2] = 1
    return skeletonize(mask, drop_islands=0)


@pytest.mark.parametrize("name", ALL)
def test_a_loop_is_written(name, tmp_path):
    ALL[name](ring_with_handle(), tmp_path)
    assert any(path.stat().st_size for path in tmp_path.iterdir())


@pytest.mark.parametrize("name", ["rooted", "split", "simvascular"])
def test_the_branch_that_closes_it_is_not_in_the_trees(name, tmp_path):
    skeleton = ring_with_handle()
    (cut,) = rooted_forest(skeleton).cut
    ALL[name](skeleton, tmp_path, names={cut: "closes the loop"})
    files = [path for path in tmp_path.iterdir() if path.is_file()]
    assert all("closes the loop" not in path.name for path in files)
    assert len(files) == 1


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("make", [lambda: skeleton_of_polylines([], []), single_point])
def test_what_has_no_line_is_refused_and_leaves_nothing(name, make, tmp_path):
    with pytest.raises(InputError, match=r"no branch.*single point or an empty object"):
        LINES[name](make(), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(("make", "nodes"), [(lambda: skeleton_of_polylines([], []), 0),
                                             (single_point, 1)])  # fmt: skip
def test_a_graph_without_edges_is_one(name, make, nodes, tmp_path):
    import networkx

    GRAPHS[name](make(), tmp_path)
    if name == "graphml":
        graph = networkx.read_graphml(tmp_path / "network.graphml")
        assert (graph.number_of_nodes(), graph.number_of_edges()) == (nodes, 0)
    else:
        assert len((tmp_path / "nodes.csv").read_text().splitlines()) == 1 + nodes
        assert len((tmp_path / "edges.csv").read_text().splitlines()) == 1


def test_paths_of_what_has_no_line_are_none(tmp_path):
    assert write_simvascular(rooted_forest(single_point()), tmp_path) == []


@pytest.mark.parametrize("name", ALL)
def test_names_with_commas_are_written(name, tmp_path):
    ALL[name](fork(), tmp_path, names=NAMES)
    written = [path.name for path in tmp_path.iterdir()]
    if name == "simvascular":
        assert sorted(written) == ["left, main-2.pth", "left, main.pth"]
        return
    texts = "".join(
        path.read_text(encoding="utf-8", errors="replace") for path in tmp_path.iterdir()
    )
    assert name in LINES or texts.count("left, main") == 2


@pytest.mark.parametrize("name", ALL)
def test_names_of_another_tree_are_refused(name, tmp_path):
    with pytest.raises(InputError, match="name 'x' belongs to branch 7"):
        ALL[name](fork(), tmp_path, names={7: "x"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ALL)
def test_the_matrix_of_another_geometry_is_refused(name, tmp_path):
    """The voxels of the skeleton are 1 mm; the matrix is of a volume with others."""
    with pytest.raises(InputError, match=r"voxels of \[2.0, 1.2, 0.8\] mm"):
        ALL[name](fork(), tmp_path, ijk_to_ras=OBLIQUE)
    flat = np.eye(4)
    flat[2] = 0
    for matrix in (np.eye(3), flat, np.full((4, 4), np.nan)):
        with pytest.raises(InputError):
            ALL[name](fork(), tmp_path, ijk_to_ras=matrix)
    assert list(tmp_path.iterdir()) == []
