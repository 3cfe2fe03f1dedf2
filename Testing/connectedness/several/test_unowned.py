"""Voxels that no vessel has: to the vessel fewest steps away, by a graph and step by step."""

import itertools

import numpy as np
import pytest

from FuzzyConnectedGPULib.relative.groups import DISPUTED, NOBODY
from FuzzyConnectedGPULib.several.unowned import _share, share_listed, share_unowned
from FuzzyVesselCoreLib.progress import Progress

STEPS = [step for step in itertools.product((-1, 0, 1), repeat=3) if any(step)]

# Of nobody's voxels, those of three vessels, and disputed ones.
PARTS = [(0.96, 0.01, 0.01, 0.01, 0.01), (0.5, 0.2, 0.1, 0.1, 0.1), (0.99, 0.005, 0.005, 0, 0)]


def by_rounds(owners, domain):
    """By definition: round after round, the free voxels beside those of the round before."""
    found = np.where(np.pad(domain, 1), np.pad(owners, 1), NOBODY).astype(np.uint8)
    free = np.pad(domain, 1) & (found == NOBODY)
    givers = (found != NOBODY) & (found != DISPUTED)
    while givers.any():
        reached = {}
        for at in np.argwhere(free & (found == NOBODY)):
            near = [tuple(at + step) for step in STEPS]
            owners_near = {int(found[each]) for each in near if givers[each]}
            if owners_near:
                reached[tuple(at)] = owners_near.pop() if len(owners_near) == 1 else DISPUTED
        givers = np.zeros(found.shape, bool)
        for at, owner in reached.items():
            found[at], givers[at] = owner, True
    return found[1:-1, 1:-1, 1:-1]


def test_a_row_of_voxels():
    owners = np.array([[[1, 0, 0, 0, 2, 0, 255, 0, 0]]], np.uint8)
    domain = np.array([[[1, 1, 1, 1, 1, 1, 1, 1, 0]]], bool)
    shared = share_unowned(owners, domain, Progress())
    assert shared.ravel().tolist() == [1, 1, DISPUTED, 2, 2, 2, DISPUTED, 0, 0]


@pytest.mark.parametrize("seed", range(12))
def test_random_volumes_by_definition(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, (9, 12, 80)))
    owners = rng.choice(np.array([NOBODY, 1, 2, 3, DISPUTED], np.uint8), shape, p=PARTS[seed % 3])
    domain = rng.random(shape) < 0.7
    before = owners.copy()
    shared = share_unowned(owners, domain, Progress())
    np.testing.assert_array_equal(shared, by_rounds(owners, domain))
    np.testing.assert_array_equal(owners, before)


def test_lists_may_name_a_voxel_twice_and_leave_the_bits_empty():
    owners = np.zeros((3, 4, 70), np.uint8)
    owners[1, 1, 0], owners[1, 1, 69] = 1, 2
    wanted = share_unowned(owners, np.ones(owners.shape, bool), Progress())
    voxels = np.flatnonzero(owners == NOBODY)
    bits = np.zeros(-(-owners.size // 64), np.uint64)
    order = np.random.default_rng(1).permutation(np.concatenate([voxels, voxels[::3]]))
    share_listed(order, owners, bits, Progress())
    np.testing.assert_array_equal(owners, wanted)
    assert {1, 2} <= set(owners.ravel().tolist())
    assert not bits.any()


def test_when_stopped_the_bits_are_empty_too():
    owners = np.zeros((2, 3, 70), np.uint8)
    owners[0, 0, 0] = 1
    bits = np.zeros(-(-owners.size // 64), np.uint64)
    voxels = np.flatnonzero(owners == NOBODY)
    _share(voxels, owners.reshape(-1), np.array(owners.shape), bits, np.ones(1, np.uint8))
    assert not bits.any()
    assert 1 < np.count_nonzero(owners) < owners.size
