"""Outside, surface, boundary and inner voxels; components, cavities and dilated solids."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.voxels.components.labels import fill_cavities, label_components
from FuzzyVesselCoreLib.voxels.cube_morphology import dilate, erode
from PotentialSkeletonLib import classify_voxels
from PotentialSkeletonLib.field.solid import solids
from PotentialSkeletonLib.object.packed_classes import classes_and_targets

masks = arrays(bool, st.tuples(*[st.integers(1, 9)] * 3), elements=st.integers(0, 5).map(bool))


def has_neighbour(voxels):
    """Which voxels have one of `voxels` among their 26 neighbours, voxel by voxel."""
    found = np.zeros_like(voxels)
    for position in np.argwhere(voxels):
        around = tuple(slice(max(n - 1, 0), n + 2) for n in position)
        found[around] = True
    return found


@settings(max_examples=50)
@given(masks)
def test_classes_follow_their_definition(mask):
    padded = np.pad(mask, 1)
    surface = padded & has_neighbour(~padded)
    boundary = padded & ~surface & has_neighbour(surface)
    expected = padded * 3 - 2 * surface - boundary
    classes = classify_voxels(mask)
    assert classes.dtype == np.uint8
    np.testing.assert_array_equal(classes, expected[1:-1, 1:-1, 1:-1])


def test_a_box_that_fills_the_volume_has_its_surface_on_the_border():
    classes = classify_voxels(np.ones((7, 7, 7)))
    np.testing.assert_array_equal(classes[3, 3], [1, 2, 3, 3, 3, 2, 1])


def test_one_slice_is_all_surface():
    mask = np.ones((5, 6), np.int16)
    np.testing.assert_array_equal(classify_voxels(mask), np.ones((1, 5, 6)))


@pytest.mark.parametrize(
    ("mask", "culprit"),
    [
        (np.zeros((0, 3, 3)), r"\(0, 3, 3\)"),
        (np.zeros(4), r"\(4,\)"),
        (np.full((2, 2, 2), np.nan), "8 voxels"),
        (np.full((2, 2, 2), "a"), "str"),
    ],
)
def test_what_is_no_labelmap_is_refused(mask, culprit):
    with pytest.raises(InputError, match=culprit):
        classify_voxels(mask)


@settings(max_examples=50)
@given(masks, st.integers(0, 4))
def test_layers_are_counted_one_by_one(mask, layers):
    grown, shrunk = mask, np.pad(mask, 1)
    for _ in range(layers):
        grown = grown | has_neighbour(grown)
        shrunk = shrunk & ~has_neighbour(~shrunk)
    np.testing.assert_array_equal(dilate(mask, layers), grown)
    np.testing.assert_array_equal(erode(mask, layers), shrunk[1:-1, 1:-1, 1:-1])


def test_cavities_are_filled_and_counted():
    mask = np.ones((7, 9, 9), bool)
    mask[3, 3, 3] = mask[3, 6, 5:7] = False
    mask[:, 0, 0] = False
    filled, count, voxels = fill_cavities(mask)
    assert (count, voxels) == (2, 3)
    assert filled[3, 3, 3]
    assert not filled[3, 0, 0]


def test_a_cavity_that_opens_at_a_corner_only_is_still_one():
    # The object is 26-connected, so its background is 6-connected.
    mask = np.ones((3, 3, 3), bool)
    mask[1, 1, 1] = mask[0, 0, 0] = False
    filled, count, _ = fill_cavities(mask)
    assert count == 1
    assert filled[1, 1, 1]


def test_components_touch_at_corners_too():
    mask = np.zeros((4, 4, 4), bool)
    mask[0, 0, 0] = mask[1, 1, 1] = mask[3, 3, 3] = True
    labels, count = label_components(mask)
    assert count == 2
    assert labels[0, 0, 0] == labels[1, 1, 1] != labels[3, 3, 3]


def test_a_solid_is_dilated_beyond_the_volume():
    mask = np.zeros((6, 6, 6), bool)
    mask[0, 1, 2] = True
    [(label, solid)] = solids(label_components(mask)[0], charge_distance=2)
    assert label == 1
    assert [(s.start, s.stop) for s in solid.box] == [(-2, 3), (-1, 4), (0, 5)]
    np.testing.assert_array_equal(solid.classes, classify_voxels(np.ones((5, 5, 5))))
    assert np.argwhere(solid.object).tolist() == [[2, 2, 2]]


def test_charges_and_targets_of_a_solid():
    mask = np.zeros((9, 7, 30), bool)
    mask[1:8, :, :12] = True  # 7 x 7 x 12: has inner voxels
    mask[2:7, 1:6, 12:] = True  # 5 x 5: its middle is boundary, without inner neighbours far off
    [(_, solid)] = solids(label_components(mask)[0], charge_distance=0)
    assert solid.targets[solid.classes == 3].all()
    assert solid.targets[3, 3, 15:28].all()
    assert not solid.targets[solid.classes <= 1].any()
    assert len(solid.charges) == np.count_nonzero(solid.classes == 1)
    assert (solid.classes[tuple(solid.charges.T)] == 1).all()


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_classes_and_targets_by_words_of_64_voxels_are_those_by_cubes(layers):
    rng = np.random.default_rng(2)
    for width in (1, 5, 63, 64, 65, 130):
        seeds = rng.random((12, 13, width)) < 0.02
        for mask in (seeds, dilate(seeds, 3), np.ones_like(seeds)):
            classes, targets = classes_and_targets(mask, layers)
            expected = classify_voxels(dilate(mask, layers))
            np.testing.assert_array_equal(classes, expected)
            near_inner = dilate(expected == 3, 1)
            np.testing.assert_array_equal(targets, (expected == 3) | (expected == 2) & ~near_inner)
