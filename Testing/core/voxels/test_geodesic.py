"""Distances along an object are the shortest."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from FuzzyVesselCoreLib.voxels.distance import geodesic, geodesic_sweeps
from FuzzyVesselCoreLib.voxels.distance.geodesic import (
    add_sources,
    geodesic_distance,
    neighbour_steps,
    unit_of,
)
from support.solids import random_solids


def padded(block):
    return np.pad(block, 1).astype(np.uint8)


def test_distances_along_go_round_corners():
    mask = np.zeros((3, 7, 7), np.uint8)
    mask[1, 1, 1:6] = mask[1, 1:6, 5] = 1
    source = np.ravel_multi_index((1, 1, 1), mask.shape)
    distances = geodesic_distance(mask, np.array([source]), (1, 1, 1))
    assert distances[1, 5, 5] * unit_of((1, 1, 1)) == pytest.approx(3 + np.sqrt(2) + 3, abs=0.1)
    assert distances[1, 5, 1] == -1


@pytest.mark.parametrize("sweeps", [0, 1, 100])
@given(mask=random_solids(), seed=strategies.integers(0, 10**6))
@settings(max_examples=20)
def test_distances_along_are_the_shortest(sweeps, mask, seed):
    """As far as from the nearest source, by another program; and so after more sources.

    By the queue alone, by the queue after sweeps that did not suffice, and by sweeps alone.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(geodesic_sweeps, "MAX_SWEEPS", sweeps)
        patch.setattr(geodesic, "SWEEP_MIN_VOXELS", 0 if sweeps else np.inf)
        patch.setattr(geodesic, "SWEEP_MIN_SHARE", 0)
        check_distances(padded(mask), seed)


def check_distances(mask, seed):
    spacing = (2.3, 0.4, 1.0)
    object_ = np.flatnonzero(mask)
    sources = np.random.default_rng(seed).permutation(object_)[:4]
    offsets, weights = neighbour_steps(mask.shape, spacing)
    others = object_[:, None] + offsets
    inside = mask.reshape(-1)[others] > 0
    number = np.full(mask.size, -1)
    number[object_] = np.arange(len(object_))
    edges = number[others[inside]], np.nonzero(inside)[0]
    graph = csr_array((np.broadcast_to(weights, others.shape)[inside], edges), [len(object_)] * 2)
    expected = dijkstra(graph, indices=number[sources], min_only=True)
    expected[np.isinf(expected)] = -1
    distances = geodesic_distance(mask, sources, spacing)
    assert (distances.reshape(-1)[object_] == expected).all()
    assert (distances[mask == 0] == -1).all()
    one_by_one = geodesic_distance(mask, sources[:1], spacing)
    for n in range(2, len(sources) + 1):
        add_sources(one_by_one, sources[:n], spacing)
    reached = one_by_one >= 0  # pieces without the first source are not
    assert (one_by_one[reached] == distances[reached]).all()
