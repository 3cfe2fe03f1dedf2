"""Pruning, edits, measures along the tree, divisions among branches; networkx and SciPy judge."""

import dataclasses
from functools import partial

import networkx
import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra
from skimage.graph import pixel_graph

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib.branch_tools import (
    Edit,
    PruneStep,
    branch_labels,
    cross_sections,
    dense_points,
    distance_between,
    edited,
    inherited_names,
    narrowest_place,
    percent_stenosis,
    pruned,
    section_at,
    section_measures,
    steps_of_text,
    territories,
)
from PotentialSkeletonLib.tree import rooted_forest
from support.solids import tube
from support.trees import closed_ring, fork, random_tree, ring_with_handle, skeleton_of, straight

SPACING = (2.0, 1.0, 0.5)


def comb():
    """A trunk of 60 mm and radius 3 along K, with teeth of 2, 5 and 12 mm after 15, 30 and 45."""
    parts = [straight((15 * n, 0, 0), (15 * n + 15, 0, 0), 3, 3) for n in range(4)]
    for n, length in ((1, 2), (2, 5), (3, 12)):
        parts.append(straight((15 * n, 0, 0), (15 * n, length, 0), 1, 1, 10))
    return skeleton_of(parts)


def lengths(skeleton):
    return sorted(round(length) for length in skeleton.to_table()["length_mm"])


def total(skeleton):
    return sum(skeleton.to_table()["length_mm"])


def check(skeleton):
    """Branches end at their nodes, kinds are those of the degrees, components are connected."""
    graph = skeleton.to_networkx()
    for branch in skeleton.branches:
        for node, at in ((branch.start, 0), (branch.end, -1)):
            assert skeleton.nodes[node].position == pytest.approx(branch.points[at])
            assert skeleton.nodes[node].component == branch.component
    for number, degree in graph.degree():
        kind = skeleton.nodes[number].kind
        assert (kind == "end") == (degree == 1)
        assert degree != 2 or kind == "loop"
    parts = networkx.number_connected_components(graph)
    assert parts == len({node.component for node in skeleton.nodes})


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (PruneStep("length", 1), [2, 5, 12, 15, 15, 15, 15]),
        (PruneStep("length", 3), [5, 12, 15, 15, 30]),
        (PruneStep("length", 1000), [60]),
        (PruneStep("radius", 2), [60]),
        (PruneStep("radius", 1), [2, 5, 12, 15, 15, 15, 15]),
        (PruneStep("spur ratio", 2), [12, 15, 45]),
        (PruneStep("generation", 0), [15]),
        (PruneStep("generation", 1), [2, 15, 15]),
    ],
)
def test_each_kind_of_pruning(step, expected):
    smaller, origins = pruned(comb(), [step], roots=[0])
    assert lengths(smaller) == expected
    for branch, origin in zip(smaller.branches, origins, strict=True):
        parts = [comb().length(comb().branches[n]) for n in origin]
        assert sum(parts) == pytest.approx(smaller.length(branch))


def test_a_cut_loses_no_length_and_makes_two_trees():
    for place in ((40, 58, 50), (31, 50.8, 50)):  # on a limb, and beside the junction
        after, origins = edited(fork(), Edit("cut", place))
        check(after)
        assert total(after) == pytest.approx(total(fork()))
        assert len({node.component for node in after.nodes}) == 2
        assert sorted(set(map(tuple, origins))) in ([(0,), (1,), (2,)], [(0, 2), (1,)])


def test_bridges_join_trees():
    apart = skeleton_of(
        [straight((0, 0, 0), (40, 0, 0), 2, 2), straight((20, 6, 0), (20, 30, 0), 1, 1)]
    )
    after, origins = edited(apart, Edit("bridge", (20, 3, 0)))
    check(after)
    assert sorted(map(tuple, origins)) == [(0,), (0,), (1,)]
    assert total(after) == pytest.approx(total(apart) + 6)
    tree = random_tree(5)  # what a cut has parted
    middle = tree.branches[3].points[len(tree.branches[3].points) // 2]
    parted, _ = edited(tree, Edit("cut", middle))
    whole, _ = edited(parted, Edit("bridge", middle))
    assert total(whole) == pytest.approx(total(tree))
    assert len(whole.branches) == len(tree.branches)


def test_ways_are_the_shortest():
    limb = np.hypot(25, 20)
    found = distance_between(fork(), [20, 50, 50], [55, 70, 50])
    assert found.length == pytest.approx(10 + limb)
    assert found.straight == pytest.approx(np.hypot(35, 20))
    assert found.tortuosity == pytest.approx(found.length / found.straight)
    assert found.branches == [0, 1]
    steps = np.linalg.norm(np.diff(found.points, axis=0), axis=1)
    assert steps.sum() == pytest.approx(found.length)
    for place, number in (((40, 62, 40), 1), ((40, 18, 40), 2)):  # round a loop
        found = distance_between(ring_with_handle(), (10, 40, 40), place)
        assert found.branches == [0, number]
        assert found.length == pytest.approx(10 + np.pi * 10, rel=0.01)
    found = distance_between(fork(), [10, 50, 50], [10, 53, 50])
    assert (found.length, found.straight, found.tortuosity) == (0, 0, 1)
    for seed in range(3):
        skeleton = random_tree(seed)
        graph = skeleton.to_networkx()
        ends = [n for n in graph if graph.nodes[n]["kind"] == "end"]
        for first, last in zip(ends, ends[1:] + ends[:1]):
            places = (skeleton.nodes[n].position for n in (first, last))
            expected = networkx.dijkstra_path_length(graph, first, last, weight="length")
            assert distance_between(skeleton, *places).length == pytest.approx(expected)


def narrowed(k):
    """Radius in mm of a vessel with a stenosis of 50 % at K = 40."""
    return 6.0 - 3.0 * np.exp(-(((k - 40) / 4) ** 2))


@pytest.fixture(scope="module")
def vessel():
    """A rod along K with a stenosis, in voxels of 2 x 1 x 0.5 mm, and its centreline."""
    k, j, i = np.ogrid[:80, :30, :60]
    mask = ((j - 15) * 1.0) ** 2 + ((i - 30) * 0.5) ** 2 <= narrowed(k) ** 2
    mask[:5] = mask[75:] = False
    points = np.column_stack([np.arange(5.0, 75), np.full(70, 15.0), np.full(70, 30.0)])
    skeleton = skeleton_of([(points, narrowed(points[:, 0]))], SPACING)
    return mask, dataclasses.replace(skeleton, shape=mask.shape)


def test_the_narrowest_place_is_neither_a_tip_nor_a_junction(vessel):
    found = narrowest_place(vessel[1], 0)
    assert found.position.tolist() == [40, 15, 30]
    assert (found.length, found.diameter) == (70, pytest.approx(6))
    assert percent_stenosis(found.diameter, 12.0) == pytest.approx(50)
    along = np.arange(81.0)
    points = np.stack([along, 0 * along, 0 * along], axis=1)
    blunt = np.minimum.reduce([along + 1, narrowed(along), 81 - along])
    skeleton = skeleton_of([(points, blunt)])
    assert narrowest_place(skeleton, 0).length == 40
    assert narrowest_place(skeleton, 0, margin=0).length == 0
    short = skeleton_of([straight((0, 0, 0), (3, 0, 0), 5, 5, 5)])
    assert narrowest_place(short, 0).length == pytest.approx(1.5)


def test_sections_have_the_areas_of_the_vessel(vessel):
    mask, skeleton = vessel
    found = cross_sections(mask, skeleton, 0, step=4.0)
    inner = slice(2, -2)  # the rod's flat ends
    k = found.points[inner, 0]
    np.testing.assert_allclose(found.area[inner], np.pi * narrowed(k) ** 2, rtol=0.12)
    np.testing.assert_allclose(found.equivalent_diameter[inner], 2 * narrowed(k), rtol=0.06)
    np.testing.assert_allclose(found.inscribed_diameter[inner], 2 * narrowed(k), rtol=0.02)
    assert found.minimal == np.abs(found.points[:, 0] - 40).argmin()
    np.testing.assert_allclose(np.abs(found.normals), [[1, 0, 0]] * len(found.length), atol=1e-9)
    beside = mask.copy()
    beside[:, :6] = True  # only the vessel itself counts
    again = cross_sections(beside, skeleton, 0, step=4.0).area
    np.testing.assert_array_equal(found.area[inner], again[inner])
    measures = section_measures(mask, skeleton, 4.0)
    assert measures["min_area_mm2"] == [pytest.approx(np.pi * 9, rel=0.12)]
    assert measures["equivalent_diameter_mm"][0] == pytest.approx(11, abs=1)
    assert section_measures(np.zeros_like(mask), skeleton, 50)["mean_area_mm2"] == [None]


def test_diameters_of_an_oblique_ellipse_are_its_axes():
    """A cylinder along (1, 1, 0) with half axes of 9 and 5 mm, the longer one in the plane K, J."""
    k, j, i = np.mgrid[:60, :60, :40].astype(float)
    mask = ((k - j) / np.sqrt(2) / 9) ** 2 + ((i - 20) / 5) ** 2 <= 1
    points = np.column_stack([np.arange(15.0, 45), np.arange(15.0, 45), np.full(30, 20.0)])
    skeleton = dataclasses.replace(skeleton_of([(points, np.full(30, 5.0))]), shape=mask.shape)
    found = cross_sections(mask, skeleton, 0, step=5)
    np.testing.assert_allclose(found.area[1:-1], np.pi * 45, rtol=0.05)
    np.testing.assert_allclose(found.largest_diameter, 18, atol=0.5)
    np.testing.assert_allclose(found.smallest_diameter, 10, atol=0.75)
    np.testing.assert_allclose(found.roundness, 10 / 18, atol=0.03)
    long, short = (each[:, 1] - each[:, 0] for each in (found.largest_ends, found.smallest_ends))
    np.testing.assert_allclose(np.abs(long[:, 2]), 0, atol=1.6)  # in the plane, to 5 degrees
    np.testing.assert_allclose(np.abs(short[:, 2]), 10, atol=0.75)
    np.testing.assert_allclose(np.linalg.norm(long, axis=1), found.largest_diameter)


def test_a_hole_is_lumen_unless_told_otherwise():
    """A tube of 8 mm radius with a calcium rod of 3 mm radius inside, 4 mm beside the axis."""
    _k, j, i = np.mgrid[:40, :40, :40].astype(float)
    tube, hole = np.hypot(j - 20, i - 20) <= 8, np.hypot(j - 20, i - 23) <= 3
    line = np.column_stack([np.arange(5.0, 35), np.full(30, 20.0), np.full(30, 16.0)])
    skeleton = dataclasses.replace(skeleton_of([(line, np.full(30, 4.0))]), shape=tube.shape)
    mask, whole = tube & ~hole, np.pi * 64
    found = cross_sections(mask, skeleton, 0, step=5)
    np.testing.assert_allclose(found.area, whole, rtol=0.03)
    np.testing.assert_allclose(found.filled, np.pi * 9, rtol=0.2)
    np.testing.assert_allclose(found.largest_diameter, 16, atol=1.01)  # half a voxel at each end
    np.testing.assert_allclose(found.smallest_diameter, 16, atol=1.01)
    open_ = cross_sections(mask, skeleton, 0, step=5, fill_holes=False)
    np.testing.assert_allclose(open_.area, whole - np.pi * 9, rtol=0.05)
    assert not open_.filled.any()
    measures = section_measures(mask, skeleton, 5)
    assert measures["filled_percent"] == [pytest.approx(100 * 9 / 64, abs=2)]
    assert measures["roundness"] == [pytest.approx(1, abs=0.1)]


def test_a_section_beside_a_fork_is_that_of_its_own_branch():
    """Two limbs of radius 5 that still touch: the plane across one goes through both."""
    ends = [(4, 24, 20), (20, 24, 20), (60, 40, 20), (60, 8, 20)]
    lines = [straight(ends[first], ends[last], 5, 5) for first, last in ((0, 1), (1, 2), (1, 3))]
    mask = np.zeros((64, 48, 40), bool)
    for points, radius in lines:
        mask |= tube(points, radius, mask.shape)
    skeleton = dataclasses.replace(skeleton_of(lines), shape=mask.shape)
    for k, least in ((25, 0.6), (28, 0.8), (44, 0.95)):
        found = section_at(mask, skeleton, (k, 24 + 0.4 * (k - 20), 20))
        assert least < found.area[0] / (25 * np.pi) < 1.05


def exact_distances(mask, seeds, spacing):
    """Geodesic distances by SciPy's Dijkstra over scikit-image's graph; seeds voxel: mm."""
    number = np.cumsum(mask.reshape(-1)).reshape(mask.shape) - 1
    graph, _ = pixel_graph(mask, connectivity=3, spacing=spacing)
    found = [start + dijkstra(graph, indices=number[voxel]) for voxel, start in seeds.items()]
    full = np.full(mask.shape, np.inf)
    full[mask] = np.min(found, axis=0)
    return full


@pytest.mark.parametrize("seed", range(2))
def test_each_voxel_goes_to_the_branch_that_is_nearest_along_the_object(seed):
    rng = np.random.default_rng(seed)
    mask = rng.random((6, 9, 10)) < 0.7
    ends = rng.uniform(0, 1, (3, 3)) * (np.array(mask.shape) - 1)
    centre = (np.array(mask.shape) - 1) / 2
    skeleton = skeleton_of([straight(centre, end, 1, 1, 6) for end in ends], SPACING)
    skeleton = dataclasses.replace(skeleton, shape=mask.shape)
    distances = []
    for branch in skeleton.branches:
        seeds = {}
        for point in dense_points(branch.points):
            voxel = tuple(np.floor(point + 0.5).astype(int))
            if mask[voxel]:
                away = float(np.linalg.norm((point - voxel) * SPACING))
                seeds[voxel] = min(seeds.get(voxel, np.inf), away)
        distances.append(exact_distances(mask, seeds, SPACING))
    distances = np.array(distances)
    labels = branch_labels(mask, skeleton)
    reached = np.isfinite(distances).any(axis=0)
    assert (labels[~reached] == 0).all()
    own = np.take_along_axis(distances, np.maximum(labels[None] - 1, 0), axis=0)[0]
    np.testing.assert_allclose(own[reached], distances.min(axis=0)[reached], rtol=1e-9)
    assert (labels > 0).sum() == reached.sum() > 100
    groups = branch_labels(mask, skeleton, {0: 7, 2: 7})
    assert set(np.unique(groups)) == {0, 7}


def test_straight_and_geodesic_territories_differ_where_there_is_a_gap():
    """A voxel just across a slit from the branch is far along the organ."""
    organ = np.ones((1, 21, 40), bool)
    organ[0, 5, :35] = False
    organ[0, :, 38] = False  # what lies behind is reached by straight lines only
    lines = [straight((0, 2, 1), (0, 2, 30), 1, 1), straight((0, 19, 1), (0, 19, 30), 1, 1)]
    skeleton = dataclasses.replace(skeleton_of(lines, SPACING), shape=organ.shape)
    for distance, owner, left in (("straight", 1, 0), ("geodesic", 2, 21)):
        found = territories(organ, skeleton, {0: 1, 1: 2}, distance)
        assert found.labels[0, 7, 5] == owner
        assert found.unreached == pytest.approx(left / 1000)
        counts = [np.count_nonzero(found.labels == label) for label in (1, 2)]
        assert list(found.volumes.values()) == pytest.approx([n / 1000 for n in counts])
        assert sum(counts) + left == organ.sum()


def test_branches_without_a_name_have_that_of_the_nearest_upstream():
    forest = rooted_forest(random_tree(3), roots=[0])
    by_number = {branch.number: branch for branch in forest.branches}
    first = forest.branches[0]
    child = forest.branches[first.children[0]]
    names = inherited_names(forest, {first.number: "trunk", child.number: "left, upper"})
    assert set(names) == set(by_number)
    for number, name in names.items():
        way = [number]
        while by_number[way[-1]].parent >= 0:
            way.append(forest.branches[by_number[way[-1]].parent].number)
        assert name == ("left, upper" if child.number in way else "trunk")
    forest = rooted_forest(ring_with_handle())
    (cut,) = forest.cut
    assert cut not in inherited_names(forest, {forest.branches[0].number: "in"})
    assert inherited_names(forest, {cut: "loop"}) == {cut: "loop"}


ONE = skeleton_of([straight((0, 0, 0), (9, 0, 0), 1, 1)])
TWO = skeleton_of([straight((0, y, 0), (9, y, 0), 1, 1) for y in (0, 9)])
NONE = dataclasses.replace(ONE, branches=[])
ORGAN = np.zeros(TWO.shape, np.uint8)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (partial(PruneStep, "volume", 1), "'volume' is unknown: use length"),
        (partial(PruneStep, "length", -1), "from 0 up, not -1"),
        (partial(PruneStep, "length", float("nan")), "from 0 up"),
        (partial(pruned, fork(), [], roots=[9]), "Root 9 is no node"),
        (partial(Edit, "turn", (0, 0, 0)), "is unknown"),
        (partial(Edit, "cut", (0, 0)), "three finite numbers"),
        (lambda: edited(fork(), Edit("cut", (0, 0, 500))), "away from the tree"),
        (lambda: edited(fork(), Edit("bridge", (30, 50, 50))), "one tree only"),
        (lambda: edited(closed_ring(), Edit("bridge", (30, 50, 5))), "no end"),
        (lambda: edited(NONE, Edit("cut", (5, 0, 0))), "no branch"),
        (partial(steps_of_text, ""), "no list of steps"),
        (partial(steps_of_text, "{}"), "no list of steps"),
        (partial(steps_of_text, "[1]"), "no list of steps"),
        (partial(steps_of_text, '[{"kind": "length"}]'), "needs a kind, and a value"),
        (partial(steps_of_text, '[{"kind": "cut", "point": [1, 2]}]'), "three finite numbers"),
        (partial(distance_between, TWO, [0, 0, 0], [0, 9, 0]), "are not connected"),
        (partial(distance_between, NONE, [0, 0, 0], [0, 9, 0]), "no branch"),
        (partial(distance_between, TWO, [0, 0, np.inf], [0, 9, 0]), "three finite numbers"),
        (partial(percent_stenosis, 1, 0), "reference"),
        (partial(percent_stenosis, -1, 2), "reference"),
        (partial(narrowest_place, ONE, 3), "no branch 3"),
        (partial(narrowest_place, ONE, 0, -1), "from 0 up"),
        (partial(cross_sections, ORGAN[1:], TWO, 0), "same grid"),
        (partial(cross_sections, ORGAN, TWO, 0, step=0), "above 0 mm"),
        (partial(branch_labels, ORGAN[1:], TWO), "same grid"),
        (partial(branch_labels, ORGAN, TWO, {5: 1}), "Branch 5 cannot get the label 1"),
        (partial(branch_labels, ORGAN, TWO, {0: 0}), "label 0"),
        (partial(territories, ORGAN, TWO, distance="taxi"), "use straight or geodesic"),
        (partial(territories, ORGAN, TWO), "nothing to divide"),
        (partial(territories, ORGAN + 1, TWO, {}), "nothing to divide"),
        (partial(inherited_names, rooted_forest(ONE), {99: "x"}), "belongs to branch 99"),
    ],
)
def test_what_cannot_be_done_is_told(act, message):
    with pytest.raises(InputError, match=message):
        act()
