"""Relative connectedness: its definitions on hundreds of random volumes, ties, and errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from scipy.sparse.csgraph import dijkstra
from skimage.graph import pixel_graph

from FuzzyConnectedGPULib import (
    GaussianAffinity,
    HandOver,
    relabel,
    relative_connectedness,
    segment,
    segment_several,
)
from FuzzyConnectedGPULib.relative.division import (
    divide_by_contrast,
    levels_of_contrast,
    with_middles,
)
from FuzzyConnectedGPULib.relative.vessels import BACKGROUND, DISPUTED, apply_hand_overs, branch_of
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from FuzzyVesselCoreLib.progress import Progress
from support.crossing_vessels import crossing
from support.definition import POINT, Graph, graph_of
from support.problems import problems

AFFINITY = GaussianAffinity(100, 20, 20)


def owners_of(values, has):
    """One label a voxel: 0, a group from 1 on, or DISPUTED."""
    owners = np.where(values.max(0) > 0, DISPUTED, 0)
    for label, voxels in enumerate(has, start=1):
        owners[voxels] = label
    return owners


def random_groups(random, shape, count, most_points):
    """Groups of points on different voxels, (n, 3) each."""
    size = int(np.prod(shape))
    count = min(count, size)
    sizes = random.integers(1, most_points + 1, count)
    sizes = np.minimum(sizes, size // count)
    points = random.permutation(size)[: sizes.sum()]
    points = np.stack(np.unravel_index(points, shape), 1)
    return np.split(points, np.cumsum(sizes)[:-1])


def assert_as_defined(volume, groups, affinity, cut=0.0, mask=None):
    """Both results are those of the definition; returns what is disputed in each."""
    graph = graph_of(volume, affinity, cut, mask)
    points = [np.ravel_multi_index(group.T, volume.shape) for group in groups]
    if mask is not None:
        points = [group[mask.ravel()[group] > 0] for group in points]
    values, relative = graph.relative(points)
    strength = np.minimum(values.max(0), POINT - 1).astype(np.float32) / np.float32(65535)
    several = []
    for iterative, has in ((False, relative), (True, graph.iterative(points)[1])):
        found = relative_connectedness(
            volume, groups, affinity, cut=cut, mask=mask, device="cpu", iterative=iterative
        )
        owners = owners_of(values, has)
        np.testing.assert_array_equal(found.labels.ravel(), np.where(owners == DISPUTED, 0, owners))
        np.testing.assert_array_equal(found.disputed.ravel(), owners == DISPUTED)
        np.testing.assert_array_equal(found.strength.ravel(), strength)
        several.append(int(found.disputed.sum()))
    return several


def test_volumes_of_every_kind():
    disputed = np.zeros(2, int)

    @settings(max_examples=120)
    @given(problems(largest_side=6), st.integers(1, 5), st.integers(0, 2**32 - 1))
    def check(problem, count, seed):
        nonlocal disputed
        volume, _, affinity, cut, mask = problem
        groups = random_groups(np.random.default_rng(seed), volume.shape, count, 3)
        if mask is not None:
            mask[tuple(np.concatenate([group[:1] for group in groups]).T)] = 1
        disputed += assert_as_defined(volume, groups, affinity, cut, mask)

    check()
    # The two definitions differ, or the rounds would not have been tried.
    assert disputed[0] > disputed[1] > 0


def row(*intensities):
    return np.array([[intensities]], np.int16)


# ---- arguments


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([], "0 groups"),
        (7, "list of arrays"),
        ({"portal": [(0, 0, 1)], "hepatic": []}, "no point of 'hepatic'"),
        ({"portal": [(0, 0, 1)], "hepatic": [(0, 0, 9)]}, "point of 'hepatic's lie outside"),
        ({"portal": [(0, 0, 1)], "hepatic": [(0, 0, 2)]}, "Every point of 'hepatic'"),
        (
            {"portal": [(0, 0, 1)], "hepatic": [(0, 0, 0), (0, 0, 1)]},
            "'portal' and 'hepatic' have a point on the same voxel, I,J,K = 1,0,0",
        ),
    ],
)
def test_groups_that_cannot_be_worked_with_are_named(groups, message):
    with pytest.raises(InputError, match=message):
        relative_connectedness(row(100, 100, 100), groups, AFFINITY, mask=row(1, 1, 0))


# ---- Branches and hand-overs: against the definition, by another algorithm on small volumes


SPACINGS = [(1.0, 1.0, 1.0), (2.5, 0.7, 0.7)]


def branch_by_definition(vessel, points, voxel, spacing):
    """What is no nearer to the points than the voxel, and connected with it there."""
    graph, nodes = pixel_graph(vessel, connectivity=3, spacing=spacing)
    graph.data = np.rint(graph.data / (min(spacing) / 16))
    sources = np.flatnonzero(np.isin(nodes, np.ravel_multi_index(points.T, vessel.shape)))
    found = np.full(vessel.shape, np.inf)
    if sources.size:
        found.flat[nodes] = dijkstra(graph, indices=sources, min_only=True)
    labels, _ = ndimage.label(vessel & (found >= found[voxel]), np.ones((3, 3, 3)))
    return set(map(tuple, np.argwhere(labels == labels[voxel]).tolist()))


@pytest.mark.parametrize("spacing", SPACINGS)
def test_branches_are_those_of_the_definition(spacing):
    rng = np.random.default_rng(3)
    sizes = []
    for _ in range(150):
        shape = tuple(rng.integers(2, 7, 3))
        vessel = rng.random(shape) < rng.choice([0.25, 0.4, 0.7])
        voxels = np.argwhere(vessel)
        if not len(voxels):
            continue
        points = rng.integers(0, shape, (rng.integers(1, 4), 3))
        voxel = tuple(voxels[rng.integers(len(voxels))].tolist())
        found = set(zip(*(axis.tolist() for axis in branch_of(vessel, points, voxel, spacing))))
        wanted = branch_by_definition(vessel, points, voxel, spacing)
        assert found == wanted
        sizes.append(len(wanted) / len(voxels))
    assert min(sizes) < 0.1 < 0.9 < max(sizes)  # parts and wholes were both among them


def y_shape():
    """A trunk along I that forks at I = 10: one arm on along I, the other along J."""
    labels = np.zeros((7, 24, 24), np.uint8)
    labels[2:5, 3:6, 1:23] = 1
    labels[2:5, 3:23, 10:13] = 1
    return labels


def test_a_click_in_an_arm_hands_over_what_lies_beyond_and_nothing_of_the_trunk():
    labels = y_shape()
    notes = apply_hand_overs(
        labels, [np.array([[3, 4, 2]]), np.array([[0, 0, 0]])], [HandOver((3, 9, 11), 2)], (1, 1, 1)
    )
    assert notes == ()
    assert (labels[2:5, 3:6, 1:23] == 1).all()
    assert (labels[2:5, 11:23, 10:13] == 2).all()
    assert set(np.unique(labels)) == {0, 1, 2}


def test_hand_overs_without_effect_say_why():
    labels = np.ones((1, 1, 5), np.uint8)
    labels[0, 0, 4] = 0
    points = [np.array([[0, 0, 0]]), []]
    wanted = [
        HandOver((0, 0, 4), 2, "B-1"),
        HandOver((0, 0, 0), 2, "B-2"),
        HandOver((0, 0, 3), 1, "A-3"),
    ]
    nothing, on_point = apply_hand_overs(labels, points, wanted, (1, 1, 1))
    assert "no vessel at B-1" in nothing
    assert "B-2 lies on a point" in on_point
    assert labels.ravel().tolist() == [1, 1, 1, 1, 0]


# ---- Several vessels in one run: what one vessel gets, what several share, and what is refused


POINTS = {"portal": [(6, 6, 2)], "hepatic": [(6, 15, 2)]}


@pytest.mark.parametrize("keywords", [{}, {"cut": 0.1}, {"threshold": 0.3, "fill_gaps": 2}])
def test_one_vessel_gets_what_segment_gives_bit_for_bit(keywords):
    phantom = liver_phantom((40, 40, 40))
    options = dict(keywords, spacing=(2, 1, 1), device="cpu", background_seeds=[(1, 1, 1)])
    wanted = segment(phantom.volume, phantom.seeds, **options)
    found = segment_several(phantom.volume, {"all": phantom.seeds}, **options)
    assert np.array_equal(found.labels, wanted.labels)
    assert np.array_equal(found.scene.values, wanted.scene.values)
    assert (found.threshold, found.names) == (wanted.threshold, ("all",))
    assert not found.disputed.any()


@pytest.mark.parametrize("affinity", [None, GaussianAffinity(200, 40, 40)])
def test_vessels_share_what_segment_finds(affinity):
    volume = crossing()
    points = np.concatenate(list(POINTS.values()))
    both = segment(volume, points, device="cpu", affinity=affinity, threshold=0.5)
    found = segment_several(volume, POINTS, device="cpu", affinity=affinity, threshold=0.5)
    assert np.array_equal((found.labels > 0) | found.disputed, both.labels > 0)
    assert not (found.labels[found.disputed]).any()
    assert found.labels[6, 6, 2:8].tolist() == [1] * 6
    assert found.labels[6, 15, 2:8].tolist() == [2] * 6


def test_hand_overs_and_their_notes():
    volume = crossing()
    plain = segment_several(volume, POINTS, device="cpu")
    owner = int(plain.labels[6, 6, 30])
    assert owner  # a tail behind the crossing: one of the two has it
    other = 3 - owner
    moved = segment_several(
        volume, POINTS, device="cpu",
        hand_overs=[HandOver((6, 6, 28), other), HandOver((0, 0, 0), 1, "far")],
    )  # fmt: skip
    assert (moved.labels[6, 6, 30:38] == other).all()
    assert "far" in moved.notes[0]
    assert np.array_equal(moved.labels > 0, plain.labels > 0)
    with pytest.raises(InputError, match="names vessel 3"):
        segment_several(volume, POINTS, device="cpu", hand_overs=[HandOver((6, 6, 30), 3)])


@pytest.mark.parametrize("vessels", [POINTS, {"portal": POINTS["portal"]}])
def test_a_scene_at_another_threshold_has_the_labels_of_a_run_at_it(vessels):
    options = dict(device="cpu", fill_gaps=1, hand_overs=[HandOver((6, 15, 8), 1)])
    first, other = (segment(crossing(), vessels, threshold=t, **options) for t in (0.5, 0.8))
    again = relabel(
        first.scene, 0.8, owners=first.owners, vessels=vessels, fill_gaps=1,
        hand_overs=options["hand_overs"],
    )  # fmt: skip
    assert (first.labels != other.labels).any()
    np.testing.assert_array_equal(again.labels, other.labels)
    np.testing.assert_array_equal(again.disputed, other.disputed)
    assert again.notes == other.notes


def test_background_points_are_one_more_group():
    """A third tube that touches the second one by a fainter link: one point takes it away."""
    volume = crossing()
    volume[5:8, 19:22] = 200
    volume[5:8, 18, 20:23] = 160
    points = {"portal": [(6, 6, 2), (6, 6, 37)], "hepatic": [(6, 15, 2), (6, 15, 37)]}
    leaking = segment_several(volume, points, device="cpu")
    assert (leaking.labels[6, 20, 3:37] > 0).sum() > 20
    kept = segment_several(volume, points, background_seeds=[(6, 20, 30)], device="cpu")
    assert np.array_equal(kept.owners == 254, (kept.owners == 254) & (kept.labels == 0))
    assert not kept.labels[6, 20, 3:37].any()
    assert [int(kept.labels[p]) for each in points.values() for p in each] == [1, 1, 2, 2]


def test_two_vessels_cannot_have_a_point_on_one_voxel():
    with pytest.raises(InputError, match="'portal' and 'hepatic' have a point on the same voxel"):
        segment_several(crossing(), {"portal": [(6, 6, 2)], "hepatic": [(6, 6, 2)]}, device="cpu")
    with pytest.raises(InputError, match="0 vessels"):
        segment_several(crossing(), {}, device="cpu")
    mask = np.ones((13, 22, 40), np.uint8)
    mask[:, 12:] = 0
    with pytest.raises(InputError, match="'hepatic' lies outside the mask"):
        segment_several(crossing(), POINTS, mask=mask, device="cpu")


# --- the division, from the definition


class Contrast:
    """A contrast map, as far as the division asks for it."""

    def __init__(self, contrast):
        self.contrast, self.noise, self.mask = contrast.astype(np.float32), 1.0, None
        self.box = tuple(slice(0, n) for n in contrast.shape)
        self.offset, self.spacing = np.zeros(3, int), np.ones(3)


def definition(levels, groups):
    """Owners by the rounds of iterative relative connectedness; for the levels of voxels."""
    places = np.argwhere(np.ones(levels.shape, bool))
    apart = np.abs(places[:, np.newaxis] - places[np.newaxis]).max(-1)
    first, second = np.nonzero(np.triu(apart == 1))  # 26-neighbours
    flat = levels.ravel()
    graph = Graph(first, second, np.minimum(flat[first], flat[second]), flat.size)
    points = [np.ravel_multi_index(np.transpose(group), levels.shape) for group in groups]
    return owners_of(*graph.iterative(points)).reshape(levels.shape)


def test_the_division_is_iterative_relative_connectedness_within_the_scene():
    rng = np.random.default_rng(1)
    disputed = 0
    for _ in range(80):
        shape = tuple(rng.integers(2, 5, 3))
        contrast = rng.integers(1, 5, shape)
        scene = (rng.random(shape) < 0.8).astype(np.float32)
        places = rng.permutation(scene.size)[:4]
        scene.ravel()[places] = 1
        voxels = np.stack(np.unravel_index(places, shape), axis=1)
        groups = {"a": voxels[:2], "b": voxels[2:3], "c": voxels[3:]}
        mapped = Contrast(contrast)
        starts = with_middles(mapped, groups)
        for each in starts.values():  # as the scene has the points and what is about them
            scene[tuple(each.T)] = 1
        levels = np.where(scene > 0, levels_of_contrast(mapped.contrast, mapped.noise), 0)
        wanted = definition(levels.astype(int), list(starts.values()))
        found = divide_by_contrast(mapped, scene, groups, Progress())
        known = wanted > 0
        assert np.array_equal(found[known], wanted[known])
        assert not found[scene == 0].any()
        disputed += np.count_nonzero(found == DISPUTED)
    assert disputed
    assert levels.max() < POINT


def test_paths_start_from_the_middle_of_the_vessel_near_a_click():
    contrast = np.ones((5, 9, 9))
    contrast[1:4, 3:6, :] = 9
    mapped = Contrast(contrast)
    near = with_middles(mapped, {"a": [(2, 2, 4)], "b": [(0, 0, 0)]})
    assert near["a"][0].tolist() == [2, 2, 4]
    assert contrast[tuple(near["a"][1])] == 9
    claimed = with_middles(mapped, {"a": [(2, 2, 4)], "b": [tuple(near["a"][1])]})
    assert len(claimed["a"]) == 1
    beside = with_middles(mapped, {"a": [(2, 4, 0)], BACKGROUND: [(2, 2, 4)]})
    assert list(beside) == ["a", BACKGROUND]
    assert beside[BACKGROUND].tolist() == [[2, 2, 4]]
