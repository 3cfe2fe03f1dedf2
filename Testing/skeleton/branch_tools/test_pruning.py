"""Pruning as a list of steps; joining what is left."""

import json

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib.branch_tools import PruneStep, pruned
from support.trees import closed_ring, fork, random_tree, ring_with_handle, skeleton_of, straight


def comb():
    """A trunk of 60 mm and radius 3 along K, with teeth of 2, 5 and 12 mm after 15, 30 and 45."""
    parts = [straight((15 * n, 0, 0), (15 * n + 15, 0, 0), 3, 3) for n in range(4)]
    for n, length in ((1, 2), (2, 5), (3, 12)):
        parts.append(straight((15 * n, 0, 0), (15 * n, length, 0), 1, 1, 10))
    return skeleton_of(parts)


def lengths(skeleton):
    return sorted(round(skeleton.length(branch)) for branch in skeleton.branches)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (PruneStep("length", 1), [2, 5, 12, 15, 15, 15, 15]),
        (PruneStep("length", 3), [5, 12, 15, 15, 30]),
        (PruneStep("length", 8), [12, 15, 45]),
        (PruneStep("length", 1000), [60]),
        (PruneStep("radius", 2), [60]),
        (PruneStep("radius", 1), [2, 5, 12, 15, 15, 15, 15]),
        (PruneStep("spur ratio", 2), [12, 15, 45]),
        (PruneStep("generation", 0), [15]),
        (PruneStep("generation", 1), [2, 15, 15]),
    ],
)
def test_each_kind_of_step(step, expected):
    smaller, origins = pruned(comb(), [step], roots=[0])
    assert lengths(smaller) == expected
    for branch, origin in zip(smaller.branches, origins):
        assert sum(comb().length(comb().branches[n]) for n in origin) == pytest.approx(
            smaller.length(branch)
        )


def test_steps_follow_each_other_and_can_be_stored():
    steps = [PruneStep("spur ratio", 1), PruneStep("length", 8)]
    stored = json.dumps([step.to_dict() for step in steps])
    again = [PruneStep.from_dict(each) for each in json.loads(stored)]
    assert again == steps
    first, second = pruned(comb(), steps)[0], pruned(comb(), again)[0]
    assert lengths(first) == lengths(second) == [12, 15, 45]


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_is_a_tree_with_the_same_root(seed):
    skeleton = random_tree(seed)
    smaller, origins = pruned(skeleton, [PruneStep("radius", 2.0)], roots=[0])
    assert (smaller.nodes[smaller.roots([0])[0]].position == skeleton.nodes[0].position).all()
    degree = np.bincount([n for b in smaller.branches for n in (b.start, b.end)])
    for node, count in zip(smaller.nodes, degree, strict=True):
        assert (node.kind == "end") == (count == 1)
        assert count != 2
    for branch in smaller.branches:
        np.testing.assert_array_equal(branch.points[0], smaller.nodes[branch.start].position)
        np.testing.assert_array_equal(branch.points[-1], smaller.nodes[branch.end].position)
    flat = [n for origin in origins for n in origin]
    assert len(flat) == len(set(flat))


def test_loops_stay():
    smaller, _ = pruned(ring_with_handle(), [PruneStep("length", 30)], roots=[0])
    assert len(smaller.branches) == 2  # the loop is one closed branch at the root's own
    assert [node.kind for node in smaller.nodes].count("end") == 1
    assert len(pruned(closed_ring(), [PruneStep("length", 1e6)])[0].branches) == 1


def test_nothing_to_cut_leaves_the_skeleton_as_it_is():
    skeleton = fork()
    assert pruned(skeleton, []) == (skeleton, [[0], [1], [2]])
    assert pruned(skeleton, [PruneStep("length", 0)])[0] is skeleton


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PruneStep("volume", 1), "'volume' is unknown: use length"),
        (lambda: PruneStep("length", -1), "from 0 up, not -1"),
        (lambda: PruneStep("length", float("nan")), "from 0 up"),
        (lambda: PruneStep.from_dict({"kind": "length"}), "needs a kind and a value"),
        (lambda: pruned(fork(), [], roots=[9]), "Root 9 is no node"),
    ],
)
def test_bad_steps_are_told(make, message):
    with pytest.raises(InputError, match=message):
        make()
