"""Arrays that become images: copied, or taken with their own memory."""

import gc
import weakref

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml.images import array_from_image, image_from_array

SHAPE = (6, 7, 8)


@pytest.mark.parametrize("taken", [False, True])
def test_an_image_has_the_array_s_values(slicer_scene, taken):
    array = np.arange(np.prod(SHAPE), dtype=np.float32).reshape(SHAPE)
    for values in (array, array[1:], array.transpose(2, 1, 0), array.view(np.int32)):
        image = image_from_array(values, taken=taken)
        assert image.GetDimensions() == values.shape[::-1]
        np.testing.assert_array_equal(array_from_image(image), values)
        shared = np.shares_memory(array_from_image(image), array)
        assert shared == (taken and values.flags.c_contiguous)


def test_a_taken_array_lives_as_long_as_its_image(slicer_scene):
    import slicer

    array = np.arange(np.prod(SHAPE)).astype(np.uint8).reshape(SHAPE)
    expected, lives = array.copy(), weakref.ref(array.base)
    image = image_from_array(array, slicer.vtkOrientedImageData(), taken=True)
    segment = slicer.vtkSegment()
    segment.AddRepresentation("Binary labelmap", image)
    del array, image
    gc.collect()
    assert lives() is not None
    image = segment.GetRepresentation("Binary labelmap")
    np.testing.assert_array_equal(array_from_image(image), expected)
