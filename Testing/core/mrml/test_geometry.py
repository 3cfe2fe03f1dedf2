"""Nodes to voxels and back: every axis, every transform, compared with MRML point by point."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.points import seeds_of
from FuzzyVesselCoreLib.mrml.reading import (
    array_from_matrix,
    fit_roi,
    mask_of,
    matrix_from_array,
    roi_mask,
    transform_points,
)
from support.mrml_cases import (
    TRANSFORMS,
    add_seeds,
    add_volume,
    linear_transform,
    rotation_about,
    world_of,
)

SHAPE = (9, 11, 13)

transforms = pytest.mark.parametrize("own", TRANSFORMS)


@pytest.fixture
def numbers():
    return np.random.default_rng(11).integers(0, 200, SHAPE).astype(np.int16)


def local_of(node, world):
    """A world point in a node's frame, by MRML."""
    local = [0.0, 0.0, 0.0]
    node.TransformPointFromWorld(world, local)
    return local


def voxel_in(volume_node, world):
    """The voxel (K, J, I) of a world point, by MRML and VTK, one point at a time."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    volume_node.GetRASToIJKMatrix(matrix)
    ijk = matrix.MultiplyPoint((*local_of(volume_node, world), 1.0))[:3]
    return tuple(int(np.floor(index + 0.5)) for index in ijk[::-1])


def add_roi(center, size, degrees=0, transform=None, kind="ROI"):
    """A box, turned about an oblique axis, under a transform; in its own frame."""
    import slicer

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsROINode", kind)
    node.SetAndObserveTransformNodeID(transform.GetID() if transform else None)
    node.SetSize(size)
    matrix = rotation_about((3, -1, 2), degrees)
    matrix[:3, 3] = center
    node.SetAndObserveObjectToNodeMatrix(matrix_from_array(matrix))
    return node


# --- seeds


@transforms
@pytest.mark.parametrize("seeds_under", TRANSFORMS)
def test_seeds_fall_into_the_voxels_they_were_put_in(slicer_scene, numbers, own, seeds_under):
    volume = add_volume(numbers, transform=TRANSFORMS[own]())
    voxels = [(0, 0, 0), (8, 10, 12), (4, 0, 7), (3.4, 5.4, 6.4), (2.6, 4.6, 5.6)]
    seeds = add_seeds(volume, voxels, transform=TRANSFORMS[seeds_under]())
    found = seeds_of(seeds, volume, SHAPE)
    assert found.voxels.tolist() == [[0, 0, 0], [8, 10, 12], [4, 0, 7], [3, 5, 6], [3, 5, 6]]
    assert found.labels == [f"seeds-{n}" for n in range(1, 6)]
    assert found.warnings == ()


# --- regions of interest


@transforms
@pytest.mark.parametrize("roi_under", ["none", "linear"])
def test_region_holds_the_voxels_whose_centre_is_inside(slicer_scene, numbers, own, roi_under):
    volume = add_volume(numbers, transform=TRANSFORMS[own]())
    parent = None
    if roi_under == "linear":
        parent = linear_transform(degrees=-40, scales=(1, 1, 1), shift=(3, 2, 1))
    roi = add_roi((0, 0, 0), (3.1, 4.2, 5.3), degrees=35, transform=parent)
    roi.SetCenterWorld(world_of(volume, (4, 5, 6)))
    mask = roi_mask(roi, volume, SHAPE)
    expected = [roi.IsPointInROIWorld(world_of(volume, v)) for v in np.ndindex(SHAPE)]
    assert 20 < sum(expected) < 1000
    assert np.array_equal(mask.ravel(), expected)


@transforms
@pytest.mark.parametrize("degrees", [0, 35])
@pytest.mark.parametrize("roi_under", ["none", "turned", "stretched"])
def test_a_region_that_is_fitted_holds_all_voxels(slicer_scene, numbers, own, roi_under, degrees):
    """It left 23 % of them out where it was turned."""
    volume = add_volume(numbers, transform=TRANSFORMS[own]())
    scales = {"turned": (1, 1, 1), "stretched": (2, 3, 0.5)}
    parent = None
    if roi_under in scales:
        turn = -40 if roi_under == "turned" else 0
        parent = linear_transform(degrees=turn, scales=scales[roi_under], shift=(3, 2, 1))
    roi = add_roi((5, 6, 7), (3.1, 4.2, 5.3), degrees=degrees, transform=parent)
    axes = array_from_matrix(roi.GetObjectToWorldMatrix())[:3, :3]
    fit_roi(roi, volume)
    assert roi_mask(roi, volume, SHAPE).all()
    np.testing.assert_allclose(array_from_matrix(roi.GetObjectToWorldMatrix())[:3, :3], axes)
    size = np.array(roi.GetSize())
    roi.SetSize(size * 0.8)
    assert not roi_mask(roi, volume, SHAPE).all()  # and it is no larger than that


def test_regions_inside_out_and_empty_ones(slicer_scene, numbers):
    volume = add_volume(numbers)
    roi = add_roi(world_of(volume, (4, 5, 6)), (3.0, 3.0, 3.0), degrees=20)
    inner = roi_mask(roi, volume, SHAPE)
    roi.SetInsideOut(True)
    assert np.array_equal(roi_mask(roi, volume, SHAPE), ~inner)
    far = add_roi((900, 0, 0), (3.0, 3.0, 3.0), kind="far box")
    unplaced = slicer_scene.AddNewNodeByClass("vtkMRMLMarkupsROINode", "new box")
    for node, reason in ((far, "holds no voxel of 'scan'"), (unplaced, "has not been placed")):
        with pytest.raises(InputError, match=f"'{node.GetName()}' {reason}"):
            roi_mask(node, volume, SHAPE)


# --- masks


@transforms
@pytest.mark.parametrize("mask_under", TRANSFORMS)
def test_labelmap_of_another_geometry_is_resampled(slicer_scene, numbers, own, mask_under):
    volume = add_volume(numbers, transform=TRANSFORMS[own]())
    other = np.diag([-1.4, 0.9, 1.1, 1.0])
    other[:3, 3] = world_of(volume, (4, 5, 6))
    other = other @ rotation_about((1, 1, 0), 30)
    labels = np.random.default_rng(2).integers(0, 3, (7, 8, 9)).astype(np.uint8)
    mask = add_volume(labels, other, TRANSFORMS[mask_under](), "vtkMRMLLabelMapVolumeNode")
    if mask_under != "none":  # bring it over the volume: its transform moved it away
        shift = np.subtract(
            local_of(mask, world_of(volume, (4, 5, 6))), transform_points(other, [[4, 4, 3]])[0]
        )
        other[:3, 3] += shift
        mask.SetIJKToRASMatrix(matrix_from_array(other))
    expected = np.zeros(SHAPE, bool)
    for voxel in np.ndindex(SHAPE):
        there = voxel_in(mask, world_of(volume, voxel))
        if all(0 <= index < size for index, size in zip(there, labels.shape)):
            expected[voxel] = labels[there] > 0
    assert 50 < expected.sum() < expected.size - 50
    assert np.array_equal(mask_of(mask, volume, SHAPE), expected)


def test_both_outermost_faces_of_a_coarse_mask_are_inside(slicer_scene):
    """The mask reaches from 0 to 8 mm: centres of the volume lie on both faces."""
    volume, place = add_volume(np.zeros((12, 3, 3), np.uint8), np.eye(4)), np.diag([2.0, 2, 2, 1])
    place[2, 3] = 1.0
    ones = np.ones((4, 2, 2), np.uint8)
    mask = add_volume(ones, place, kind="vtkMRMLLabelMapVolumeNode")
    inside = np.flatnonzero(mask_of(mask, volume, (12, 3, 3)).any(axis=(1, 2)))
    assert inside.tolist() == list(range(9))


def test_segments_that_overlap_and_are_cropped(slicer_scene, numbers):
    """One of them or all, in layers with other extents than the volume's."""
    import slicer

    volume = add_volume(numbers, transform=linear_transform())
    segmentation = slicer_scene.AddNewNodeByClass("vtkMRMLSegmentationNode")
    segmentation.SetReferenceImageGeometryParameterFromVolumeNode(volume)
    segmentation.SetAndObserveTransformNodeID(volume.GetTransformNodeID())
    inner, drawn = segmentation.GetSegmentation(), {}
    for name, first in (("a", 1), ("b", 3), ("c", 6)):
        drawn[name] = np.zeros(SHAPE, bool)
        drawn[name][2:7, first : first + 4, 4:9] = True
        inner.AddEmptySegment(name, name)
        slicer.util.updateSegmentBinaryLabelmapFromArray(
            drawn[name].astype(np.uint8), segmentation, name, volume
        )
    for name, expected in drawn.items():
        assert np.array_equal(mask_of(segmentation, volume, SHAPE, name), expected)
    assert np.array_equal(mask_of(segmentation, volume, SHAPE), sum(drawn.values()) > 0)


def test_segmentation_of_a_surface_is_filled(slicer_scene):
    """A sphere given as surface only: its volume is met, and the node is not converted."""
    import vtk

    volume = add_volume(np.zeros((30, 30, 30), np.uint8), np.diag([1.0, -1.0, 1.0, 1.0]))
    sphere = vtk.vtkSphereSource()
    sphere.SetRadius(9)
    sphere.SetCenter(world_of(volume, (15, 15, 15)))
    sphere.SetPhiResolution(60)
    sphere.SetThetaResolution(60)
    sphere.Update()
    segmentation = slicer_scene.AddNewNodeByClass("vtkMRMLSegmentationNode")
    segmentation.GetSegmentation().SetSourceRepresentationName("Closed surface")
    segmentation.AddSegmentFromClosedSurfaceRepresentation(
        sphere.GetOutput(), "ball", [1.0, 0.0, 0.0]
    )
    mask = mask_of(segmentation, volume, (30, 30, 30))
    assert mask.sum() == pytest.approx(4 / 3 * np.pi * 9**3, rel=0.05)
    assert mask[15, 15, 15]
    assert not segmentation.GetSegmentation().ContainsRepresentation("Binary labelmap")
