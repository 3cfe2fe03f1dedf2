"""Islands and tunnels of a segmentation, before its skeleton is taken."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from scipy import ndimage

import support.solids as solids
from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components.labels import fill_cavities
from FuzzyVesselCoreLib.voxels.distance.euclidean import distance_to_outside
from FuzzyVesselCoreLib.voxels.topology.euler import cycle_count
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.object.cleaning import close_tunnels, drop_islands
from PotentialSkeletonLib.object.closing import covered

SPACINGS = [(1.0, 1.0, 1.0), (1.6, 0.7, 0.9), (0.5, 0.5, 3.0)]


def plate_with_hole(sides, thickness, axis):
    """A plate across an axis with a hole of so many voxels in it."""
    mask = np.ones((thickness, *(side + 10 for side in sides)), bool)
    mask[:, 5 : 5 + sides[0], 5 : 5 + sides[1]] = False
    return np.moveaxis(mask, 0, axis)


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("sides", [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (2, 3), (6, 3)])
def test_a_tunnel_closes_from_its_own_width_on(sides, axis, spacing):
    """Even or odd, square or not: the narrower side in mm, and not a hair less."""
    across = [step for n, step in enumerate(spacing) if n != axis]
    width = min(side * step for side, step in zip(sides, across))
    for thickness in (1, 4):
        mask = plate_with_hole(sides, thickness, axis)
        assert close_tunnels(mask, 0.99 * width, spacing)[1] == 0
        closed, tunnels, voxels = close_tunnels(mask, width, spacing)
        assert tunnels == 1
        assert voxels == np.count_nonzero(closed) - np.count_nonzero(mask) == sides[0] * sides[1]


def test_a_width_beyond_all_bounds_closes_every_tunnel():
    mask = plate_with_hole((3, 4), 2, 0)
    assert close_tunnels(mask, 1e300, (1, 1, 1))[1] == 1


@pytest.mark.parametrize("wide", [1, 2, 3, 4])
def test_the_width_is_that_of_skeletonize(wide):
    """In mm by the spacing: 0.4 mm voxels."""
    mask = plate_with_hole((wide, wide), 7, 0)
    for closed, width in ((0, 0.4 * wide - 0.01), (1, 0.4 * wide)):
        report = skeletonize(mask, (0.4, 0.4, 0.4), close_tunnels=width).report
        assert report["tunnels_closed"] == closed
        assert report["object_cycles"] == 1 - closed


def distance_on_half_the_grid(mask, spacing):
    """Distance from the object's boxes at the voxels' centres and at all points between them."""
    halves = np.zeros([2 * n + 1 for n in mask.shape], bool)
    for shift in np.ndindex(3, 3, 3):
        halves[tuple(slice(a, a + 2 * n, 2) for a, n in zip(shift, mask.shape))] |= mask
    return ndimage.distance_transform_edt(~halves, sampling=np.array(spacing) / 2)


@given(
    solids.random_solids(),
    strategies.sampled_from(SPACINGS),
    strategies.sampled_from([0.4, 0.5, 1.0, 1.75, 2.4, 4.0]),
)
@settings(max_examples=40)
def test_covered_voxels_are_those_of_the_definition(mask, spacing, distance):
    mask = np.pad(mask, [(2 + int(distance / step),) * 2 for step in spacing])
    away = distance_to_outside((~mask).view(np.uint8), spacing)
    furthest = ndimage.maximum_filter(distance_on_half_the_grid(mask, spacing), 3)[1::2, 1::2, 1::2]
    expected = furthest <= distance * (1 + 1e-5)
    np.testing.assert_array_equal(covered(mask, away, distance, spacing), expected)


@pytest.mark.parametrize("diameter", [2.5, 4.0, 5.5])
def test_an_oblique_tunnel_closes_at_its_width_or_within_a_voxel_more(diameter):
    """Its width is that of the largest ball that passes between the voxels' faces."""
    places = np.stack(np.indices((18, 22, 22)), axis=-1) - (8.6, 10.3, 10.8)
    along = places @ (0.8, 0.48, -0.36)
    across = np.sqrt((places**2).sum(axis=-1) - along**2)
    mask = (abs(along) < 3.5) & (across < 9) & (across > diameter / 2)
    away = distance_on_half_the_grid(mask, (1, 1, 1))
    width = 0.0
    while cycle_count(fill_cavities(away <= width / 2)[0]):
        width += 0.25
    assert 0.5 < width < diameter
    assert close_tunnels(mask, width - 0.25, (1, 1, 1))[1] == 0
    assert close_tunnels(mask, width + 1, (1, 1, 1))[1] == 1


def test_islands_below_a_size_go_but_the_largest_stays():
    mask = np.zeros((8, 8, 20), bool)
    mask[1:4, 1:4, 1:4] = mask[1:3, 1:3, 8:10] = mask[5, 5, 15] = True
    cleaned, components, voxels = drop_islands(mask, 9)
    assert (components, voxels, np.count_nonzero(cleaned)) == (2, 9, 27)
    cleaned, components, voxels = drop_islands(mask, 1000)
    assert (components, voxels, np.count_nonzero(cleaned)) == (2, 9, 27)
    assert drop_islands(mask, 1)[1:] == (0, 0)


def test_cleaning_can_be_cancelled_at_every_look():
    mask = solids.rough(solids.cube(10), 0.3)
    looks = []
    close_tunnels(mask, 3, (1, 1, 1), Progress(looks.append))
    assert len(looks) > 10

    def cancel_at(last):
        left = iter(range(last))
        return Progress(lambda share: next(left, None) is not None)

    for last in range(len(looks)):
        with pytest.raises(Cancelled):
            close_tunnels(mask, 3, (1, 1, 1), cancel_at(last))
