"""Arrays that become images: copied, or in memory of VTK's that the image takes."""

import gc
import weakref

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml import images, outputs
from FuzzyVesselCoreLib.mrml.images import array_from_image, image_from_array, voxel_memory
from FuzzyVesselCoreLib.mrml.outputs import write_outputs
from support.mrml_cases import add_seeds, add_volume

SHAPE = (6, 7, 8)


@pytest.fixture
def made(slicer_scene):
    memory = voxel_memory(SHAPE, np.float32)
    memory[:] = np.arange(memory.size).reshape(SHAPE)
    return memory


def test_an_image_takes_memory_of_vtk(made):
    image = image_from_array(made.reshape(-1).reshape(SHAPE), taken=True)
    assert image.GetDimensions() == SHAPE[::-1]
    assert np.shares_memory(array_from_image(image), made)
    assert array_from_image(image)[1, 2, 3] == made[1, 2, 3]
    expected = made.copy()
    del made
    np.testing.assert_array_equal(array_from_image(image), expected)


@pytest.mark.parametrize(
    "part",
    [
        lambda made: made[1:],
        lambda made: made[:3],
        lambda made: made.transpose(2, 1, 0),
        lambda made: made.view(np.int32),
        lambda made: made.copy(),
    ],
)
def test_anything_else_is_copied(made, part):
    values = part(made)
    image = image_from_array(values, taken=True)
    assert not np.shares_memory(array_from_image(image), made)
    np.testing.assert_array_equal(array_from_image(image), values)


def test_an_array_that_was_not_given_away_is_copied(made):
    assert not np.shares_memory(array_from_image(image_from_array(made)), made)


def test_a_segment_has_voxels_of_its_own(slicer_scene):
    import slicer

    volume = add_volume(np.zeros(SHAPE, np.int16))
    labels = voxel_memory(SHAPE, np.uint8)
    labels[:] = 1  # the box of what is not 0 is the whole array
    labelmap, _, segment_id, segmentation = write_outputs(
        volume, add_seeds(volume, [(1, 1, 1)]), None, labels, segmentation_node=True
    )
    voxels = slicer.util.arrayFromVolume(labelmap)
    assert np.shares_memory(voxels, labels)
    segment = segmentation.GetSegmentation().GetSegment(segment_id)
    array_from_image(segment.GetRepresentation("Binary labelmap"))[:] = 0
    assert voxels.all()


def test_a_map_has_its_display_before_its_image(slicer_scene, monkeypatch):
    """Else Slicer counts a histogram of it, for a window that nobody sees."""
    seen = []

    def fill_volume(node, image, volume_node):
        display = node.GetDisplayNode()
        seen.append((node, display and (display.GetAutoWindowLevel(), display.GetWindow())))
        images.fill_volume(node, image, volume_node)

    monkeypatch.setattr(outputs, "fill_volume", fill_volume)
    volume = add_volume(np.zeros(SHAPE, np.int16))
    values = np.ones(SHAPE, np.float32)
    _, scene, _, _ = write_outputs(
        volume, add_seeds(volume, [(1, 1, 1)]), values, values.astype(np.uint8)
    )
    assert dict(seen)[scene] == (0, 1.0)


def test_an_image_around_an_array_keeps_it_as_long_as_it_needs_it(slicer_scene):
    import slicer

    array = np.empty(SHAPE, np.uint8)
    array.flat[:] = np.arange(array.size)
    array.flags.writeable = False
    expected, lives = array.copy(), weakref.ref(array)
    image = images.image_around(array, slicer.vtkOrientedImageData())
    assert np.shares_memory(array_from_image(image), array)
    segment = slicer.vtkSegment()
    segment.AddRepresentation("Binary labelmap", image)
    del array, image
    gc.collect()
    assert lives() is not None
    image = segment.GetRepresentation("Binary labelmap")
    np.testing.assert_array_equal(array_from_image(image), expected)
    del image
    segment.RemoveAllRepresentations()
    images.image_around(expected, slicer.vtkOrientedImageData())  # VTK forgets it with the next
    gc.collect()
    assert lives() is None
