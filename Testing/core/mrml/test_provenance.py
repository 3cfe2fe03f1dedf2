"""Whether a result is up to date: edits of masks, of volumes and of results are noticed."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml.provenance import (
    mask_fingerprint,
    may_be_same,
    note_voxels,
    voxel_time,
    voxels_changed,
    voxels_fingerprint,
)
from support.mrml_cases import add_volume, linear_transform

SHAPE = (9, 10, 11)
LABELMAP = "vtkMRMLLabelMapVolumeNode"


@pytest.fixture
def labels():
    found = np.zeros(SHAPE, np.uint8)
    found[2:5, 3:7, 4:9] = np.random.default_rng(3).integers(0, 2, (3, 4, 5))
    found[2, 3, 4] = found[4, 6, 8] = 1  # the box of a mirror image is the same
    return found


def edited(labels, kind):
    if kind == "mirrored":
        part = labels[2:5, 3:7, 4:9]
        labels[2:5, 3:7, 4:9] = part[:, ::-1, ::-1].copy()
    elif kind == "moved":
        labels[:] = np.roll(labels, 1, axis=0)
    else:
        labels[3, 4, 5] ^= 1
    return labels


@pytest.mark.parametrize("kind", ["mirrored", "moved", "one voxel"])
def test_a_mask_that_was_edited_has_another_text(slicer_scene, labels, kind):
    import slicer

    node = add_volume(labels, kind=LABELMAP)
    text = voxels_fingerprint(node)
    assert voxels_fingerprint(node) == text
    slicer.util.updateVolumeFromArray(node, edited(labels, kind))
    assert voxels_fingerprint(node) != text
    assert not may_be_same(voxels_fingerprint(node), text)


def test_a_segment_and_its_file_have_one_text(slicer_scene, labels, tmp_path):
    import slicer

    volume = add_volume(np.zeros(SHAPE, np.uint8))
    node = slicer_scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "parts")
    node.SetReferenceImageGeometryParameterFromVolumeNode(volume)
    segment = node.GetSegmentation().AddEmptySegment("part", "part")
    slicer.util.updateSegmentBinaryLabelmapFromArray(labels, node, segment, volume)
    text = voxels_fingerprint(node, segment)
    assert slicer.util.saveNode(node, str(tmp_path / "parts.seg.nrrd"), {})
    loaded = slicer.util.loadSegmentation(str(tmp_path / "parts.seg.nrrd"))
    assert voxels_fingerprint(loaded, segment) == text
    assert voxels_fingerprint(loaded) != ""
    assert may_be_same("12 [1.0, 2.0]", text)  # as earlier versions wrote it


def test_a_mask_that_was_moved_differs_in_the_world_only(slicer_scene, labels):
    node = add_volume(labels, kind=LABELMAP)
    own, world = voxels_fingerprint(node), mask_fingerprint(node)
    node.SetAndObserveTransformNodeID(linear_transform().GetID())
    assert voxels_fingerprint(node) == own
    assert mask_fingerprint(node) != world


@pytest.mark.parametrize("which", ["input", "result"])
def test_an_edit_of_the_input_or_of_the_result_is_noticed(slicer_scene, which):
    import slicer

    volume, result = (add_volume(np.zeros(SHAPE, np.float32)) for _ in range(2))
    assert not voxels_changed(result, volume)  # as it was loaded
    note_voxels(result, voxel_time(volume))
    assert not voxels_changed(result, volume)
    node = volume if which == "input" else result
    slicer.util.updateVolumeFromArray(node, np.ones(SHAPE, np.float32))
    assert voxels_changed(result, volume)
    note_voxels(result, voxel_time(volume))
    assert not voxels_changed(result, volume)
