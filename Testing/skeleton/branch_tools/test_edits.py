"""Corrections by a place, and lists of steps that are stored and replayed."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib.branch_tools import (
    Edit,
    PruneStep,
    edited,
    pruned,
    replayed,
    steps_of_text,
    steps_text,
)
from support.trees import closed_ring, fork, random_tree, ring_with_handle, skeleton_of, straight


def length_of(skeleton):
    return sum(skeleton.to_table()["length_mm"])


def check(skeleton):
    """Branches end at their nodes, kinds are those of the degrees, components are connected."""
    ends = [node for branch in skeleton.branches for node in (branch.start, branch.end)]
    for branch in skeleton.branches:
        for node, at in ((branch.start, 0), (branch.end, -1)):
            assert skeleton.nodes[node].position == pytest.approx(branch.points[at])
            assert skeleton.nodes[node].component == branch.component
    for number, node in enumerate(skeleton.nodes):
        degree = ends.count(number)
        assert (node.kind == "end") == (degree == 1)
        assert degree != 2 or node.kind == "loop"
    parts = skeleton.to_networkx()
    import networkx

    assert networkx.number_connected_components(parts) == len({n.component for n in skeleton.nodes})


def test_a_cut_loses_no_length_and_makes_two_trees():
    pytest.importorskip("networkx")
    tree = fork()
    after, origins = edited(tree, Edit("cut", (40, 58, 50)))
    check(after)
    assert length_of(after) == pytest.approx(length_of(tree))
    assert len(after.branches) == 4
    assert sorted(map(tuple, origins)) == [(0,), (1,), (1,), (2,)]
    assert len({node.component for node in after.nodes}) == 2


def test_a_cut_at_a_junction_takes_one_branch_off_it():
    pytest.importorskip("networkx")
    after, _ = edited(fork(), Edit("cut", (31, 50.8, 50)))
    check(after)
    assert len({node.component for node in after.nodes}) == 2


def test_a_cut_opens_a_loop_and_leaves_one_tree():
    pytest.importorskip("networkx")
    for loop, place in ((ring_with_handle(), (40, 60, 40)), (closed_ring(), (10, 30, 5))):
        after, _ = edited(loop, Edit("cut", place))
        check(after)
        assert len({node.component for node in after.nodes}) == 1
        assert len(after.branches) == len(after.nodes) - 1
        assert length_of(after) == pytest.approx(length_of(loop))


def test_a_branch_is_removed_and_its_neighbours_become_one():
    pytest.importorskip("networkx")
    after, origins = edited(fork(), Edit("remove", (45, 62, 50)))
    check(after)
    assert origins == [[0, 2]]


def test_the_last_branch_can_be_removed():
    after, origins = edited(
        skeleton_of([straight((0, 0, 0), (9, 0, 0), 1, 1)]), Edit("remove", (5, 0, 0))
    )
    assert (after.branches, origins) == ([], [])


def test_a_bridge_to_the_middle_of_a_branch_makes_a_junction():
    pytest.importorskip("networkx")
    apart = skeleton_of(
        [straight((0, 0, 0), (40, 0, 0), 2, 2), straight((20, 6, 0), (20, 30, 0), 1, 1)]
    )
    after, origins = edited(apart, Edit("bridge", (20, 3, 0)))
    check(after)
    assert sorted(map(tuple, origins)) == [(0,), (0,), (1,)]
    assert length_of(after) == pytest.approx(length_of(apart) + 6)


def test_a_bridge_joins_what_a_cut_has_parted():
    tree = random_tree(5)
    branch = tree.branches[3]
    middle = branch.points[len(branch.points) // 2]
    parted, _ = edited(tree, Edit("cut", middle))
    whole, _ = edited(parted, Edit("bridge", middle))
    assert length_of(whole) == pytest.approx(length_of(tree))
    assert len(whole.branches) == len(tree.branches)


def test_corrections_that_cannot_be_done_are_said():
    tree = fork()
    empty, _ = edited(
        skeleton_of([straight((0, 0, 0), (9, 0, 0), 1, 1)]), Edit("remove", (5, 0, 0))
    )
    for act, message in (
        (lambda: Edit("turn", (0, 0, 0)), "is unknown"),
        (lambda: Edit("cut", (0, 0)), "three finite numbers"),
        (lambda: Edit("cut", (0, 0, np.inf)), "three finite numbers"),
        (lambda: edited(tree, Edit("cut", (0, 0, 500))), "away from the tree"),
        (lambda: edited(tree, Edit("bridge", (30, 50, 50))), "one tree only"),
        (lambda: edited(closed_ring(), Edit("bridge", (30, 50, 5))), "no end"),
        (lambda: edited(empty, Edit("cut", (5, 0, 0))), "no branch"),
    ):
        with pytest.raises(InputError, match=message):
            act()


def test_steps_are_the_same_after_they_were_stored():
    steps = [PruneStep("length", 3), Edit("cut", (1.25, 2, 3)), PruneStep("spur ratio", 0.5)]
    assert steps_of_text(steps_text(steps)) == steps
    for text, message in (
        ("", "no list of steps"),
        ("{}", "no list of steps"),
        ("[1]", "no list of steps"),
        ('[{"kind": "length"}]', "kind and a value"),
        ('[{"kind": "width", "value": 1}]', "is unknown"),
        ('[{"kind": "cut", "point": [1, 2]}]', "three finite numbers"),
    ):
        with pytest.raises(InputError, match=message):
            steps_of_text(text)


@pytest.mark.parametrize("seed", range(6))
def test_replayed_steps_are_the_steps_one_after_the_other(seed):
    tree = random_tree(seed, levels=4)
    median = float(np.median(tree.to_table()["length_mm"]))
    steps = [PruneStep("generation", 3), PruneStep("length", median), PruneStep("radius", 1.2)]
    after, origins = replayed(tree, steps)
    expected = tree
    for step in steps:
        expected, _ = pruned(expected, [step])
    assert after.to_table() == expected.to_table()
    for branch, parts in zip(after.branches, origins, strict=True):
        assert len(branch.points) == sum(len(tree.branches[n].points) - 1 for n in parts) + 1
