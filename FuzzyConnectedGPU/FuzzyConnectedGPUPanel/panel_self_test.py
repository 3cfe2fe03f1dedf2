"""Checks of the module's self test that press the buttons of the panel.

Each takes the test case, with its assertions, and runs in an empty scene.
"""

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import slicer

from FuzzyVesselCoreLib.mrml.ownership import SEGMENTATION, hand_over

from .self_test import NotPossible, add_liver_phantom

SIZE = 48  # voxels a side of the phantoms
OUTPUTS = ("sceneVolume", "labelmap", "segmentation")


def in_panel(check: Callable[[Any, Any], None]) -> Callable[[Any], None]:
    """A check that gets the panel as well, where there is a user interface."""

    def run(test: Any) -> None:
        try:
            panel = slicer.util.getModuleWidget("FuzzyConnectedGPU")
        except (AttributeError, RuntimeError) as error:
            raise NotPossible(f"there is no user interface: {error}") from error
        if importlib.util.find_spec("numba") is None:
            raise NotPossible("numba is not installed")
        opened = panel.parent.isEntered
        if not opened:
            panel.enter()
        try:
            check(test, panel)
        finally:
            if not opened:
                panel.exit()

    run.__doc__ = check.__doc__
    return run


def choose_phantom(panel: Any) -> tuple[Any, Any]:
    """A phantom in the panel; returns the panel's parameters and the volume."""
    _phantom, volume, seeds = add_liver_phantom(SIZE)
    parameters = panel.logic.getParameterNode()
    parameters.inputVolume, parameters.seeds = volume, seeds
    slicer.app.processEvents()
    return parameters, volume


def add_own_segmentation(volume: Any) -> tuple[Any, str]:
    """A user's segmentation that may take results, with a block in it, and the block's ID."""
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "drawn by hand")
    node.CreateDefaultDisplayNodes()
    node.SetReferenceImageGeometryParameterFromVolumeNode(volume)
    segment_id = node.GetSegmentation().AddEmptySegment("Segment_1", "Segment_1")
    voxels = np.zeros(slicer.util.arrayFromVolume(volume).shape, np.uint8)
    voxels[4:12, 4:12, 4:12] = 1
    slicer.util.updateSegmentBinaryLabelmapFromArray(voxels, node, segment_id, volume)
    hand_over(node, SEGMENTATION, volume)  # as after the question in the selector
    return node, segment_id


def voxels_of_segment(node: Any, segment_id: str, volume: Any) -> np.ndarray:
    """A copy of a segment's voxels."""
    return slicer.util.arrayFromSegmentBinaryLabelmap(node, segment_id, volume).copy()


def make_surface_now(panel: Any) -> None:
    """Make or take away the surface without waiting."""
    slicer.app.processEvents()
    panel.panel.display.surface.make()


@in_panel
def segments(test: Any, panel: Any) -> None:
    """Apply in the panel makes a segment, and the slider changes it."""
    parameters, _volume = choose_phantom(panel)
    count = parameters.seeds.GetNumberOfControlPoints()
    test.assertEqual(panel.ui.seedsTable.rowCount, count)
    panel.ui.applyButton.click()
    test.assertEqual(parameters.segmentation.GetSegmentation().GetNumberOfSegments(), 1)
    panel.ui.thresholdSlider.value = 0.25
    slicer.app.processEvents()
    values = slicer.util.arrayFromVolume(parameters.sceneVolume)
    labels = slicer.util.arrayFromVolume(parameters.labelmap)
    test.assertTrue(np.array_equal(labels > 0, values >= np.float32(parameters.threshold)))


@in_panel
def leaves_others_alone(test: Any, panel: Any) -> None:
    """An output that is removed is chosen no more; other volumes are not written into."""
    parameters, volume = choose_phantom(panel)
    panel.ui.applyButton.click()
    other = add_liver_phantom(SIZE)[1]
    voxels = [slicer.util.arrayFromVolume(each).copy() for each in (volume, other)]
    selectors = (panel.ui.sceneSelector, panel.ui.labelmapSelector, panel.ui.segmentationSelector)
    for name, selector in zip(OUTPUTS, selectors):
        selector.removeCurrentNode()
        slicer.app.processEvents()
        test.assertIsNone(getattr(parameters, name))
        test.assertIsNone(selector.currentNode())
    panel.ui.applyButton.click()
    first = parameters.labelmap
    parameters.inputVolume = other
    slicer.app.processEvents()
    panel.ui.applyButton.click()
    test.assertIsNot(parameters.labelmap, first)
    for each, before in zip((volume, other), voxels):
        test.assertTrue(np.array_equal(slicer.util.arrayFromVolume(each), before))
    slicer.mrmlScene.RemoveNode(other)
    slicer.app.processEvents()
    test.assertIsNone(parameters.inputVolume)


@in_panel
def leaves_surfaces_alone(test: Any, panel: Any) -> None:
    """A segmentation that is made of surfaces keeps them when it is chosen and 3D is off."""
    parameters, volume = choose_phantom(panel)
    node, _segment_id = add_own_segmentation(volume)
    inner = node.GetSegmentation()
    inner.CreateRepresentation("Closed surface")
    inner.SetSourceRepresentationName("Closed surface")
    points = inner.GetNthSegment(0).GetRepresentation("Closed surface").GetNumberOfPoints()
    parameters.show3D = False
    parameters.segmentation = node
    make_surface_now(panel)
    test.assertIs(parameters.segmentation, node)
    surface = inner.GetNthSegment(0).GetRepresentation("Closed surface")
    test.assertIsNotNone(surface)
    test.assertEqual(surface.GetNumberOfPoints(), points)
    test.assertEqual(inner.GetNumberOfSegments(), 1)


@in_panel
def forgets_segment_with_segmentation(test: Any, panel: Any) -> None:
    """ "Overwrite Segment_1" of one segmentation is not carried over to another one."""
    parameters, volume = choose_phantom(panel)
    first, segment_id = add_own_segmentation(volume)
    second, same_id = add_own_segmentation(volume)
    test.assertEqual(segment_id, same_id)
    before = voxels_of_segment(second, same_id, volume)
    parameters.segmentation = first
    slicer.app.processEvents()
    parameters.segmentID = segment_id
    slicer.app.processEvents()
    test.assertEqual(parameters.segmentID, segment_id)
    parameters.segmentation = second
    slicer.app.processEvents()
    test.assertEqual(parameters.segmentID, "")
    panel.ui.applyButton.click()
    test.assertTrue(np.array_equal(voxels_of_segment(second, same_id, volume), before))


@in_panel
def results_come_and_go_together(test: Any, panel: Any) -> None:
    """A run that fails leaves no result, one that succeeds all; unticked 3D takes its surface."""
    parameters, volume = choose_phantom(panel)
    points = parameters.seeds
    background = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", "not vessel")
    background.AddControlPointWorld(points.GetNthControlPointPositionWorld(0))
    parameters.backgroundSeeds = background
    slicer.app.processEvents()
    nodes = slicer.mrmlScene.GetNumberOfNodes()
    panel.ui.applyButton.click()  # the same voxel is vessel and not
    test.assertTrue(panel.ui.statusLabel.text)
    test.assertEqual(slicer.mrmlScene.GetNumberOfNodes(), nodes)
    test.assertTrue(all(getattr(parameters, name) is None for name in OUTPUTS))
    background.RemoveAllControlPoints()
    slicer.app.processEvents()
    panel.ui.applyButton.click()
    test.assertTrue(all(getattr(parameters, name) is not None for name in OUTPUTS))
    inner = parameters.segmentation.GetSegmentation()
    make_surface_now(panel)
    test.assertTrue(inner.ContainsRepresentation("Closed surface"))
    panel.ui.show3DCheckBox.checked = False
    make_surface_now(panel)
    test.assertFalse(inner.ContainsRepresentation("Closed surface"))
    labels = slicer.util.arrayFromVolume(parameters.labelmap)
    segment_id = inner.GetNthSegmentID(0)
    found = voxels_of_segment(parameters.segmentation, segment_id, volume)
    test.assertTrue(np.array_equal(found > 0, labels > 0))


@in_panel
def divides_vessels(test: Any, panel: Any) -> None:
    """A second vessel gets a segment of its own, which does not overlap the first one's."""
    parameters, volume = choose_phantom(panel)
    first = parameters.seeds
    panel.ui.addVesselButton.click()
    second, last = parameters.seeds, first.GetNumberOfControlPoints() - 1
    second.AddControlPointWorld(first.GetNthControlPointPositionWorld(last))
    first.RemoveNthControlPoint(last)
    slicer.app.processEvents()
    panel.ui.applyButton.click()
    inner, labels = parameters.segmentation.GetSegmentation(), parameters.labelmap
    labels = slicer.util.arrayFromVolume(labels)
    test.assertEqual(inner.GetNumberOfSegments(), 2)
    for number in range(2):
        segment_id = inner.GetNthSegmentID(number)
        found = voxels_of_segment(parameters.segmentation, segment_id, volume)
        test.assertTrue(found.any())
        test.assertTrue(np.array_equal(found > 0, labels == number + 1))
    panel.panel.undoing.undo()
    slicer.app.processEvents()
    test.assertEqual(first.GetNumberOfControlPoints(), last + 1)


@in_panel
def volumes_keep_their_points(test: Any, panel: Any) -> None:
    """Points, threshold and result belong to their volume; choosing one starts no run."""
    parameters, volume = choose_phantom(panel)
    points, count = parameters.seeds, parameters.seeds.GetNumberOfControlPoints()
    panel.ui.applyButton.click()
    panel.ui.thresholdSlider.value = 0.25
    slicer.app.processEvents()
    labels = slicer.util.arrayFromVolume(parameters.labelmap).copy()
    other = add_liver_phantom(SIZE)[1]
    panel.ui.inputSelector.setCurrentNode(other)
    slicer.app.processEvents()
    test.assertIsNone(parameters.seeds)
    test.assertIsNone(parameters.labelmap)
    panel.ui.inputSelector.setCurrentNode(volume)
    slicer.app.processEvents()
    test.assertIs(parameters.inputVolume, volume)
    test.assertIs(parameters.seeds, points)
    test.assertEqual(points.GetNumberOfControlPoints(), count)
    test.assertAlmostEqual(parameters.threshold, 0.25)
    test.assertTrue(np.array_equal(slicer.util.arrayFromVolume(parameters.labelmap), labels))
    offered = panel.ui.inputSelector
    nodes = [offered.nodeFromIndex(number) for number in range(offered.nodeCount())]
    test.assertNotIn(parameters.sceneVolume, nodes)


@in_panel
def preview_is_no_segmentation(test: Any, panel: Any) -> None:
    """Results that follow a point show a label volume meanwhile, which goes afterwards."""
    parameters, _volume = choose_phantom(panel)
    panel.ui.applyButton.click()
    preview = panel.panel.following._preview
    segmentations = slicer.mrmlScene.GetNumberOfNodesByClass("vtkMRMLSegmentationNode")
    nodes = slicer.mrmlScene.GetNumberOfNodes()
    labels = slicer.util.arrayFromVolume(parameters.labelmap)
    matrix = np.eye(4)
    preview.show(labels, matrix, None, [(1.0, 0.0, 0.0)], [parameters.segmentation])
    count = slicer.mrmlScene.GetNumberOfNodesByClass("vtkMRMLSegmentationNode")
    test.assertEqual(count, segmentations)
    test.assertFalse(parameters.segmentation.GetDisplayNode().GetVisibility2D())
    preview.drop()
    slicer.app.processEvents()
    test.assertEqual(slicer.mrmlScene.GetNumberOfNodes(), nodes)
    test.assertTrue(parameters.segmentation.GetDisplayNode().GetVisibility2D())


CHECKS = (
    segments,
    volumes_keep_their_points,
    preview_is_no_segmentation,
    divides_vessels,
    leaves_others_alone,
    leaves_surfaces_alone,
    forgets_segment_with_segmentation,
    results_come_and_go_together,
)
