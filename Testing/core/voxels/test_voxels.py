"""Masks, components, distances and topology against scipy, scikit-image and brute force."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from hypothesis.extra.numpy import arrays
from scipy import ndimage
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from skimage.measure import euler_number

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels import distances, labels, masks, topology
from support.solids import random_solids

CANCEL = Progress(lambda share: False)
SHAPES = strategies.tuples(*[strategies.integers(1, 9)] * 3)
MASKS = arrays(bool, SHAPES, elements=strategies.integers(0, 1).map(bool))
CUBE = np.ones((3, 3, 3), bool)
SPACING = (2.3, 0.4, 1.0)


def padded(block):
    return np.pad(block, 1).astype(np.uint8)


# ---- masks


@given(MASKS)
def test_the_box_is_the_range_of_the_voxels(mask):
    voxels, box = np.argwhere(mask), masks.bounding_box(mask)
    if not len(voxels):
        assert box is None
        return
    assert [side.start for side in box] == voxels.min(axis=0).tolist()
    assert [side.stop - 1 for side in box] == voxels.max(axis=0).tolist()
    assert masks.padded_box(box, (99,) * 3, mask.shape) == masks.full_box(mask.shape)


@given(MASKS, strategies.integers(0, 4))
def test_erosion_is_by_cubes(mask, layers):
    cube = np.ones((2 * layers + 1,) * 3, bool)
    np.testing.assert_array_equal(masks.erode(mask, layers), ndimage.binary_erosion(mask, cube))


def test_values_are_the_same_by_type_shape_and_value():
    values = np.random.default_rng(0).normal(0, 1, (30, 100, 100)).astype(np.float32)
    assert masks.same_values(values, values.view())
    assert masks.same_values(values[:, ::2], values[:, ::2].copy())
    assert not masks.same_values(values, values.astype(np.float64))
    assert not masks.same_values(values, values[None])
    for place in (0, values.size // 2, values.size - 1):
        other = values.copy()
        other.flat[place] += 1
        assert not masks.same_values(values, other)


# ---- components


@pytest.mark.parametrize(("connectivity", "structure"), [(6, None), (26, CUBE)])
@given(mask=MASKS)
def test_labels_are_those_of_scipy(connectivity, structure, mask):
    expected, count = ndimage.label(mask, structure)
    found, components = labels.label_components(mask, connectivity)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, expected)
    assert components == count == labels.count_components(mask, connectivity)
    assert labels.component_boxes(found, count) == ndimage.find_objects(expected)
    sizes = labels.component_sizes(found, count)
    assert sizes.tolist() == [np.count_nonzero(expected == n) for n in range(count + 1)]


@given(MASKS)
def test_cavities_are_filled(mask):
    before = mask.copy()
    filled, count, voxels = labels.fill_cavities(mask)
    np.testing.assert_array_equal(filled, ndimage.binary_fill_holes(mask))
    np.testing.assert_array_equal(mask, before)
    cavities = filled & ~mask
    assert (count, voxels) == (ndimage.label(cavities)[1], np.count_nonzero(cavities))
    assert filled is mask or count


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda mask: mask[::-1, :, ::2]])
def test_any_layout_in_memory_is_labelled(layout):
    mask = layout(np.random.default_rng(0).random((9, 8, 10)) < 0.4)
    np.testing.assert_array_equal(labels.label_components(mask)[0], ndimage.label(mask, CUBE)[0])


@pytest.mark.parametrize(
    "work",
    [
        labels.label_components,
        labels.fill_cavities,
        topology.euler_characteristic,
        lambda mask, progress: distances.distance_to_outside(mask, SPACING, progress),
    ],
)
def test_the_callback_cancels(work):
    with pytest.raises(Cancelled):
        work(np.ones((3, 3, 3), bool), progress=CANCEL)


# ---- distances


@given(random_solids())
@settings(max_examples=30)
def test_distances_are_those_of_scipy(block):
    mask = padded(block) * np.uint8(7)  # one object, whatever its value
    expected = ndimage.distance_transform_edt(mask, sampling=SPACING)
    depth = distances.distance_to_outside(mask, SPACING)
    assert depth.dtype == np.float32
    np.testing.assert_allclose(depth, expected, atol=1e-5)
    neighbours = np.stack([np.roll(depth, step, (0, 1, 2)) for step in distances.STEPS])
    ridge = depth[(depth > 0) & (depth >= neighbours.max(axis=0))]
    np.testing.assert_array_equal(np.sort(distances.ridge_depths(depth)), np.sort(ridge))
    voxels = np.arange(depth.size)
    order = distances.removal_order(depth, voxels).reshape(depth.shape)
    mean = ndimage.uniform_filter(depth.astype(float), 3)
    np.testing.assert_allclose(order, np.where(mask, (depth + mean) / 2, 0), atol=1e-5)


def test_distances_along_go_round_corners():
    mask = np.zeros((3, 7, 7), np.uint8)
    mask[1, 1, 1:6] = mask[1, 1:6, 5] = 1
    source = np.ravel_multi_index((1, 1, 1), mask.shape)
    found = distances.geodesic_distance(mask, np.array([source]), (1, 1, 1))
    length = 3 + np.sqrt(2) + 3
    assert found[1, 5, 5] * distances.unit_of((1, 1, 1)) == pytest.approx(length, abs=0.1)
    assert found[1, 5, 1] == -1


@given(mask=random_solids(), seed=strategies.integers(0, 10**6))
@settings(max_examples=30)
def test_distances_along_are_the_shortest(mask, seed):
    """By Dijkstra's algorithm of scipy; and so after more sources."""
    mask = padded(mask)
    solid = np.flatnonzero(mask)
    sources = np.random.default_rng(seed).permutation(solid)[:4]
    offsets, weights = distances.neighbour_steps(mask.shape, SPACING)
    others = solid[:, None] + offsets
    inside = mask.reshape(-1)[others] > 0
    number = np.full(mask.size, -1)
    number[solid] = np.arange(len(solid))
    edges = number[others[inside]], np.nonzero(inside)[0]
    graph = csr_array((np.broadcast_to(weights, others.shape)[inside], edges), [len(solid)] * 2)
    expected = dijkstra(graph, indices=number[sources], min_only=True)
    expected[np.isinf(expected)] = -1
    found = distances.geodesic_distance(mask, sources, SPACING)
    assert (found.reshape(-1)[solid] == expected).all()
    assert (found[mask == 0] == -1).all()
    one_by_one = distances.geodesic_distance(mask, sources[:1], SPACING)
    for n in range(2, len(sources) + 1):
        distances.add_sources(one_by_one, sources[:n], SPACING)
    reached = one_by_one >= 0  # pieces without the first source are not
    assert (one_by_one[reached] == found[reached]).all()


def test_many_distances_wait_at_a_time():
    mask = padded(np.ones((30, 31, 32), bool))
    source = np.array([np.ravel_multi_index((15, 15, 15), mask.shape)])
    found = distances.geodesic_distance(mask, source, (1, 1, 1))
    steps = np.sort(np.abs(np.argwhere(mask) - 15), axis=1) @ (
        np.rint(np.sqrt([3, 2, 1]) * 16).astype(int) @ np.array([[1, 0, 0], [-1, 1, 0], [0, -1, 1]])
    )
    np.testing.assert_array_equal(found[mask > 0], steps)


# ---- topology


@given(MASKS)
def test_euler_characteristics_are_those_of_scikit_image(mask):
    expected = euler_number(mask, 3)
    assert topology.euler_characteristic(mask) == expected
    assert topology.cycle_count(mask) == ndimage.label(mask, CUBE)[1] - expected


def test_a_simple_point_leaves_components_tunnels_and_cavities():
    """By the Euler characteristic and the components of the block, of object and background."""
    rng = np.random.default_rng(5)
    for density in rng.random(400):
        block = rng.random((3, 3, 3)) < density
        block[1, 1, 1] = False
        bits = int((block.reshape(-1) << np.arange(27)).sum())
        with_it = block.copy()
        with_it[1, 1, 1] = True
        same = euler_number(np.pad(with_it, 1), 3) == euler_number(np.pad(block, 1), 3)
        one = ndimage.label(block, CUBE)[1] == 1
        cross = ndimage.generate_binary_structure(3, 2)
        around = ndimage.label(~block & cross & (np.indices((3, 3, 3)) != 1).any(axis=0))[0]
        faces = around[ndimage.generate_binary_structure(3, 1)]
        simple = one and len(set(faces[faces > 0])) == 1
        assert topology.is_simple(bits) == simple
        assert same or not simple
