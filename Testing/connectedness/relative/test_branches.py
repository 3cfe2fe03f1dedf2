"""Branches and hand-overs: against the definition, by another algorithm on small volumes."""

import heapq
import itertools

import numpy as np
import pytest

from FuzzyConnectedGPULib.relative.branches import HandOver, apply_hand_overs, branch_of

STEPS = [step for step in itertools.product((-1, 0, 1), repeat=3) if any(step)]
SPACINGS = [(1.0, 1.0, 1.0), (2.5, 0.7, 0.7)]


def neighbours(voxel, inside):
    for step in STEPS:
        other = tuple(int(a + b) for a, b in zip(voxel, step))
        if other in inside:
            yield other, step


def lengths(inside, sources, spacing):
    """Dijkstra's distances by a heap, in units of 1/16 of the smallest spacing."""
    unit = min(spacing) / 16
    heap = [(0, source) for source in sources]
    found = dict.fromkeys(sources, 0)
    while heap:
        length, voxel = heapq.heappop(heap)
        if length > found[voxel]:
            continue
        for other, step in neighbours(voxel, inside):
            size = np.sqrt(sum((a * b) ** 2 for a, b in zip(step, spacing)))
            there = length + round(size / unit)
            if there < found.get(other, np.inf):
                found[other] = there
                heapq.heappush(heap, (there, other))
    return found


def branch_by_definition(vessel, points, voxel, spacing):
    inside = set(map(tuple, np.argwhere(vessel).tolist()))
    found = lengths(inside, [p for p in map(tuple, points) if p in inside], spacing)
    least = found.get(voxel, np.inf)
    beyond = {v for v in inside if found.get(v, np.inf) >= least}
    branch, waiting = {voxel}, [voxel]
    while waiting:
        for other, _ in neighbours(waiting.pop(), beyond):
            if other not in branch:
                branch.add(other)
                waiting.append(other)
    return branch


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
        wanted = branch_by_definition(vessel, points.tolist(), voxel, spacing)
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
