"""Masks, components, distances and topology against scipy, scikit-image and brute force."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from hypothesis.extra.numpy import arrays
from scipy import ndimage
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from skimage.measure import euler_number

from FuzzyVesselCoreLib.voxels import distances, masks, topology
from support.solids import random_solids

SHAPES = strategies.tuples(*[strategies.integers(1, 9)] * 3)
MASKS = arrays(bool, SHAPES, elements=strategies.integers(0, 1).map(bool))
CUBE = np.ones((3, 3, 3), bool)
SPACING = (2.3, 0.4, 1.0)


def padded(block):
    return np.pad(block, 1).astype(np.uint8)


# ---- masks


# ---- components


@pytest.mark.parametrize(("connectivity", "structure"), [(6, None), (26, CUBE)])
@given(mask=MASKS)
def test_labels_are_those_of_scipy(connectivity, structure, mask):
    expected, count = ndimage.label(mask, structure)
    found, components = masks.label_components(mask, connectivity)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, expected)
    assert components == count == masks.count_components(mask, connectivity)
    assert masks.component_boxes(found, count) == ndimage.find_objects(expected)
    sizes = masks.component_sizes(found, count)
    assert sizes.tolist() == [np.count_nonzero(expected == n) for n in range(count + 1)]


@given(MASKS)
def test_cavities_are_filled(mask):
    before = mask.copy()
    filled, count, voxels = masks.fill_cavities(mask)
    np.testing.assert_array_equal(filled, ndimage.binary_fill_holes(mask))
    np.testing.assert_array_equal(mask, before)
    cavities = filled & ~mask
    assert (count, voxels) == (ndimage.label(cavities)[1], np.count_nonzero(cavities))
    assert filled is mask or count


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
        distances.geodesic_distance(mask, sources[:n], SPACING, known=one_by_one)
    reached = one_by_one >= 0  # pieces without the first source are not
    assert (one_by_one[reached] == found[reached]).all()


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
