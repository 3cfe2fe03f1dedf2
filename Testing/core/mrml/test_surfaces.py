"""Surfaces of segments: those that Slicer alone can make, and what other modules then see."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml.surfaces import make_surface, surface_input
from support.mrml_cases import add_volume, slicers_surface


@pytest.fixture
def part(slicer_scene):
    """A segmentation with one segment: a bar, off the middle."""
    import slicer

    labels = np.zeros((16, 20, 24), np.uint8)
    labels[4:9, 5:12, 6:22] = 1
    volume = add_volume(labels.astype(np.int16))
    node = slicer_scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "parts")
    node.SetReferenceImageGeometryParameterFromVolumeNode(volume)
    segment_id = node.GetSegmentation().AddEmptySegment("bar", "bar")
    slicer.util.updateSegmentBinaryLabelmapFromArray(labels, node, segment_id, volume)
    return node, segment_id


def surface_of(node, segment_id):
    return node.GetSegmentation().GetSegment(segment_id).GetRepresentation("Closed surface")


@pytest.mark.parametrize(
    ("parameter", "value", "ours"),
    [
        ("Smoothing factor", "0.3", True),
        ("Smoothing factor", "0", True),
        ("Decimation factor", "0.5", False),
        ("Conversion method", "1", False),
        ("Joint smoothing", "1", False),
        ("Compute surface normals", "0", False),
    ],
)
def test_the_conversion_is_the_one_that_the_user_has_set(part, parameter, value, ours):
    node, segment_id = part
    inner = node.GetSegmentation()
    inner.SetConversionParameter(parameter, value)
    read = surface_input(inner, segment_id)
    assert (read is not None) == ours
    make_surface(node, segment_id)
    made = read.surface() if ours else surface_of(node, segment_id)
    wanted = slicers_surface(node, segment_id)
    assert made.GetNumberOfPoints() == wanted.GetNumberOfPoints()
    assert made.GetBounds() == pytest.approx(wanted.GetBounds(), abs=1e-3)
    without_normals = ("Compute surface normals", "Conversion method")
    assert (made.GetPointData().GetNormals() is None) == (parameter in without_normals)
