"""Zeros of known fields, and the balance of indices on solids."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from scipy import ndimage

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels import topology
from FuzzyVesselCoreLib.voxels.distances import (
    distance_to_outside,
    geodesic_distance,
    neighbour_steps,
    unit_of,
)
from PotentialSkeletonLib import critical_points, endpoints, force_field, skeleton_graph
from PotentialSkeletonLib.critical_points import CriticalPoint, index_sum
from PotentialSkeletonLib.endpoints import CAP_REACH, SLENDERNESS, protrusion_endpoints
from PotentialSkeletonLib.force_field import ridge_depths
from PotentialSkeletonLib.seeds import cells_with_sign_changes, curvature_seeds, divergence_seeds
from PotentialSkeletonLib.streamlines import Tracer
from PotentialSkeletonLib.thinning import removal_order
from PotentialSkeletonLib.traced_curves import CurveVoxels, voxels_at
from support.solids import line, random_solid, random_solids, ring, tapered_y, tube, two_balls


def sampled(function, shape=(9, 10, 11)):
    """A field of inner voxels everywhere with `function(positions)` as its vectors."""
    positions = np.stack(np.indices(shape), axis=-1).astype(float)
    return SimpleNamespace(
        vectors=function(positions),
        classes=np.full(shape, 3, np.uint8),
        object=np.ones(shape, bool),
    )


@pytest.mark.parametrize(
    ("slopes", "kind"),
    [
        ((-1, -2, -3), "attractor"),
        ((2, -1, -3), "saddle-1"),
        ((1, 2, -3), "saddle-2"),
        ((1, 2, 3), "repeller"),
    ],
)
def test_a_linear_field_has_one_zero_of_the_expected_kind(slopes, kind):
    centre = np.array([3.3, 4.45, 6.72])
    (point,) = critical_points(sampled(lambda x: (x - centre) * slopes))
    np.testing.assert_allclose(point.position, centre, atol=1e-9)
    assert point.kind == kind
    np.testing.assert_allclose(point.eigenvalues, sorted(slopes), atol=1e-9)
    for value, vector in zip(point.eigenvalues, point.eigenvectors.T):
        np.testing.assert_allclose(np.diag(slopes) @ vector, value * vector, atol=1e-9)


def test_all_zeros_of_a_periodic_field_are_found():
    """sin of each coordinate: a zero wherever all three are multiples of half the period."""
    period = 8.0
    field = sampled(lambda x: np.sin(2 * np.pi * (x - 0.3) / period), (18, 18, 18))
    points = critical_points(field)
    expected = [0.3 + n * period / 2 for n in range(5)]
    assert len(points) == 5**3
    for point in points:
        assert np.abs(point.position[:, None] - expected).min(axis=1).max() < 0.06
    assert [tuple(p.position.round(3)) for p in points] == sorted(
        tuple(p.position.round(3)) for p in points
    )


@pytest.mark.parametrize(("mask", "expected"), [(two_balls(12), 1), (ring()[0], 0)])
def test_the_indices_sum_to_the_euler_characteristic(mask, expected):
    points = critical_points(force_field(mask))
    assert len(points) >= 2
    assert index_sum(points) == expected


def test_seeds_lie_where_the_unit_force_converges_the_lowest_first():
    sinks = np.array([[10, 10, 8], [10, 10, 24]])

    def function(x):  # towards the nearer one of two points
        away = sinks[:, None, None, None] - x
        nearer = np.linalg.norm(away, axis=-1).argmin(axis=0)
        return np.take_along_axis(away, nearer[None, ..., None], axis=0)[0]

    field = sampled(function, (21, 21, 33))
    found = divergence_seeds(field.vectors.astype(np.float32), field.classes, 20.0)
    assert {tuple(voxel) for voxel in found[:2].tolist()} == set(map(tuple, sinks.tolist()))
    assert len(divergence_seeds(field.vectors, field.classes, 0.0)) == 0
    assert len(divergence_seeds(field.vectors, field.classes * 0, 20.0)) == 0


def check_seeds_and_cells(gpu):
    """Those that the device finds are those of the CPU, bit for bit."""
    rng = np.random.default_rng(3)
    shape = 9, 11, 13
    vectors = ndimage.gaussian_filter(rng.normal(size=(*shape, 3)), (1, 1, 1, 0)).astype(np.float32)
    classes = rng.choice(4, shape, p=[0.02, 0.02, 0.06, 0.9]).astype(np.uint8)
    vectors[classes < 2] = vectors[4, 5, 6] = 0
    task = vectors, classes, 60.0, None
    found = divergence_seeds(*task)
    assert len(found) > 3
    np.testing.assert_array_equal(divergence_seeds(*task, gpu), found)
    for lowest_class in (1, 2):
        task = vectors, classes, lowest_class
        cells, corners = cells_with_sign_changes(*task)
        assert len(cells) > 3
        on_card = cells_with_sign_changes(*task, gpu)
        np.testing.assert_array_equal(on_card[0], cells)
        np.testing.assert_array_equal(on_card[1], corners)
    assert len(divergence_seeds(vectors, classes * 0, 60.0, None, gpu)) == 0


def test_seeds_and_cells_on_cuda(cpu_cuda):
    check_seeds_and_cells(cpu_cuda)


@pytest.mark.gpu
def test_seeds_and_cells_on_a_real_gpu(gpu):
    check_seeds_and_cells(gpu)


def test_seeds_of_high_curvature_are_the_corners_of_a_box():
    mask = np.zeros((20, 22, 24), bool)
    mask[4:16, 4:18, 4:20] = True
    found = curvature_seeds(mask)
    assert {tuple(voxel) for voxel in found.tolist()} == {
        (k, j, i) for k in (4, 15) for j in (4, 17) for i in (4, 19)
    }


# ---- Curves that follow known fields


CENTRE = np.array([10.0, 10.0, 10.0])


def tracer_of(vectors, ends=()):
    return Tracer(vectors.astype(np.float32), np.ones(vectors.shape[:3], np.uint8), ends)


def field(function, shape=(21, 21, 21)):
    return function(np.stack(np.indices(shape), axis=-1).astype(float))


def test_a_curve_ends_at_the_attractor():
    tracer = tracer_of(field(lambda x: CENTRE - x), [CENTRE])
    points = tracer.trace([3.2, 14.1, 12.0])
    np.testing.assert_allclose(points[-1], CENTRE)
    away = points - CENTRE
    direction = away[0] / np.linalg.norm(away[0])
    across = away - np.outer(away @ direction, direction)
    assert np.linalg.norm(across, axis=1).max() < 0.05  # a straight path


def test_later_curves_end_at_earlier_ones():
    def valley(x):  # towards the line J = I = 10, then along it
        return np.stack([0.3 + 0 * x[..., 0], 10 - x[..., 1], 10 - x[..., 2]], axis=-1)

    tracer = tracer_of(field(valley))
    first = tracer.trace_along([[2.0, 10.0, 10.0]])
    second = tracer.trace([2.0, 17.0, 10.0])
    assert np.linalg.norm(first - second[-1], axis=1).min() == 0
    assert len(second) < len(first)


def test_curves_leave_a_saddle_in_both_directions():
    def double_well(x):
        k = (x[..., 0] - 10) / 4
        return np.stack([4 * (k - k**3), 10 - x[..., 1], 10 - x[..., 2]], axis=-1)

    wells = [np.array([6.0, 10, 10]), np.array([14.0, 10, 10])]
    kinds = ["saddle-1", "attractor", "attractor"]
    slopes, axes = np.array([-1.0, -1.0, 1.0]), np.eye(3)[:, ::-1]
    points = [CriticalPoint(p, kind, slopes, axes) for p, kind in zip([CENTRE, *wells], kinds)]
    tracer = tracer_of(field(double_well), [point.position for point in points])
    curves = list(tracer.core_curves(points))
    assert len(curves) == 2
    ends = sorted(curve[-1][0] for curve in curves)
    assert ends == pytest.approx([6, 14])
    for curve in curves:
        np.testing.assert_allclose(curve[0], CENTRE)
        assert np.linalg.norm(np.diff(curve, axis=0), axis=1).max() < 0.6


# ---- The voxels that curves pass


SHAPE = (12, 12, 12)


def passed(*curves, depth=None):
    depth = np.ones(SHAPE, np.float32) if depth is None else depth
    voxels = CurveVoxels(depth)
    for curve in curves:
        voxels.add(np.array(curve, float))
    return voxels


def mask_of(voxels, shape=SHAPE):
    """Where the curves pass; the voxels ascend."""
    flat = voxels.voxels()
    assert (np.diff(flat) > 0).all()
    mask = np.zeros(shape, bool)
    mask.reshape(-1)[flat] = True
    return mask


@pytest.mark.parametrize("noise", [-1e-5, 1e-5])
@pytest.mark.parametrize(
    "curve",
    [
        [(3, 4.5, 2), (3, 4.5, 8)],  # along a face
        [(2.5, 2.5, 2), (2.5, 2.5, 8)],  # along an edge
        [(2, 2, 5), (6, 6, 5)],  # through edges
        [(2, 2, 2), (6, 6, 6)],  # through corners
        [(2, 7, 4.5), (6, 3, 4.5)],
    ],
)
def test_on_faces_edges_and_corners_rounding_decides_nothing(curve, noise):
    def fine(a, b):
        return np.array(a) + np.linspace(0, 1, 30)[:, None] * (np.array(b) - a)

    exact = passed(fine(*curve))
    moved = passed(fine(*curve) + noise * np.array([1, -1, 0.5]))
    assert (mask_of(exact) == mask_of(moved)).all()
    own = np.argwhere(mask_of(exact))
    np.testing.assert_allclose(exact.positions(own), moved.positions(own), atol=1e-3)
    assert (voxels_at(np.array(curve) + noise) == voxels_at(curve)).all()


def test_a_curve_that_leaves_the_object_stays_connected_along_its_deepest_voxels():
    depth = np.zeros(SHAPE, np.float32)
    depth[5, 4:7, 1:11] = 1
    depth[5, 5, 1:11] = 2
    line = np.stack([np.full(33, 6.3), np.full(33, 5.0), np.linspace(2, 10, 33)], axis=1)
    line[0, 0] = 5
    found = np.argwhere(mask_of(passed(line, depth=depth)))
    assert found.tolist() == [[5, 5, i] for i in range(2, 11)]
    assert not mask_of(passed(line[1:] + np.array([3, 0, 0]), depth=depth)).any()


def padded(block):
    return np.pad(block, 1).astype(np.uint8)


@given(random_solids())
@settings(max_examples=30)
def test_ridges_and_the_order_of_thinning_follow_the_depth(block):
    depth = distance_to_outside(padded(block), (2.3, 0.4, 1.0))
    ridge = depth[(depth > 0) & (depth == ndimage.maximum_filter(depth, 3))]
    np.testing.assert_array_equal(np.sort(ridge_depths(depth)), np.sort(ridge))
    order = np.where(depth, (depth + ndimage.uniform_filter(depth.astype(float), 3)) / 2, 0)
    found = removal_order(depth, np.arange(depth.size))
    np.testing.assert_allclose(found, order.ravel(), atol=1e-5)


# ---- Endpoints are those of a plain sinking of all voxels


def endpoints_by_sinking(distances, depth, spacing, min_length):
    """Maxima (flat) that are endpoints, and their widths: all voxels in one falling order."""
    flat, deep = distances.reshape(-1), depth.reshape(-1)
    offsets, _ = neighbour_steps(distances.shape, spacing)
    # A component: [voxels, kept maximum, width, whether it holds an endpoint].
    component_of, components = {}, []
    voxels = np.flatnonzero(flat >= 0)
    found = {}
    for voxel in voxels[np.lexsort((voxels, flat[voxels]))][::-1].tolist():
        adjacent = {component_of[voxel + n] for n in offsets.tolist() if voxel + n in component_of}
        if not adjacent:
            components.append([[], voxel, np.float32(0), False])
            adjacent = {len(components) - 1}
        best = max(
            adjacent, key=lambda n: (components[n][3], flat[components[n][1]], -components[n][1])
        )
        kept = components[best]
        for n in adjacent - {best}:
            kept[0] += components[n][0]
            kept[2] = max(kept[2], components[n][2])
            component_of.update(dict.fromkeys(components[n][0], best))
        length = (int(flat[kept[1]]) - int(flat[voxel])) * unit_of(spacing)
        is_endpoint = not kept[3] and length > SLENDERNESS * float(kept[2]) + min_length
        kept[2] = max(kept[2], deep[voxel])
        if is_endpoint:
            kept[3], found[kept[1]] = True, kept[2]
        kept[0].append(voxel)
        component_of[voxel] = best
    return found


def centre_by_labels(distances, maximum, reach, spacing):
    """The voxel of a protrusion's end, by labels of the whole volume."""
    spacing = np.asarray(spacing, float)
    start = np.array(np.unravel_index(maximum, distances.shape))
    reach = max(reach, 0.5 * min(spacing))
    away = np.ceil(3 * reach / spacing).astype(int) + 1
    low = np.maximum(start - away, 0)
    box = distances[tuple(slice(a, b) for a, b in zip(low, start + away + 1))]
    components = []
    for lowest in distances.flat[maximum] - np.array([reach, 2 * reach]) / unit_of(spacing):
        labels, _ = ndimage.label(box >= lowest, np.ones((3, 3, 3)))
        components.append(np.argwhere(labels == labels[tuple(start - low)]) * spacing)
    cap, slab = components
    axis = cap.mean(axis=0) - slab.mean(axis=0)
    if np.linalg.norm(axis) < 1e-9:  # a box that is filled alike on both sides, but for rounding
        return maximum
    axis /= np.linalg.norm(axis)
    along = (cap - cap.mean(axis=0)) @ axis
    across = np.linalg.norm(cap - cap.mean(axis=0) - along[:, None] * axis, axis=1)
    best = np.argmax(np.round(along - 2 * across, 6))
    voxel = np.rint(cap[best] / spacing).astype(int) + low
    return int(np.ravel_multi_index(voxel, distances.shape))


def check_endpoints(mask, seed, spacing, min_length):
    """How many endpoints there are."""
    rng = np.random.default_rng(seed)
    sources = rng.permutation(np.flatnonzero(mask))[: rng.integers(1, 5)]
    distances = geodesic_distance(mask, sources, spacing)
    depth = distance_to_outside(mask, spacing) * np.float32(rng.choice([0.3, 1, 1]))
    wanted = endpoints_by_sinking(distances, depth, spacing, min_length)
    ends = [centre_by_labels(distances, m, CAP_REACH * w, spacing) for m, w in wanted.items()]
    found = protrusion_endpoints(distances, depth, spacing, Progress(), None, min_length)
    assert found.tolist() == sorted(set(ends))
    return len(wanted)


@given(mask=random_solids(largest=12), seed=strategies.integers(0, 10**6))
@settings(max_examples=40)
def test_endpoints_are_those_of_all_voxels_sinking(mask, seed):
    check_endpoints(padded(mask), seed, [(1.0, 1.0, 1.5), (1, 1, 1)][seed % 2], seed % 3)


def test_a_fork_has_endpoints_at_its_ends_and_a_ball_has_none():
    mask, axes = tapered_y()
    mask, fork = padded(mask), np.rint(axes[0][0]).astype(int) + 1
    source = np.ravel_multi_index(fork, mask.shape)
    depth, spacing = distance_to_outside(mask, (1, 1, 1)), (1, 1, 1)
    distances = geodesic_distance(mask, np.array([source]), spacing)
    flat = protrusion_endpoints(distances, depth, spacing, Progress())
    found = np.unravel_index(flat, mask.shape)
    ends = sorted(np.rint(axis[-1] + 1).tolist() for axis in axes)
    assert np.abs(np.sort(np.stack(found, axis=1), axis=0) - np.sort(ends, axis=0)).max() <= 7
    ball = padded(tube(line((10, 10, 10), (10, 10, 10), 1), 8, (21, 21, 21)))
    middle = np.array([np.ravel_multi_index((11, 11, 11), ball.shape)])
    distances, depth = geodesic_distance(ball, middle, spacing), distance_to_outside(ball, spacing)
    assert protrusion_endpoints(distances, depth, spacing, Progress()).size == 0


def test_protrusions_go_on_beyond_an_end_of_a_skeleton_unless_it_stays():
    mask = padded(np.ones((5, 5, 40)))
    row = np.ravel_multi_index((3, 3, 0), mask.shape)
    skeleton, spacing = np.arange(row + 10, row + 25), (1, 1, 1)
    distances = geodesic_distance(mask, skeleton, spacing)
    depth = distance_to_outside(mask, spacing)
    task = distances, depth, spacing, skeleton
    found = endpoints.endpoints_beyond(*task, np.array([], int), Progress())
    assert found.tolist() == [row + 1, row + 40]
    assert endpoints.endpoints_beyond(*task, skeleton[:1], Progress()).tolist() == [row + 40]


def check_distances_endpoints_and_radii(gpu, monkeypatch):
    """Those that the device finds are those of the CPU, bit for bit."""
    monkeypatch.setattr(endpoints, "LARGE", 1)
    monkeypatch.setattr(skeleton_graph, "PAIRS_AT_ONCE", 1000)
    found_ends = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        mask = padded(random_solid(rng, 18)) != 0
        sources, spacing = np.flatnonzero(mask)[[0, 7]], (2.3, 0.4, 1.0)
        depth = distance_to_outside(mask, spacing)
        np.testing.assert_array_equal(distance_to_outside(mask, spacing, None, gpu), depth)
        assert topology.euler_characteristic(mask, gpu) == topology.euler_characteristic(mask)
        found = geodesic_distance(mask, sources, spacing, gpu=gpu)
        known = geodesic_distance(mask, sources, spacing)
        np.testing.assert_array_equal(found, known)
        task = known, 0.3 * depth, spacing, Progress()
        ends = protrusion_endpoints(*task, None, 1.25)
        assert protrusion_endpoints(*task, gpu, 1.25).tolist() == ends.tolist()
        found_ends += len(ends)
        more = np.flatnonzero(known > 0)[[-1, -9]]
        task = mask, more, spacing, None, known.copy(), gpu
        geodesic_distance(mask, more, spacing, known=known)
        np.testing.assert_array_equal(geodesic_distance(*task), known)
        points = np.argwhere(mask)[:40] + rng.uniform(-0.4, 0.4, (40, 3))
        radii = skeleton_graph.radius_at(points, mask, spacing, gpu)
        np.testing.assert_array_equal(radii, skeleton_graph.radius_at(points, mask, spacing))
    assert found_ends


def test_distances_endpoints_and_radii_on_cuda(cpu_cuda, monkeypatch):
    check_distances_endpoints_and_radii(cpu_cuda, monkeypatch)
    assert cpu_cuda.launches >= 8 * 6


@pytest.mark.gpu
def test_distances_endpoints_and_radii_on_a_real_gpu(gpu, monkeypatch):
    check_distances_endpoints_and_radii(gpu, monkeypatch)
