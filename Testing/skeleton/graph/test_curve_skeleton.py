"""The graph of thin voxels, smooth branches, radii, measures and exports."""

import csv
import io
from itertools import pairwise

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress
from PotentialSkeletonLib import Branch, CurveSkeleton, Node, skeletonize
from PotentialSkeletonLib.graph.radii import radius_at
from PotentialSkeletonLib.graph.voxel_graph import VoxelGraph
from support.solids import line, ring, tapered_y, tube


def graph_of(*paths):
    """Graph of voxels that lie on polylines through the given corners."""
    voxels = set()
    for path in paths:
        for a, b in pairwise(path):
            count = int(np.abs(np.subtract(a, b)).max()) + 1
            voxels.update(map(tuple, np.rint(line(a, b, count)).astype(int).tolist()))
    return VoxelGraph(np.array(sorted(voxels)), Progress())


def cycles(graph):
    """Independent cycles of a connected graph."""
    return len(graph.chains) - len(graph.nodes) + 1


def test_a_line_has_two_ends_and_one_branch():
    graph = graph_of([(0, 0, 0), (0, 5, 9)])
    assert len(graph.nodes) == 2
    ((first, chain, last),) = graph.chains
    assert {first, last} == {0, 1}
    assert len(chain) == 8


def test_a_cross_has_a_junction_and_four_ends():
    graph = graph_of([(0, 0, 5), (0, 10, 5)], [(0, 5, 0), (0, 5, 10)])
    assert len(graph.nodes) == 5
    assert len(graph.chains) == 4
    assert cycles(graph) == 0


def test_a_closed_loop_has_one_node():
    graph = graph_of([(0, 0, 4), (0, 4, 0), (0, 8, 4), (0, 4, 8), (0, 0, 4)])
    assert len(graph.nodes) == 1
    ((first, chain, last),) = graph.chains
    assert first == last
    assert len(chain) == len(graph.voxels) - 1


def test_two_ways_between_junctions_are_two_branches():
    loop = [(0, 0, 4), (0, 4, 0), (0, 8, 4), (0, 4, 8), (0, 0, 4)]
    graph = graph_of(loop, [(0, 4, -6), (0, 4, 0)], [(0, 4, 8), (0, 4, 14)])
    assert len(graph.nodes) == 4
    assert len(graph.chains) == 4
    assert cycles(graph) == 1


def test_junction_voxels_side_by_side_are_one_node():
    graph = graph_of([(0, 0, 0), (0, 20, 0)], [(0, 10, 0), (0, 10, 9)], [(0, 11, 0), (9, 11, 0)])
    assert sorted(np.bincount([n for a, _, b in graph.chains for n in (a, b)])) == [1, 1, 1, 1, 4]


def test_a_small_ring_with_an_arm_at_each_voxel_keeps_its_hole():
    """All four voxels of the ring are junctions: one node would lose the hole."""
    ring_voxels = [(0, 0, 1), (0, 1, 2), (0, 2, 1), (0, 1, 0), (0, 0, 1)]
    arms = [[(0, 0, 1), (5, -5, 1)], [(0, 1, 2), (-5, 1, 7)], [(0, 2, 1), (5, 7, 1)],
            [(0, 1, 0), (-5, 1, -5)]]  # fmt: skip
    graph = graph_of(ring_voxels, *arms)
    assert cycles(graph) == 1


def test_a_single_voxel_is_an_isolated_node():
    graph = VoxelGraph(np.array([[3, 4, 5]]), Progress())
    assert graph.nodes == [[0]]
    assert graph.chains == []


@pytest.mark.parametrize("spacing", [(1, 1, 1), (1.6, 0.6, 0.6)])
@pytest.mark.parametrize("direction", [(0, 0, 1), (1, 0.6, 0.3), (0.2, 1, -0.7)])
def test_the_radius_of_a_cylinder_is_its_own(direction, spacing):
    """The border is taken through the nearest voxel centres outside."""
    radius = 4.0
    direction = np.array(direction) / np.linalg.norm(direction)
    middle = np.array([8.2, 14.4, 14.1])
    from_middle = (np.stack(np.indices((17, 29, 29)), axis=-1) - middle) * spacing
    across = (from_middle**2).sum(axis=-1) - (from_middle @ direction) ** 2
    on_axis = middle + np.linspace(-2, 2, 9)[:, None] * direction / spacing
    measured = radius_at(on_axis, across <= radius**2, spacing)
    np.testing.assert_allclose(measured, radius, atol=0.25)
    assert abs(measured.mean() - radius) < 0.15


@pytest.fixture(scope="module")
def fork():
    return skeletonize(tapered_y()[0], spacing=(2.0, 1.0, 1.0))


def three_branches():
    """Root 0 - junction 1 - ends 2 and 3, hand-made; 3 mm steps along K."""
    places = np.array([[0, 0, 0], [4, 0, 0], [4, 4, 0], [4, 0, 3]], float)
    radii = [3.0, 2.0, 1.0, 0.5]
    nodes = [Node(p, "junction" if n == 1 else "end", radii[n], 1) for n, p in enumerate(places)]
    branches = [
        Branch(line(places[a], places[b], 5), np.linspace(radii[a], radii[b], 5), a, b, 1)
        for a, b in ((1, 0), (1, 2), (3, 1))
    ]
    voxels = np.unique(np.rint(np.concatenate([b.points for b in branches])).astype(int), axis=0)
    return CurveSkeleton(nodes, branches, [], voxels, (6, 6, 6), (3.0, 1.0, 1.0), {})


def test_the_tables_measures():
    table = three_branches().to_table()
    assert table["length_mm"] == pytest.approx([12, 4, 3])
    assert table["tortuosity"] == pytest.approx([1, 1, 1])
    assert table["generation"] == [0, 1, 1]
    assert table["mean_radius_mm"] == pytest.approx([2.5, 1.5, 1.25])
    assert table["min_radius_mm"] == pytest.approx([2, 1, 0.5])
    assert table["max_radius_mm"] == pytest.approx([3, 2, 2])
    assert table["narrowest_radius_mm"] == pytest.approx([2.25, 1.25, 0.875])  # between the ends
    assert table["start_kind"] == ["junction", "junction", "end"]


def test_generations_count_from_the_chosen_root():
    assert three_branches().to_table(roots=[3])["generation"] == [1, 1, 0]
    with pytest.raises(InputError, match="Root 9"):
        three_branches().to_table(roots=[9])
    with pytest.raises(InputError, match="same component"):
        three_branches().to_table(roots=[0, 2])


def test_tortuosity_of_an_arc():
    turn = np.linspace(0, np.pi, 101)
    points = np.stack([0 * turn, 10 * np.cos(turn), 10 * np.sin(turn)], axis=1)
    nodes = [Node(points[0], "end", 1.0, 1), Node(points[-1], "end", 1.0, 1)]
    branch = Branch(points, np.ones(101), 0, 1, 1)
    voxels = np.empty((0, 3), int)
    skeleton = CurveSkeleton(nodes, [branch], [], voxels, (1, 1, 1), (1.0, 1.0, 1.0), {})
    assert skeleton.to_table()["tortuosity"] == pytest.approx([np.pi / 2], rel=1e-3)


def test_the_root_is_at_the_thickest_branch_also_where_that_ends_in_a_point():
    skeleton = three_branches()
    trunk = skeleton.branches[0]
    trunk.radius[-1] = 0.1
    skeleton.nodes[0] = Node(skeleton.nodes[0].position, "end", 0.1, 1)
    assert skeleton.roots() == [0]


def test_the_root_is_the_widest_end(fork):
    (root,) = fork.roots()
    assert fork.nodes[root].kind == "end"
    assert fork.nodes[root].position[0] < 15  # the trunk's end
    assert sorted(fork.to_table()["generation"]) == [0, 1, 1]


def test_radii_of_the_fork(fork):
    """In mm, across the axes: 7 at the trunk's end, 5.5 at the fork."""
    trunk = fork.branches[fork.generations().index(0)]
    inner = (trunk.points[:, 0] > 15) & (trunk.points[:, 0] < 35)
    expected = 7 - 1.5 * (trunk.points[inner, 0] - 5) / 40
    np.testing.assert_allclose(trunk.radius[inner], expected, atol=0.5)


def test_csv_has_a_row_for_each_branch(fork, tmp_path):
    path = tmp_path / "branches.csv"
    text = fork.to_csv(path)
    assert path.read_text(encoding="utf-8") == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["length_mm"]) for row in rows] == pytest.approx(
        fork.to_table()["length_mm"], abs=1e-6
    )


def swc_samples(text):
    return [line.split() for line in text.splitlines() if not line.startswith("#")]


def test_swc_holds_every_point_once_and_parents_come_first(fork):
    samples = swc_samples(fork.to_swc())
    numbers = [int(sample[0]) for sample in samples]
    parents = [int(sample[6]) for sample in samples]
    assert numbers == list(range(1, len(samples) + 1))
    assert all(parent < number for number, parent in zip(numbers, parents))
    assert parents.count(-1) == 1
    assert len(samples) == 1 + sum(len(branch.points) - 1 for branch in fork.branches)
    total = sum(
        np.linalg.norm(
            np.array(sample[2:5], float) - np.array(samples[int(sample[6]) - 1][2:5], float)
        )
        for sample in samples
        if sample[6] != "-1"
    )
    assert total == pytest.approx(sum(fork.to_table()["length_mm"]), rel=1e-4)


def test_swc_in_world_coordinates(fork):
    matrix = np.array([[0, 0, 2.0, 5], [0, 1, 0, 6], [-1, 0, 0, 7], [0, 0, 0, 1]])
    first = swc_samples(fork.to_swc(voxel_to_world=matrix))[0]
    k, j, i = fork.nodes[fork.roots()[0]].position
    assert [float(x) for x in first[2:5]] == pytest.approx([2 * k + 5, j + 6, -i + 7], abs=1e-5)


def test_swc_cuts_a_loop_open():
    loop = skeletonize(ring()[0])
    samples = swc_samples(loop.to_swc())
    assert len(samples) == len(loop.branches[0].points)
    assert samples[0][2:5] == samples[-1][2:5]


def test_the_labelmap_holds_the_voxels(fork):
    labelmap = fork.to_labelmap()
    assert labelmap.shape == tapered_y()[0].shape
    assert (np.argwhere(labelmap) == fork.voxels).all()


def test_lengths_of_a_tilted_tube_are_those_of_its_axis():
    axis = line((10, 10, 10), (30, 50, 60))
    skeleton = skeletonize(tube(axis, 4, (40, 60, 72)))
    (length,) = skeleton.to_table()["length_mm"]
    true_length = np.linalg.norm(axis[-1] - axis[0])
    assert true_length - 2 < length < true_length + 2 * 4 + 1  # the caps are round, radius 4
