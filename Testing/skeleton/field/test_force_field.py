"""The potential field: every method against the definition, and what the field must be like."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled, InputError
from PotentialSkeletonLib import force_field
from support.solid_shapes import (
    ball,
    box_corner,
    largest_error,
    summed_forces,
    two_components,
    wavy_tube,
)

ONE_COMPONENT = {
    "ball": ball(8),
    "tube": wavy_tube((40, 22, 24)),
    "box corner": box_corner(),
    "touching the border": np.ones((9, 10, 8), bool),
}


@pytest.mark.parametrize("strength", range(2, 10))
@pytest.mark.parametrize("mask", ONE_COMPONENT.values(), ids=ONE_COMPONENT)
@pytest.mark.filterwarnings("ignore:At strength 2")
def test_inner_voxels_have_the_sum_over_all_charges(mask, strength):
    field = force_field(mask, strength)
    assert largest_error(field.vectors, *summed_forces(mask, strength)) < 1e-6


def test_boundary_voxels_have_the_mean_of_their_neighbours():
    mask = wavy_tube((40, 22, 24))
    field = force_field(mask)
    inner = field.classes == 3
    for k, j, i in np.argwhere(field.classes == 2):
        around = slice(k - 1, k + 2), slice(j - 1, j + 2), slice(i - 1, i + 2)
        neighbours = field.vectors[around][inner[around]]
        if len(neighbours):
            expected = neighbours.mean(axis=0)
            np.testing.assert_allclose(field.vectors[k, j, i], expected, rtol=1e-5, atol=1e-8)


def test_thin_places_have_their_own_sum():
    mask = np.zeros((7, 6, 20), bool)
    mask[1:6, 1:5, 1:19] = True  # 5 x 4 voxels across: no inner voxel at all
    field = force_field(mask)
    assert not (field.classes == 3).any()
    point = np.array([2, 2, 9])
    away = point - np.argwhere(field.classes == 1)
    distance = np.linalg.norm(away, axis=1)[:, None]
    np.testing.assert_allclose(field.vectors[2, 2, 9], (away / distance**7).sum(axis=0), rtol=1e-5)


def test_surface_and_outside_have_no_force():
    field = force_field(wavy_tube((40, 22, 24)))
    assert (field.vectors[field.classes <= 1] == 0).all()
    assert (field.vectors[field.classes >= 2] != 0).any(axis=1).all()


def test_a_balls_field_points_inwards_and_vanishes_in_the_centre():
    field = force_field(ball(9))
    centre = np.array(field.classes.shape) // 2
    assert np.abs(field.vectors[tuple(centre)]).max() < 1e-12 * np.abs(field.vectors).max()
    voxels = np.argwhere(field.classes >= 2)
    inwards = (field.vectors[tuple(voxels.T)] * (centre - voxels)).sum(axis=1)
    assert (inwards[(voxels != centre).any(axis=1)] > 0).all()


@pytest.mark.parametrize("axis", range(3))
def test_a_mirrored_object_has_the_mirrored_field(axis):
    mask = box_corner()
    mirrored = np.flip(force_field(np.flip(mask, axis)).vectors, axis).copy()
    mirrored[..., axis] *= -1
    expected = force_field(mask).vectors
    np.testing.assert_allclose(mirrored, expected, atol=1e-12 * np.abs(expected).max(), rtol=1e-6)


def test_components_do_not_act_on_each_other():
    mask = two_components()
    field = force_field(mask)
    for label in (1, 2):
        alone = field.labels == label
        np.testing.assert_array_equal(field.vectors[alone], force_field(alone).vectors[alone])


def test_cavities_are_filled_and_reported():
    mask = ball(8)
    hollow = mask.copy()
    hollow[9, 9, 9:11] = False
    field = force_field(hollow)
    assert field.object[9, 9, 10]
    assert field.notes[0] == "Filled 1 cavity inside the object (2 voxels)."
    np.testing.assert_array_equal(field.vectors, force_field(mask).vectors)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 9, 9), (9, 9)])
def test_what_is_all_surface_has_no_force(shape):
    field = force_field(np.ones(shape))
    assert (field.classes == 1).all()
    assert not field.vectors.any()


def test_charges_are_moved_outward():
    mask = np.zeros((20, 9, 9), bool)
    mask[:, 3:6, 3:6] = True  # too thin for a boundary voxel beside its axis
    moved = force_field(mask, charge_distance=2)
    dilated = np.pad(np.ones((20, 3, 3)), 2)
    dilated[:] = 1
    expected = force_field(dilated)
    np.testing.assert_array_equal(moved.vectors[:, 1:8, 1:8], expected.vectors[2:-2])
    np.testing.assert_array_equal(moved.object, mask)
    assert moved.classes[10, 4, 4] == 3


def test_where_dilated_components_overlap_each_keeps_its_own_voxels():
    mask = two_components()
    field = force_field(mask, charge_distance=3)
    for label in (1, 2):
        alone = field.labels == label
        expected = force_field(alone, charge_distance=3)
        np.testing.assert_array_equal(field.vectors[alone], expected.vectors[alone])
        np.testing.assert_array_equal(field.classes[alone], expected.classes[alone])


def test_labels_other_than_one_count_as_object():
    mask = ball(5)
    expected = force_field(mask).vectors
    np.testing.assert_array_equal(force_field(mask * np.float32(-2.5)).vectors, expected)


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"mask": np.zeros((4, 4, 4))}, "empty"),
        ({"strength": 1}, "strength is 1"),
        ({"strength": 10}, "strength is 10"),
        ({"strength": 4.5}, "4.5"),
        ({"method": "fast"}, "'fast'"),
        ({"charge_distance": -1}, "-1 layers"),
        ({"charge_distance": 0.5}, "0.5"),
        ({"strength": "6"}, "strength is '6'"),
        ({"strength": 6.0}, "strength is 6.0"),
    ],
)
def test_bad_input_is_named(options, culprit):
    with pytest.raises(InputError, match=culprit):
        force_field(**{"mask": ball(4), **options})


def test_newtons_law_is_warned_of():
    with pytest.warns(UserWarning, match="no attractors"):
        field = force_field(ball(4), 2)
    assert "no attractors" in field.notes[0]


def test_progress_rises_to_one():
    seen = []
    force_field(two_components(), progress=lambda fraction: seen.append(fraction) or True)
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 1)


def test_cancelling_ends_the_run():
    seen = []
    with pytest.raises(Cancelled):
        force_field(ball(8), progress=lambda fraction: seen.append(fraction) or len(seen) < 3)
    assert len(seen) == 3
