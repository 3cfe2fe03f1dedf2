"""From masks to skeletons: guarantees by oracles, known axes, levels, cleaning, odd input."""

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from scipy import ndimage
from scipy.spatial import cKDTree
from skimage.measure import euler_number

import support.solids as solids
from FuzzyVesselCoreLib.errors import DeviceError, InputError
from FuzzyVesselCoreLib.gpu import device
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from PotentialSkeletonLib import (
    SkeletonOptions,
    component,
    endpoints,
    extraction,
    preparing,
    skeleton_graph,
    skeletonize,
)
from PotentialSkeletonLib.by_component import skeletonize_components
from PotentialSkeletonLib.preparing import close_tunnels
from PotentialSkeletonLib.thinning import grow, peel, removable, thin
from support.solids import line

CUBE = np.ones((3, 3, 3), bool)
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


def topology(mask):
    """Components and cycles (26 neighbours) of a mask without cavities, by other libraries."""
    components = ndimage.label(mask, CUBE)[1]
    return components, components - euler_number(np.pad(mask, 1), connectivity=3)


def check_guarantees(skeleton, mask):
    """Everything that every skeleton must be, checked from the outside."""
    object_ = ndimage.binary_fill_holes(mask)  # over faces
    labels, components = ndimage.label(object_, CUBE)
    labelmap = skeleton.to_labelmap().astype(bool)
    assert not (labelmap & ~object_).any()
    assert sorted(np.unique(labels[labelmap])) == list(range(1, components + 1))
    assert topology(labelmap) == topology(object_)
    cycles = len(skeleton.branches) - len(skeleton.nodes) + components
    assert cycles == topology(object_)[1]
    degrees = Counter(end for branch in skeleton.branches for end in (branch.start, branch.end))
    assert all(degrees[n] != 2 or node.kind == "loop" for n, node in enumerate(skeleton.nodes))
    for branch in skeleton.branches:
        assert object_[tuple(np.rint(branch.points).astype(int).T)].all()
        assert np.linalg.norm(np.diff(branch.points, axis=0), axis=1).min() > 0
        assert (branch.radius > 0).all()
        np.testing.assert_array_equal(branch.points[0], skeleton.nodes[branch.start].position)
        np.testing.assert_array_equal(branch.points[-1], skeleton.nodes[branch.end].position)
    if skeleton.report["removable_voxels"] == 0:
        padded = np.pad(labelmap, 1)
        assert not len(removable(np.flatnonzero(padded), np.zeros_like(padded, np.uint8)))
    assert len({tuple(node.position) for node in skeleton.nodes}) == len(skeleton.nodes)
    assert all(skeleton.report["guarantees"].values())


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("name", SHAPES)
def test_guarantees_on_shapes(name, level):
    check_guarantees(skeletonize(SHAPES[name], level=level), SHAPES[name])


@given(solids.random_solids(largest=12))
@settings(max_examples=25)
def test_random_solids_have_nested_levels_with_all_guarantees(mask):
    """What could go from a level belongs to the level before, which must stay whole."""
    spacing, coarser = (1.5, 1.0, 0.8), np.zeros(np.add(mask.shape, 2), bool)
    for level in (1, 2, 3):
        skeleton = skeletonize(mask, spacing, level=level)
        check_guarantees(skeleton, mask)
        finer = np.pad(skeleton.to_labelmap().astype(bool), 1)
        could_go = removable(np.flatnonzero(finer), np.zeros_like(finer, np.uint8))
        assert (coarser <= finer).all()
        assert coarser.flat[could_go].all()
        assert skeleton.report["removable_voxels"] == len(could_go)
        coarser = finer
    again = skeletonize(np.asfortranarray(mask), spacing, level=3)
    assert again.to_table() == skeleton.to_table()


@given(solids.random_solids(largest=12), strategies.integers(0, 1000))
@settings(max_examples=25)
def test_thinning_growing_and_peeling_change_no_topology(mask, seed):
    """Whatever the order, and whatever stays."""
    rng = np.random.default_rng(seed)
    solid = np.pad(ndimage.binary_fill_holes(mask), 1)
    voxels, states = np.flatnonzero(solid), np.zeros(solid.shape, np.uint8)
    order = rng.random(voxels.size).astype(np.float32)
    stays, last = rng.random((2, voxels.size)) < [[0.1], [0.3]]
    thinned = thin(voxels, order, stays, last, states)
    peeled = peel(voxels, order, voxels[stays], (1.0, 1.0, 1.0), states)
    grown = grow(thinned, voxels, order, last, states)
    for found in (thinned, peeled, grown):
        assert not states.any()
        left = np.zeros(solid.shape, bool)
        left.flat[found] = True
        assert topology(left) == topology(solid)
        assert (left <= solid).all()
    assert np.isin(voxels[stays], thinned).all()
    assert np.isin(voxels[stays], peeled).all()
    assert np.isin(thinned, grown).all()


def kinds(skeleton):
    return sorted(node.kind for node in skeleton.nodes)


def distances(skeleton, axis):
    """From the skeleton's points to the axis (not beyond its ends), and from it to the skeleton."""
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
def test_tubes_have_their_axis_and_nothing_is_left_to_join(solid, expected):
    mask, axis = solid()
    skeleton = skeletonize(mask)
    assert kinds(skeleton) == expected
    to_axis, to_skeleton = distances(skeleton, axis)
    assert to_axis.mean() < 0.5
    assert np.percentile(to_axis, 95) < 1
    assert np.percentile(to_skeleton, 95) < 2
    assert (skeleton.report["joins"], skeleton.report["thinned_voxels"]) == (0, 0)


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


@given(solids.random_solids(), strategies.sampled_from([1.5, 2.0, 3.5, 20.0]))
@settings(max_examples=30)
def test_closing_tunnels_only_closes_tunnels(mask, width):
    mask = ndimage.binary_fill_holes(mask)
    closed, tunnels, voxels = close_tunnels(mask, width, (1.0, 1.0, 1.0))
    assert (closed >= mask).all()
    assert voxels == closed.sum() - mask.sum()
    assert tunnels == topology(mask)[1] - topology(closed)[1] >= 0
    assert topology(closed)[0] == topology(mask)[0]
    assert (ndimage.binary_fill_holes(closed) == closed).all()
    in_other_order = close_tunnels(np.asfortranarray(mask), width, (1.0, 1.0, 1.0))[0]
    assert (in_other_order == closed).all()


NO_BRANCH = r"There is no branch: the skeleton is 1 point, seen in the labelmap only\."
FULL = r"The object fills the volume: its border is taken to be the volume's\."
TINY = r"Tiny, perhaps noise: 1 of 1 component\."


def holed(*places):
    mask = np.pad(np.ones((9, 11, 13), bool), 1)
    for place in places:
        mask[place] = False
    return mask


def islands():
    mask = np.pad(SHAPES["touching balls"], 2)
    mask[-1, 0, :2] = mask[0, -1, 5] = True
    return mask


@pytest.mark.parametrize(
    ("mask", "options", "said", "report"),
    [
        (np.ones((12, 12, 12)), {}, [FULL, NO_BRANCH], {"components": 1}),
        (np.ones((1, 1, 1)), {}, [FULL, TINY, NO_BRANCH], {"tiny_components": 1}),
        (np.ones((40, 3)), {}, [FULL], {"object_cycles": 0}),  # one slice as a 2D array
        (np.eye(9)[None] * 0.5, {}, ["The labelmap has values that are no whole", "Tiny"], {}),
        (solids.ring()[0][7:17], {}, [], {"object_cycles": 1}),  # on the border
        (
            holed((4, 5, 5), (7, 8, 8), (7, 8, 9)),
            {},
            [r"Filled 2 cavities inside the object \(3 voxels\)\.", NO_BRANCH],
            {"cavities_filled": 2, "cavity_voxels": 3},
        ),
        (islands(), {}, ["Tiny, perhaps noise: 2 of 3 components"], {"components": 3}),
        (
            islands(),
            {"drop_islands": 4},
            [r"Dropped 2 islands of few voxels \(3 voxels\)\."],
            {"components": 1, "islands_dropped": 2, "island_voxels": 3},
        ),
        (
            holed((slice(None), 5, 8)),
            {"close_tunnels": 1.0},
            [r"Closed 1 tunnel through the object \(\d+ voxels?\)\.", NO_BRANCH],
            {"object_cycles": 0, "tunnels_closed": 1},
        ),
        (solids.ring()[0], {"close_tunnels": 4}, [], {"object_cycles": 1, "tunnels_closed": 0}),
        (SHAPES["helix"], {"strength": 2}, ["At strength 2 the field has no attractors"], {}),
    ],
)  # fmt: skip
def test_what_is_odd_has_a_skeleton_and_is_said(mask, options, said, report):
    found = skeletonize(mask, **options).report
    warnings = [text for text in found["warnings"] if "not resolved" not in text]
    assert len(warnings) == len(said), warnings
    assert all(re.match(pattern, text) for pattern, text in zip(said, warnings)), warnings
    assert report.items() <= found.items()
    assert all(found["guarantees"].values())


BALL = solids.two_balls(0)


@pytest.mark.parametrize(
    ("mask", "options", "message"),
    [
        (np.zeros((5, 5, 5)), {}, "empty"),
        (np.ones((2, 2, 2, 2)), {}, r"shape \(2, 2, 2, 2\); K x J x I"),
        (np.float64(1), {}, r"shape \(\)"),
        (np.ones((0, 3, 3)), {}, r"shape \(0, 3, 3\)"),
        (np.array([["a"]]), {}, "type str32; numbers are needed"),
        (np.full((3, 3, 3), np.nan), {}, "27 voxels that are infinite or not a number"),
        (np.ma.masked_equal(BALL, 0), {}, "masked array with [0-9,]+ hidden values"),
        (BALL, {"strength": 1}, "strength is 1; choose a whole number from 3 to 9"),
        (BALL, {"level": 4}, "level is 4; choose 1, 2"),
        (BALL, {"level": 2.0}, "level"),
        (BALL, {"spacing": (1, "wide", 1)}, r"spacing is \(1, 'wide', 1\)"),
        (BALL, {"spacing": (1, 0, 1)}, "spacing"),
        (BALL, {"divergence": 101}, "divergence"),
        (BALL, {"divergence": 1j}, "divergence"),
        (BALL, {"charge_distance": -1}, "charge distance"),
        (BALL, {"method": "magic"}, "method"),
        (BALL, {"drop_islands": -1}, "drop_islands"),
        (BALL, {"close_tunnels": float("inf")}, "close_tunnels is inf"),
        (BALL, {"device": "abacus"}, "abacus"),
        (BALL, {"options": SkeletonOptions(), "level": 1}, "given twice"),
    ],
)
def test_bad_input_is_refused_by_name(mask, options, message):
    with pytest.raises((InputError, DeviceError), match=message):
        skeletonize(mask, **options)


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


def test_a_card_knows_one_solid(cpu_cuda, monkeypatch):
    """Only then are components and cavities not looked for on the CPU."""
    monkeypatch.setattr(preparing, "choose_device", lambda name: cpu_cuda)
    monkeypatch.setattr(preparing, "LARGE", 1)
    one = np.ones((5, 6, 7), bool)
    two, hollow = one.copy(), one.copy()
    two[:, :, 3], hollow[2, 2, 3] = False, False
    found = [preparing.is_one_solid_on("cuda", mask) for mask in (one, two, hollow)]
    assert found == [True, False, False]


def test_all_on_a_card_is_that_on_the_cpu_which_begins_anew_where_it_fails(cpu_cuda, monkeypatch):
    for module in (component, endpoints, preparing):
        monkeypatch.setattr(module, "LARGE", 1)
    for module in (device, extraction, preparing):
        monkeypatch.setattr(
            module, "choose_device", lambda name: name if name == "cpu" else cpu_cuda
        )
    monkeypatch.setattr(component, "GPU_THRESHOLD", 1)
    mask, task = SHAPES["touching balls"].copy(), dict(spacing=(1.0, 0.8, 1.2), level=3)
    mask[:, :, 21:23] = False
    on_cpu = skeletonize(mask, device="cpu", **task)

    def check(skeleton, warnings):
        assert skeleton.report["warnings"] == [*warnings, *on_cpu.report["warnings"]]
        np.testing.assert_array_equal(skeleton.voxels, on_cpu.voxels)
        radii = [[node.radius for node in each.nodes] for each in (skeleton, on_cpu)]
        np.testing.assert_allclose(*radii, rtol=1e-5)
        assert not cpu_cuda._kept

    check(skeletonize(mask, device="cuda", **task), [])

    def graph(*given):
        if given[-1] is not None:
            raise DeviceError("lost")
        return skeleton_graph.skeleton_graph(*given)

    monkeypatch.setattr(component, "skeleton_graph", graph)
    check(skeletonize(mask, **task), ["The CPU was used: lost"])
    with pytest.raises(DeviceError, match="lost"):
        skeletonize(mask, device="cuda", **task)
    assert not cpu_cuda._kept


@pytest.mark.gpu
@pytest.mark.parametrize("method", ["cuda-shared", "fft"])
@pytest.mark.parametrize("name", ["trefoil", "vessels"])
def test_a_card_gives_the_same_graph_as_the_cpu(name, method):
    """Branches between the same nodes, point by point within 0.05 voxel."""
    mask, spacing = SHAPES.get(name), (1.0, 1.0, 1.0)
    if name == "vessels":
        phantom = liver_phantom((96, 120, 120))
        mask, spacing = phantom.mask, phantom.spacing
    on_card = skeletonize(mask, spacing, method=method, device="cuda")
    on_cpu = skeletonize(mask, spacing, method="fft", device="cpu")
    assert on_card.report["device"] != on_cpu.report["device"] == "cpu"
    assert len(on_card.branches) == len(on_cpu.branches) > 0
    for one, other in zip(on_card.branches, on_cpu.branches):
        assert (one.start, one.end, one.component) == (other.start, other.end, other.component)
        for some, others in ((one.points, other.points), (other.points, one.points)):
            assert cKDTree(some).query(others)[0].max() <= 0.05


# ---- The skeleton of numbered components, one in memory at a time, is that of the whole


SPACING = (2.0, 0.7, 0.9)


def numbered(mask):
    labels, count = ndimage.label(mask, np.ones((3, 3, 3)))
    boxes = ndimage.find_objects(labels)
    low, high = (np.array([[getattr(s, e) for s in b] for b in boxes]) for e in ("start", "stop"))
    return labels.astype(np.uint32), np.bincount(labels.ravel())[1 : count + 1], low, high


def same(mask, **options):
    whole = skeletonize(mask, SPACING, device="cpu", **options)
    chosen = SkeletonOptions(device="cpu", **options)
    found = skeletonize_components(*numbered(mask), SPACING, options=chosen)
    assert np.array_equal(found.voxels, whole.voxels)
    assert [b.points.tolist() for b in found.branches] == [
        b.points.tolist() for b in whole.branches
    ]
    assert [b.radius.tolist() for b in found.branches] == [
        b.radius.tolist() for b in whole.branches
    ]
    reports = [{k: v for k, v in each.report.items() if k != "seconds"} for each in (found, whole)]
    assert reports[0] == reports[1]
    return found


@pytest.mark.parametrize(("number", "share"), [(0, 0.2), (1, 0.35), (2, 0.5)])
def test_random_objects(number, share):
    noise = ndimage.gaussian_filter(np.random.default_rng(number).random((18, 20, 22)), 1)
    same(noise > np.quantile(noise, 1 - share))


def test_components_in_cavities_and_islands():
    mask = np.zeros((15, 15, 40), bool)
    mask[1:12, 1:12, 1:12] = True
    mask[3:10, 3:10, 3:10] = False
    mask[5:7, 5:7, 5:7] = True  # in the cavity
    mask[6:8, 6:8, 15:38] = True
    mask[13, 13, 39] = True  # an island
    assert same(mask).report["components"] == 3
    assert same(mask, drop_islands=5).report["islands_dropped"] == 1


def test_bad_input_is_named():
    labels, sizes, low, high = numbered(np.pad(np.ones((3, 3, 9), bool), 1))
    calls = [
        ((labels, sizes, low, high), {"options": SkeletonOptions(close_tunnels=2)}, "a whole"),
        ((labels[0], sizes, low, high), {}, "K x J x I"),
        ((labels, sizes[:0], low[:0], high[:0]), {}, "empty"),
        ((labels, sizes, high, low), {}, "low below high"),
        ((labels, sizes, low, high + 9), {}, "box in the labels"),
        ((labels * 2, sizes, low, high), {}, "no component 1"),
        ((labels, sizes, low, high), {"memory_limit": 1000}, "above the limit"),
    ]
    for arguments, options, message in calls:
        with pytest.raises(InputError, match=message):
            skeletonize_components(*arguments, **options)
