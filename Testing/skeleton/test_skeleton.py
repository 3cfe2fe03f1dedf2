"""From masks to skeletons: guarantees, known axes, levels, cleaning, bad input, real shapes."""

from itertools import pairwise
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from scipy import ndimage
from scipy.spatial import cKDTree

import support.solids as solids
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from FuzzyVesselCoreLib.voxels.labels import CUBE, fill_cavities
from FuzzyVesselCoreLib.voxels.topology import cycle_count
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.object.tunnels import close_tunnels
from PotentialSkeletonLib.thinning import removable
from support.solids import line

SHAPES = {
    "fork": solids.tapered_y()[0],
    "helix": solids.helix()[0],
    "ring": solids.ring()[0],
    "trefoil": solids.trefoil()[0],
    "tapered tube": solids.tapered_tube()[0],
    "plate": solids.plate(),
    "cube": solids.cube(),
    "touching balls": solids.two_balls(19),
}


def check_guarantees(skeleton, mask):
    """Everything that every skeleton must be, checked from the outside."""
    object_, _, _ = fill_cavities(mask)
    labels, components = ndimage.label(object_, CUBE)
    labelmap = skeleton.to_labelmap().astype(bool)
    assert not (labelmap & ~object_).any()
    assert sorted(np.unique(labels[labelmap])) == list(range(1, components + 1))
    assert ndimage.label(labelmap, CUBE)[1] == components
    assert cycle_count(labelmap) == cycle_count(object_)
    assert len(skeleton.branches) - len(skeleton.nodes) + components == cycle_count(object_)
    for branch in skeleton.branches:
        assert object_[tuple(np.rint(branch.points).astype(int).T)].all()
        assert np.linalg.norm(np.diff(branch.points, axis=0), axis=1).min() > 0
        assert (branch.radius > 0).all()
        np.testing.assert_array_equal(branch.points[0], skeleton.nodes[branch.start].position)
        np.testing.assert_array_equal(branch.points[-1], skeleton.nodes[branch.end].position)
    if skeleton.report["removable_voxels"] == 0:
        padded = np.pad(labelmap, 1)
        assert not len(removable(np.flatnonzero(padded), padded.shape))
    assert len({tuple(node.position) for node in skeleton.nodes}) == len(skeleton.nodes)
    assert all(skeleton.report["guarantees"].values())


def same(first, second):
    return (
        len(first.branches) == len(second.branches)
        and (first.voxels == second.voxels).all()
        and all((a.points == b.points).all() for a, b in zip(first.branches, second.branches))
    )


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("name", SHAPES)
def test_guarantees_on_shapes(name, level):
    check_guarantees(skeletonize(SHAPES[name], level=level), SHAPES[name])


@given(solids.random_solids())
@settings(max_examples=30)
def test_guarantees_on_random_solids(mask):
    skeleton = skeletonize(mask, (1.5, 1.0, 0.8), level=3)
    check_guarantees(skeleton, mask)
    assert same(skeleton, skeletonize(mask, (1.5, 1.0, 0.8), level=3))


@pytest.mark.parametrize("name", ["fork", "plate", "touching balls", "cube", "helix"])
def test_each_level_contains_the_one_before(name):
    voxels = [
        set(map(tuple, skeletonize(SHAPES[name], level=level).voxels.tolist()))
        for level in (1, 2, 3)
    ]
    assert voxels[0] <= voxels[1] <= voxels[2]


@given(solids.random_solids(largest=11))
@settings(max_examples=20)
def test_levels_of_random_solids_are_nested_and_thin(mask):
    """What could go from a level belongs to the level before, which must stay whole."""
    coarser = np.zeros(np.add(mask.shape, 2), bool)
    for level in (1, 2, 3):
        skeleton = skeletonize(mask, level=level)
        finer = np.pad(skeleton.to_labelmap().astype(bool), 1)
        could_go = removable(np.flatnonzero(finer), finer.shape)
        assert (coarser <= finer).all()
        assert coarser.flat[could_go].all()
        assert skeleton.report["removable_voxels"] == len(could_go)
        coarser = finer


def kinds(skeleton):
    return sorted(node.kind for node in skeleton.nodes)


def distances(skeleton, axis):
    """From the skeleton's points to the axis, and from the axis to the skeleton.

    Points beyond the ends of an open axis, in the caps, are left out of the first.
    """
    points = np.concatenate([branch.points for branch in skeleton.branches])
    away, nearest = cKDTree(axis).query(points)
    within = (nearest > 0) & (nearest < len(axis) - 1)
    return away[within], cKDTree(points).query(axis)[0]


def test_level_1_of_a_fork_is_too_little_and_level_2_has_its_three_branches():
    mask, axes = solids.tapered_y()
    assert len(skeletonize(mask, level=1).branches) == 0
    skeleton = skeletonize(mask)
    assert kinds(skeleton) == ["end", "end", "end", "junction"]
    to_axis, to_skeleton = distances(skeleton, np.concatenate(axes))
    assert to_axis.mean() < 0.5
    assert np.percentile(to_axis, 95) < 1.5
    assert np.percentile(to_skeleton, 95) < 2


@pytest.mark.parametrize(
    ("solid", "expected"),
    [
        (solids.helix, ["end", "end"]),
        (solids.ring, ["loop"]),
        (solids.trefoil, ["loop"]),
        (solids.tapered_tube, ["end", "end"]),
    ],
)
def test_tubes_have_their_axis(solid, expected):
    mask, axis = solid()
    skeleton = skeletonize(mask)
    assert kinds(skeleton) == expected
    to_axis, to_skeleton = distances(skeleton, axis)
    assert to_axis.mean() < 0.5
    assert np.percentile(to_axis, 95) < 1
    assert np.percentile(to_skeleton, 95) < 2


@pytest.mark.parametrize("name", ["fork", "helix", "ring", "trefoil", "tapered tube"])
def test_curves_follow_tubes_to_their_ends(name):
    """Also where the width is constant: nothing is left for thinning to join."""
    report = skeletonize(SHAPES[name]).report
    assert report["joins"] == 0
    assert report["thinned_voxels"] == 0


def test_a_phantoms_vessel_trees_have_their_branches():
    phantom = liver_phantom((128, 160, 160))
    skeleton = skeletonize(phantom.mask, phantom.spacing, close_tunnels=4)
    assert skeleton.report["joins"] < 16  # gaps in vessels that the field does not resolve
    children = np.bincount([b.parent for b in phantom.centrelines if b.parent >= 0])
    tips = len(phantom.centrelines) - np.count_nonzero(children)
    roots = sum(branch.parent < 0 for branch in phantom.centrelines)
    assert kinds(skeleton).count("end") == pytest.approx(tips + roots, abs=3)
    axis = np.concatenate(
        [line(a, b, 20) for tube in phantom.centrelines for a, b in pairwise(tube.points)]
    )
    inside = ((axis > -0.5) & (axis < np.array(phantom.mask.shape) - 0.5)).all(axis=1)
    to_axis, to_skeleton = distances(skeleton, axis[inside])
    assert to_axis.mean() < 0.5
    assert np.percentile(to_axis, 95) < 1.2
    assert np.percentile(to_skeleton, 95) < 1.6


def test_touching_balls_are_one_curve_through_both_centres():
    skeleton = skeletonize(SHAPES["touching balls"])
    assert kinds(skeleton) == ["end", "end"]
    _, to_skeleton = distances(skeleton, np.array([[12.0, 12, 12], [12, 12, 31]]))
    assert to_skeleton.max() < 1


def test_sharp_corners_come_with_level_3():
    assert kinds(skeletonize(SHAPES["cube"], level=2)) == ["isolated"]
    assert kinds(skeletonize(SHAPES["cube"], level=3)).count("end") == 8


def test_a_rough_surface_gives_no_spurs():
    mask = solids.rough(solids.tapered_tube()[0], 0.2)
    skeleton = skeletonize(mask, drop_islands=50, close_tunnels=4)
    assert skeleton.report["tunnels_closed"] > 0
    assert kinds(skeleton) == ["end", "end"]


def test_a_rough_surface_gives_few_spurs_at_level_3_too():
    mask = solids.rough(solids.helix()[0], 0.2)
    clean = dict(drop_islands=50, close_tunnels=4)
    assert kinds(skeletonize(mask, level=3, **clean)).count("end") <= 3


def test_components_are_taken_one_by_one():
    mask = np.zeros((30, 34, 80), bool)
    mask[2:26, 5:29, 4:41] = solids.two_balls(12)
    mask[:24, :, 40:] |= solids.ring()[0][:, 15:49, 12:52]
    mask[28, 3, 3] = mask[28, 30, 70] = mask[29, 31, 71] = True
    skeleton = skeletonize(mask)
    check_guarantees(skeleton, mask)
    assert skeleton.report["components"] == ndimage.label(mask, CUBE)[1]
    assert skeleton.report["tiny_components"] >= 2
    assert kinds(skeleton).count("isolated") >= 2


def test_critical_points_lie_in_the_volume_of_the_mask():
    mask = np.zeros((50, 40, 60), bool)
    mask[20:44, 10:34, 15:52] = solids.two_balls(12)
    points = skeletonize(mask, charge_distance=0).critical_points
    attractors = sorted(p.position[2] for p in points if p.kind == "attractor")
    assert attractors == pytest.approx([15 + 12, 15 + 24], abs=1)
    assert all(p.position[:2] == pytest.approx([32, 22], abs=0.01) for p in points)


def test_cavities_are_filled_and_reported():
    mask = solids.cube()
    mask[10:14, 10:14, 10:14] = False
    skeleton = skeletonize(mask)
    assert skeleton.report["cavities_filled"] == 1
    assert skeleton.report["cavity_voxels"] == 64
    assert kinds(skeleton) == ["isolated"]


def test_cleaning_is_done_only_when_asked_for():
    mask = solids.cube()
    mask[10, 12, :] = False  # a tunnel, one voxel wide
    mask[0, 0, 0] = True
    plain = skeletonize(mask)
    assert plain.report["object_cycles"] == 1
    assert plain.report["components"] == 2
    clean = skeletonize(mask, drop_islands=5, close_tunnels=2)
    assert clean.report["object_cycles"] == 0
    assert clean.report["components"] == 1
    assert (clean.report["islands_dropped"], clean.report["island_voxels"]) == (1, 1)
    assert clean.report["tunnels_closed"] == 1


@given(solids.random_solids(), strategies.sampled_from([1.5, 2.0, 3.5, 20.0]))
@settings(max_examples=40)
def test_closing_tunnels_only_closes_tunnels(mask, width):
    mask, _, _ = fill_cavities(mask)
    closed, tunnels, voxels = close_tunnels(mask, width, (1.0, 1.0, 1.0))
    assert (closed >= mask).all()
    assert voxels == closed.sum() - mask.sum()
    assert tunnels == cycle_count(mask) - cycle_count(closed) >= 0
    assert ndimage.label(closed, CUBE)[1] == ndimage.label(mask, CUBE)[1]
    assert fill_cavities(closed)[1] == 0


def test_wide_tunnels_stay():
    skeleton = skeletonize(solids.ring()[0], close_tunnels=4)
    assert skeleton.report["object_cycles"] == 1
    assert skeleton.report["tunnels_closed"] == 0


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (np.ones((1, 1, 1)), ["isolated"]),
        (np.ones((12, 12, 12)), ["isolated"]),  # no outside at all
        (np.ones((1, 40, 5)), ["end", "end"]),  # one slice
        (np.ones((40, 3)), ["end", "end"]),  # one slice as a 2D array
        (np.eye(9)[None] * 0.5, ["end", "end"]),  # a diagonal line of halves
    ],
)
def test_odd_masks(mask, expected):
    skeleton = skeletonize(mask)
    assert kinds(skeleton) == expected
    assert all(skeleton.report["guarantees"].values())


def test_what_is_odd_is_said():
    def warnings_of(mask, **options):
        return " ".join(skeletonize(mask, **options).report["warnings"])

    assert "fills the volume" in warnings_of(np.ones((6, 6, 6)))
    assert "whole numbers" in warnings_of(solids.cube() * 0.7)
    assert "no attractors" in warnings_of(solids.cube(), strength=2)
    assert "not resolved by the force field" in warnings_of(solids.rough(solids.helix()[0], 0.3))


@pytest.mark.parametrize(
    ("mask", "options", "message"),
    [
        (np.zeros((5, 5, 5)), {}, "empty"),
        (np.ones((2, 2, 2, 2)), {}, "shape"),
        (np.full((3, 3, 3), np.nan), {}, "not a number"),
        (np.ones((3, 3, 3)), {"strength": 1}, "strength"),
        (np.ones((3, 3, 3)), {"level": 4}, "level"),
        (np.ones((3, 3, 3)), {"level": "core"}, "level"),
        (np.ones((3, 3, 3)), {"level": 2.0}, "level"),
        (np.ones((3, 3, 3)), {"spacing": (1, "wide", 1)}, r"spacing is \(1, 'wide', 1\)"),
        (np.ones((3, 3, 3)), {"divergence": 1j}, "divergence"),
        (np.ones((3, 3, 3)), {"spacing": (1, 0, 1)}, "spacing"),
        (np.ones((3, 3, 3)), {"spacing": 1}, "spacing"),
        (np.ones((3, 3, 3)), {"divergence": 101}, "divergence"),
        (np.ones((3, 3, 3)), {"charge_distance": -1}, "charge distance"),
        (np.ones((3, 3, 3)), {"method": "magic"}, "method"),
        (np.ones((3, 3, 3)), {"drop_islands": -1}, "drop_islands"),
    ],
)
def test_bad_input_is_refused_by_name(mask, options, message):
    with pytest.raises(InputError, match=message):
        skeletonize(mask, **options)


def test_progress_rises_to_1_and_is_asked_often_enough_to_cancel():
    fractions = []
    skeletonize(SHAPES["helix"], progress=lambda fraction: fractions.append(fraction) or True)
    assert fractions == sorted(fractions)
    assert fractions[0] >= 0
    assert fractions[-1] == 1
    calls = iter(range(len(fractions) // 2))
    with pytest.raises(Cancelled):
        skeletonize(SHAPES["helix"], progress=lambda fraction: next(calls, None) is not None)


def test_stages_are_timed():
    began = perf_counter()
    seconds = skeletonize(SHAPES["ring"]).report["seconds"]
    assert {"distance", "field", "thinning", "graph"} <= set(seconds)
    assert 0 < sum(seconds.values()) <= perf_counter() - began


@pytest.mark.parametrize(
    ("name", "ends", "cycles"),
    [("cow", 7, 0), ("dinosaur", 7, 0), ("helix", 2, 0), ("torus_knot", 0, 1)],
)
def test_real_shapes_have_their_protrusions(data_folder, name, ends, cycles):
    """Cow: four legs, two horns or ears, head; dinosaur: four legs, tail, snout, crest."""
    path = data_folder / f"shape_{name}.nrrd"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    mask = solids.read_nrrd(path)
    skeleton = skeletonize(mask)
    check_guarantees(skeleton, mask)
    assert kinds(skeleton).count("end") == ends
    assert skeleton.report["object_cycles"] == cycles


def phantoms_vessels():
    phantom = liver_phantom((96, 120, 120))
    return phantom.mask, phantom.spacing


def knot():
    """Symmetric: its curves meet saddles and run between voxels."""
    return solids.trefoil()[0], (1.0, 1.0, 1.0)


@pytest.mark.gpu
@pytest.mark.parametrize("method", ["cuda-shared", "fft"])
@pytest.mark.parametrize("solid", [phantoms_vessels, knot])
def test_a_card_gives_the_same_graph_as_the_cpu(solid, method):
    """Branches between the same nodes, point by point within 0.05 voxel."""
    mask, spacing = solid()
    on_card = skeletonize(mask, spacing, method=method, device="cuda")
    on_cpu = skeletonize(mask, spacing, method="fft", device="cpu")
    assert len(on_cpu.branches) > 0
    assert kinds(on_card) == kinds(on_cpu)
    assert len(on_card.branches) == len(on_cpu.branches)
    for one, other in zip(on_card.branches, on_cpu.branches):
        assert (one.start, one.end, one.component) == (other.start, other.end, other.component)
        for some, others in ((one.points, other.points), (other.points, one.points)):
            assert cKDTree(some).query(others)[0].max() <= 0.05
