"""Fields whose near part is summed directly and whose far part is convolved, on the CPU."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components.labels import label_components
from PotentialSkeletonLib import force_field
from PotentialSkeletonLib.field.convolution.cpu_transforms import CpuTransforms
from PotentialSkeletonLib.field.methods import automatic, direct_serial, split_convolution
from PotentialSkeletonLib.field.near import near_pairs
from PotentialSkeletonLib.field.near.kernel_split import BAND, REACH, near_powers
from PotentialSkeletonLib.field.solid import solids
from support.solid_shapes import ball


@pytest.fixture(scope="module")
def branches():
    """A trunk of 23 voxels and thinner branches to the ends of a wide, flat box."""
    k, j, i = np.indices((30, 132, 140))
    trunk = np.hypot(k - 15, j - 66 - 8 * np.sin(i / 20)) <= 4 + 7 * (abs(i - 70) < 12)
    across = np.hypot(k - 12 - j // 40, i - 40 - j // 4) <= 3.5
    return trunk | across


def solid_of(mask):
    [(_, solid)] = solids(label_components(mask)[0], charge_distance=0)
    return solid


def split_sum(solid, strength, progress=None):
    vectors = np.zeros((*solid.classes.shape, 3))
    split_convolution.sum_forces(solid, strength, vectors, Progress.of(progress))
    return vectors


@pytest.mark.parametrize("strength", [6, 9])
def test_the_sum_is_that_of_all_charges(branches, strength):
    solid = solid_of(branches)
    targets = solid.positions(solid.targets)
    exact = direct_serial.sum_at(targets, solid.charges, strength, Progress())
    error = np.linalg.norm(split_sum(solid, strength)[tuple(targets.T)] - exact, axis=1)
    assert (error < 1e-6 * np.linalg.norm(exact, axis=1)).all()


def test_the_far_part_needs_few_frequencies(branches, monkeypatch):
    solid, strength = solid_of(branches), 6
    assert BAND < 0.5
    targets = solid.positions(solid.targets)
    exact = direct_serial.sum_at(targets, solid.charges, strength, Progress())
    monkeypatch.setattr(split_convolution, "BAND", 0.7 * BAND)
    error = np.linalg.norm(split_sum(solid, strength)[tuple(targets.T)] - exact, axis=1)
    assert error.max() > 1e-5 * np.linalg.norm(exact, axis=1).min()


def test_parts_give_the_same(branches, monkeypatch):
    solid = solid_of(branches)
    whole = split_sum(solid, 6)
    monkeypatch.setattr(CpuTransforms, "group", 1 << 14)
    monkeypatch.setattr(near_pairs, "BLOCKS_PER_SLICE", 100)
    np.testing.assert_allclose(split_sum(solid, 6), whole, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("exponent", [3, 7, 10])
def test_the_near_part_goes_from_all_of_the_power_to_nothing(exponent):
    near = near_powers(exponent)
    whole = np.arange(1, len(near)) ** (-exponent / 2)
    share = near[1:] / whole
    assert share[0] > 0.99
    assert (np.diff(share) < 0).all()
    assert near[0] == near[-1] == 0
    assert len(near) == REACH**2 + 1


@pytest.mark.parametrize("block", [(3, 3, 6), (1, 2, 40)])
def test_near_pairs_are_those_within_reach(block, monkeypatch):
    monkeypatch.setattr(near_pairs, "BLOCK", block)
    shape, random = (25, 40, 61), np.random.default_rng(0)
    voxels = np.stack(np.unravel_index(random.permutation(np.prod(shape))[:900], shape), axis=1)
    targets, charges = voxels[:300].astype(np.int32), voxels[300:].astype(np.int32)
    powers = np.append(near_powers(7), np.zeros(sum(n * n for n in shape)))
    offsets = targets[:, None] - charges
    expected = offsets * powers[(offsets**2).sum(axis=2)][..., None]
    found = near_pairs.near_forces(targets, charges, shape, near_powers(7), Progress())
    np.testing.assert_allclose(found, expected.sum(axis=1), rtol=1e-10, atol=1e-16)


def test_about_as_many_pairs_are_near_as_estimated(branches):
    solid = solid_of(branches)
    some = solid.positions(solid.targets)[::50]
    squared = ((some[:, None] - solid.charges) ** 2).sum(axis=2)
    pairs = (squared < REACH**2).mean() * solid.targets.sum() * solid.charge_count
    assert 0.5 * pairs < split_convolution.near_pairs(solid) < 2 * pairs


def test_auto_splits_where_it_is_exact_and_faster(branches, monkeypatch):
    split = []
    monkeypatch.setattr(automatic, "PAIRS_PER_VOXEL_ON_CPU", 12)  # a small object of one branch
    monkeypatch.setattr(
        split_convolution, "sum_forces", lambda solid, *_: split.append(solid.classes.shape)
    )

    def is_split(mask, strength=9):
        split.clear()
        solid = solid_of(mask)
        vectors = np.zeros((*solid.classes.shape, 3), np.float32)
        automatic.sum_forces(solid, strength, vectors, Progress())
        return bool(split)

    assert is_split(branches)
    assert not is_split(branches, 6)  # the kernel is not weak at the ends of the box
    assert not is_split(branches[:, :80])
    plates = [np.ones((depth, 197, 197), bool) for depth in (22, 26, 40)]
    monkeypatch.setattr(split_convolution, "PAIRS_PER_NEAR_PAIR", 0.0)
    # In the last forces are faint, and at strength 9 in the second, too.
    assert [is_split(plate, 6) for plate in plates] == [True, True, False]
    assert [is_split(plate) for plate in plates[:2]] == [True, False]
    monkeypatch.setattr(split_convolution, "PAIRS_PER_NEAR_PAIR", 1e9)
    assert not is_split(branches)


def test_forces_in_a_ball_are_exact_or_it_is_convolved_as_a_whole():
    """At strength 9 those in the middle of the larger one are 1e-5 of those at its surface."""
    offsets = np.indices((52, 52, 52)) - np.array([25.8, 25.6, 26.1])[:, None, None, None]
    away = np.sqrt((offsets**2).sum(axis=0))
    taken = []
    for radius in (15, 24.5):
        mask = np.zeros((52, 90, 90), bool)
        mask[:, 19:71, 19:71] = away <= radius
        mask[25:28, :, 45] = mask[25:28, 45] = True
        solid = solid_of(mask)
        targets = solid.positions(solid.targets)
        middle = targets[np.argsort(np.abs(targets - (26, 45, 45)).max(axis=1))[:300]]
        exact = direct_serial.sum_at(middle, solid.charges, 9, Progress())
        error = np.linalg.norm(split_sum(solid, 9)[tuple(middle.T)] - exact, axis=1)
        is_exact = (error < 1e-6 * np.linalg.norm(exact, axis=1)).all()
        taken.append(split_convolution.is_better(solid, 9, np.inf))
        assert is_exact or not taken[-1]
    assert taken == [True, False]


def test_a_split_field_is_that_of_the_convolution(branches, monkeypatch):
    split = []

    def counted(*args, sum_forces=split_convolution.sum_forces):
        split.append(sum_forces(*args))

    monkeypatch.setattr(split_convolution, "sum_forces", counted)
    monkeypatch.setattr(automatic, "PAIRS_PER_VOXEL_ON_CPU", 12)  # a small object of one branch
    field = force_field(branches, 9, method="auto", device="cpu")
    expected = force_field(branches, 9, method="fft", device="cpu")
    assert split
    np.testing.assert_allclose(field.vectors, expected.vectors, rtol=1e-6, atol=1e-10)


def test_a_split_field_with_an_error_is_not_taken(branches, monkeypatch):
    monkeypatch.setattr(automatic, "PAIRS_PER_VOXEL_ON_CPU", 12)  # a small object of one branch
    monkeypatch.setattr(split_convolution, "WEAK", 1.0)  # nor is the kernel weak at its box's ends
    taken = []

    def looked_at(*args, is_exact=split_convolution.is_exact):
        taken.append(is_exact(*args))
        return taken[-1]

    monkeypatch.setattr(split_convolution, "is_exact", looked_at)
    for strength in (9, 4):
        field = force_field(branches, strength, method="auto", device="cpu")
    assert taken == [True, False]
    expected = force_field(branches, 4, method="fft", device="cpu")
    np.testing.assert_array_equal(field.vectors, expected.vectors)


def test_it_can_be_cancelled_in_both_parts(branches, monkeypatch):
    monkeypatch.setattr(near_pairs, "BLOCKS_PER_SLICE", 50)
    solid = solid_of(branches)
    for share in (0.0, 0.2, 0.5):
        seen = []
        with pytest.raises(Cancelled):
            split_sum(
                solid, 6, lambda now, share=share, seen=seen: seen.append(now) or now <= share
            )
        assert share < seen[-1] < share + 0.2


def test_small_objects_are_summed_as_before(monkeypatch):
    monkeypatch.delattr(split_convolution, "sum_forces")
    assert force_field(ball(12), device="cpu").method == "fft"
