"""Parts of the graph: smooth branches in the object, neighbours in their order."""

import itertools

import numpy as np

from PotentialSkeletonLib.graph.skeleton_graph import SMOOTHING_PASSES, is_inside, smoothed
from PotentialSkeletonLib.graph.voxel_adjacency import neighbours


def test_points_between_voxels_are_inside_if_all_of_these_are():
    rng = np.random.default_rng(4)
    mask = rng.random((5, 6, 7)) < 0.8
    halves = rng.integers(-2, 14, (4000, 3)) / 2  # on faces, edges, corners, and beyond the mask
    points = np.concatenate([halves, rng.uniform(-1, 7, (1000, 3))])

    def holds(point):
        sides = [{int(np.floor(p + 0.5 - 1e-6)), int(np.floor(p + 0.5 + 1e-6))} for p in point]
        voxels = itertools.product(*sides)
        return all(
            all(0 <= n < size for n, size in zip(voxel, mask.shape)) and mask[voxel]
            for voxel in voxels
        )

    expected = [holds(point) for point in points]
    assert 100 < np.count_nonzero(expected[:4000]) < 3900
    assert is_inside(points, mask).tolist() == expected


def test_each_polyline_is_smoothed_by_itself():
    rng = np.random.default_rng(5)
    lengths = (2, 7, 3, 20)
    points = rng.random((sum(lengths), 3))
    fixed = np.zeros(len(points), bool)
    expected, first = points.copy(), 0
    for length in lengths:
        fixed[[first, first + length - 1]] = True
        for _ in range(SMOOTHING_PASSES):
            before = expected.copy()
            for n in range(first + 1, first + length - 1):
                expected[n] = (before[n - 1] + 2 * before[n] + before[n + 1]) / 4
        first += length
    np.testing.assert_array_equal(smoothed(points, fixed), expected)


def test_neighbours_across_faces_come_before_those_across_edges_and_corners():
    rng = np.random.default_rng(6)
    voxels = np.argwhere(rng.random((6, 7, 8)) < 0.4)
    others, ends = neighbours(voxels)
    steps = sorted(
        (s for s in itertools.product((-1, 0, 1), repeat=3) if any(s)),
        key=lambda s: (sum(map(abs, s)), s),
    )
    places = {voxel: n for n, voxel in enumerate(map(tuple, voxels.tolist()))}
    for voxel, start, end in zip(voxels, [0, *ends], ends):
        around = [tuple((voxel + step).tolist()) for step in steps]
        assert others[start:end].tolist() == [places[at] for at in around if at in places]
