"""Random volumes with groups of points, and whether relative connectedness is as defined there."""

import numpy as np

from FuzzyConnectedGPULib import relative_connectedness
from FuzzyConnectedGPULib.input_validation import checked_volume
from FuzzyConnectedGPULib.problem import as_solver_voxels, level_of_cut

from .relative_definition import POINT, Graph, owners_of
from .widest_paths import grid_pairs

SEVERAL = 255


def graph_of(volume, affinity, cut=0.0, mask=None):
    """The graph of a volume's edges, of at least the cut and within the mask."""
    voxels = as_solver_voxels(checked_volume(volume)).ravel()
    first, second = grid_pairs(volume.shape)
    levels = affinity.levels(voxels[first], voxels[second]).astype(int)
    levels[levels < level_of_cut(cut)] = 0
    if mask is not None:
        levels[(mask.ravel()[first] == 0) | (mask.ravel()[second] == 0)] = 0
    return Graph(first, second, levels, voxels.size)


def random_groups(random, shape, count, most_points):
    """Groups of points on different voxels, (n, 3) each."""
    size = int(np.prod(shape))
    count = min(count, size)
    sizes = random.integers(1, most_points + 1, count)
    sizes = np.minimum(sizes, size // count)
    points = random.permutation(size)[: sizes.sum()]
    points = np.stack(np.unravel_index(points, shape), 1)
    return np.split(points, np.cumsum(sizes)[:-1])


def random_volume(random):
    """Few intensities, so that most levels are equal; often one voxel wide along an axis."""
    shape = tuple(int(random.choice([1, 2, 3, 4, 7])) for _ in range(3))
    values = random.choice([80, 90, 100, 100, 110, 125], random.integers(1, 5))
    return random.choice(values, shape).astype(np.int16)


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
        owners = owners_of(values, has, SEVERAL)
        np.testing.assert_array_equal(found.labels.ravel(), np.where(owners == SEVERAL, 0, owners))
        np.testing.assert_array_equal(found.disputed.ravel(), owners == SEVERAL)
        np.testing.assert_array_equal(found.strength.ravel(), strength)
        several.append(int(found.disputed.sum()))
    return several


def graph_of_voxels(capacities):
    """The graph of all 26-neighbours, whose edges have the lower level of their voxels."""
    places = np.argwhere(np.ones(capacities.shape, bool))
    apart = np.abs(places[:, np.newaxis] - places[np.newaxis]).max(-1)
    first, second = np.nonzero(np.triu(apart == 1))
    flat = capacities.ravel().astype(int)
    return Graph(first, second, np.minimum(flat[first], flat[second]), flat.size)
