"""Distances along the tree, narrowest places, stenosis, cross-sections."""

import dataclasses

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib.branch_tools import (
    cross_sections,
    distance_between,
    narrowest_place,
    percent_stenosis,
)
from support.trees import fork, random_tree, ring_with_handle, skeleton_of, straight

SPACING = (2.0, 1.0, 0.5)


def test_a_way_over_a_junction():
    skeleton = fork()
    limb = np.hypot(25, 20)
    found = distance_between(skeleton, [20, 50, 50], [55, 70, 50])
    assert found.length == pytest.approx(10 + limb)
    assert found.straight == pytest.approx(np.hypot(35, 20))
    assert found.tortuosity == pytest.approx(found.length / found.straight)
    assert found.branches == [0, 1]
    steps = np.linalg.norm(np.diff(found.points, axis=0), axis=1)
    assert steps.sum() == pytest.approx(found.length)


def test_of_two_ways_round_a_loop_the_shorter_is_taken():
    skeleton = ring_with_handle()
    for place, number in (((40, 62, 40), 1), ((40, 18, 40), 2)):
        found = distance_between(skeleton, (10, 40, 40), place)
        assert found.branches == [0, number]
        assert found.length == pytest.approx(10 + np.pi * 10, rel=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_ways_are_networkx_shortest_paths(seed):
    networkx = pytest.importorskip("networkx")
    skeleton = random_tree(seed)
    graph = skeleton.to_networkx()
    ends = [n for n in graph if graph.nodes[n]["kind"] == "end"]
    for first, last in zip(ends, ends[1:] + ends[:1]):
        places = (skeleton.nodes[n].position for n in (first, last))
        expected = networkx.dijkstra_path_length(graph, first, last, weight="length")
        assert distance_between(skeleton, *places).length == pytest.approx(expected)


def test_the_same_place_twice():
    found = distance_between(fork(), [10, 50, 50], [10, 53, 50])
    assert (found.length, found.straight, found.tortuosity) == (0, 0, 1)


def test_distances_that_do_not_exist_are_told():
    apart = skeleton_of([straight((0, y, 0), (9, y, 0), 1, 1) for y in (0, 9)])
    with pytest.raises(InputError, match="are not connected"):
        distance_between(apart, [0, 0, 0], [0, 9, 0])
    with pytest.raises(InputError, match="no branch"):
        distance_between(dataclasses.replace(apart, branches=[]), [0, 0, 0], [0, 9, 0])
    with pytest.raises(InputError, match="three finite numbers"):
        distance_between(apart, [0, 0, np.inf], [0, 9, 0])


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


def test_the_narrowest_place(vessel):
    found = narrowest_place(vessel[1], 0)
    assert found.position.tolist() == [40, 15, 30]
    assert (found.length, found.diameter) == (70, pytest.approx(6))
    assert percent_stenosis(found.diameter, 12.0) == pytest.approx(50)


def test_ends_are_left_out_of_the_narrowest_place():
    points = np.column_stack([np.arange(40.0), np.zeros(40), np.zeros(40)])
    radius = np.full(40, 3.0)
    radius[[0, -1]], radius[25] = 1, 2.5
    skeleton = skeleton_of([(points, radius)])
    assert narrowest_place(skeleton, 0).position[0] == 25
    assert narrowest_place(skeleton, 0, margin=0).position[0] == 0
    short = skeleton_of([straight((0, 0, 0), (3, 0, 0), 5, 5, 5)])
    assert narrowest_place(short, 0).length == pytest.approx(1.5)


@pytest.mark.parametrize(("diameter", "reference"), [(1, 0), (1, -2), (-1, 2), (1, np.nan)])
def test_impossible_stenoses_are_told(diameter, reference):
    with pytest.raises(InputError, match="reference"):
        percent_stenosis(diameter, reference)


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


def test_an_oblique_elliptic_vessel():
    """A cylinder along (1, 1, 0) with half axes of 9 and 5 mm: the two diameters differ."""
    k, j, i = np.mgrid[:60, :60, :40].astype(float)
    across, other = (k - j) / np.sqrt(2), i - 20
    mask = (across / 9) ** 2 + (other / 5) ** 2 <= 1
    points = np.column_stack([np.arange(15.0, 45), np.arange(15.0, 45), np.full(30, 20.0)])
    skeleton = dataclasses.replace(skeleton_of([(points, np.full(30, 5.0))]), shape=mask.shape)
    found = cross_sections(mask, skeleton, 0, step=5)
    np.testing.assert_allclose(found.area[1:-1], np.pi * 45, rtol=0.05)
    assert (found.equivalent_diameter > 1.25 * found.inscribed_diameter).all()


def test_only_the_vessel_itself_counts_in_a_section(vessel):
    mask, skeleton = vessel
    beside = mask.copy()
    beside[:, :6] = True
    ours, theirs = (cross_sections(each, skeleton, 0, step=8).area for each in (mask, beside))
    np.testing.assert_array_equal(ours[2:-2], theirs[2:-2])


def test_sections_that_do_not_exist_are_told(vessel):
    mask, skeleton = vessel
    with pytest.raises(InputError, match="no branch 3"):
        cross_sections(mask, skeleton, 3)
    with pytest.raises(InputError, match="same grid"):
        cross_sections(mask[1:], skeleton, 0)
    with pytest.raises(InputError, match="above 0 mm"):
        cross_sections(mask, skeleton, 0, step=0)
    assert cross_sections(np.zeros_like(mask), skeleton, 0, step=50).area.max() == 0


def test_the_narrowest_place_is_not_where_the_object_ends():
    lengths = np.arange(81.0)
    radius = np.minimum.reduce([lengths + 1, narrowed(lengths), 81 - lengths])  # blunt ends
    vessel = skeleton_of([(np.stack([lengths, 0 * lengths, 0 * lengths], 1), radius)])
    assert narrowest_place(vessel, 0).length == 40
    wide = skeleton_of(
        [(np.stack([lengths, 0 * lengths, 0 * lengths], 1), np.minimum(lengths + 1, 5))]
    )
    assert narrowest_place(wide, 0).diameter == 10
