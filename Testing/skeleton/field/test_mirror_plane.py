"""Components one voxel thick: the force across them is 0, whichever method sums it."""

import numpy as np
import pytest

from emulators.cuda import what_is_missing
from PotentialSkeletonLib import force_field, skeletonize
from support.played_card import PlayedCard, installed

if what_is_missing():
    pytest.skip(what_is_missing(), allow_module_level=True)


def flat(rows, width, axis):
    return np.ones(np.insert((rows, width), axis, 1), bool)


def spread():
    """A sheet with a hole and a notch, which does not fill its box."""
    mask = flat(18, 23, 1)
    mask[4:9, 0, 12:] = mask[12:15, 0, 5:8] = False
    return mask


SHEETS = {  # where rounding decides on the critical points, some of them differ by a voxel
    "16 x 18": flat(16, 18, 0),
    "15 x 19": flat(15, 19, 1),
    "16 x 19": flat(16, 19, 2),
    "14 x 18": flat(14, 18, 0),
    "row": flat(1, 40, 2),
    "notched": spread(),
}


@pytest.mark.parametrize("distance", [2, 3])
@pytest.mark.parametrize("method", ["direct-serial", "fft"])
def test_no_force_goes_across_and_other_forces_stay(method, distance):
    axis = 1
    mask = np.pad(spread(), 1)
    field = force_field(mask, method=method, charge_distance=distance, device="cpu")
    plane = field.vectors.take(1, axis)
    assert not plane[..., axis].any()
    assert np.count_nonzero(plane.any(axis=-1)) >= mask.sum()
    beside = field.vectors.take(0, axis)[..., axis]
    assert beside.any() == (distance == 3)  # then voxels beside the plane have sums of their own
    assert (beside >= 0).all()  # towards the plane


@pytest.mark.parametrize("name", SHEETS)
def test_a_card_gives_the_critical_points_and_voxels_of_the_cpu(name):
    with installed(PlayedCard()):
        on_card = skeletonize(SHEETS[name], device="cuda")
    on_cpu = skeletonize(SHEETS[name], device="cpu")
    assert np.array_equal(on_card.voxels, on_cpu.voxels)
    assert on_card.report["index_sums"] == on_cpu.report["index_sums"]
    assert len(on_card.critical_points) == len(on_cpu.critical_points)


@pytest.mark.gpu
@pytest.mark.parametrize("name", SHEETS)
def test_a_real_card_does_the_same(name):
    on_card = skeletonize(SHEETS[name], device="cuda")
    on_cpu = skeletonize(SHEETS[name], device="cpu")
    assert np.array_equal(on_card.voxels, on_cpu.voxels)
    assert len(on_card.critical_points) == len(on_cpu.critical_points)
