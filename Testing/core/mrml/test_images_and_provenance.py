"""Arrays that become images, and whether a result is up to date: edits are noticed."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml.provenance import (
    may_be_same,
    transform_text,
    volume_fingerprint,
    voxels_fingerprint,
)
from FuzzyVesselCoreLib.mrml.reading import array_from_image, image_from_array
from support.mrml_cases import add_volume, linear_transform

SHAPE = (9, 10, 11)
LABELMAP = "vtkMRMLLabelMapVolumeNode"


@pytest.mark.parametrize("copy", [False, True])
def test_an_image_has_the_array_s_values(slicer_scene, copy):
    array = np.arange(np.prod(SHAPE), dtype=np.float32).reshape(SHAPE)
    for values in (array, array[1:], array.transpose(2, 1, 0), array.view(np.int32)):
        image = image_from_array(values, copy=copy)
        assert image.GetDimensions() == values.shape[::-1]
        np.testing.assert_array_equal(array_from_image(image), values)
        shared = np.shares_memory(array_from_image(image), array)
        assert shared == (not copy and values.flags.c_contiguous)


@pytest.fixture
def labels():
    found = np.zeros(SHAPE, np.uint8)
    found[2:5, 3:7, 4:9] = np.random.default_rng(3).integers(0, 2, (3, 4, 5))
    found[2, 3, 4] = found[4, 6, 8] = 1  # the box of a mirror image is the same
    return found


def test_a_mask_that_was_moved_has_the_same_voxels(slicer_scene, labels):
    node = add_volume(labels, kind=LABELMAP)
    own, world = voxels_fingerprint(node), transform_text(node)
    node.SetAndObserveTransformNodeID(linear_transform().GetID())
    assert voxels_fingerprint(node) == own
    assert transform_text(node) != world


@pytest.mark.parametrize("ending", ["nrrd", "nii.gz"])  # one of them turns axes round
def test_a_volume_s_text_is_that_of_its_voxels_also_in_a_file(slicer_scene, tmp_path, ending):
    import slicer

    values = np.random.default_rng(4).integers(-99, 99, SHAPE).astype(np.int16)
    volume, path = add_volume(values), str(tmp_path / f"volume.{ending}")
    volume.SetIJKToRASDirections(0, -1, 0, -1, 0, 0, 0, 0, 1)
    text = volume_fingerprint(volume)
    slicer.util.saveNode(volume, path)
    assert volume_fingerprint(slicer.util.loadVolume(path)) == text
    values[2, 3, 4] += 1
    slicer.util.updateVolumeFromArray(volume, values)
    assert volume_fingerprint(volume) != text
    image_from_array(np.zeros((*SHAPE, 3), np.uint8), volume.GetImageData())  # colours
    assert volume_fingerprint(volume) == ""
    volume.GetImageData().GetPointData().SetScalars(None)
    assert volume_fingerprint(volume) == ""


EDITS = {
    "mirrored": lambda part: part[:, ::-1, ::-1],
    "moved": lambda part: np.roll(part, 1, axis=0),
    "one voxel": lambda part: part ^ (np.indices(part.shape).sum(axis=0) == 0),
}


@pytest.mark.parametrize("kind", EDITS)
def test_a_mask_that_was_edited_has_another_text(slicer_scene, labels, kind):
    import slicer

    node = add_volume(labels, kind=LABELMAP)
    text = voxels_fingerprint(node)
    assert voxels_fingerprint(node) == text
    labels[2:5, 3:7, 4:9] = EDITS[kind](labels[2:5, 3:7, 4:9].copy())
    slicer.util.updateVolumeFromArray(node, labels)
    assert not may_be_same(voxels_fingerprint(node), text)
    assert may_be_same("12 [1.0, 2.0]", text)  # as earlier versions wrote it
