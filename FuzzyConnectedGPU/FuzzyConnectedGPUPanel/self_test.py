"""Checks of the module's self test; most of them press the buttons of the panel.

Each takes the test case, with its assertions, and runs in an empty scene.
"""

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import slicer

from FuzzyVesselCoreLib.errors import DeviceError, InputError

SIZE = 48  # voxels a side of the phantoms
OUTPUTS = ("sceneVolume", "labelmap", "segmentation")


class NotPossible(Exception):
    """What a check needs is not there."""


def add_liver_phantom(size: int) -> tuple[Any, Any, Any]:
    """A liver phantom, and the nodes of its volume and seeds."""
    from FuzzyVesselCoreLib.mrml.points import add_phantom
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    phantom = liver_phantom((size, size, size))
    return phantom, *add_phantom(phantom)[:2]


def segmented(test: Any, **options: Any) -> tuple[Any, Any, Any, Any, Any]:
    """A phantom, its volume and seeds, a segmentation, and what a run gave."""
    phantom, volume, seeds = add_liver_phantom(128)
    segmentation = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode")
    try:
        result = test.newLogic().segment(volume, seeds, segmentationNode=segmentation, **options)
    except DeviceError as error:
        raise NotPossible(str(error)) from error
    return phantom, volume, seeds, segmentation, result


def segments_phantom(test: Any) -> None:
    """Most of the phantom's vessels are found, in the labelmap and in the segment."""
    phantom, volume, _seeds, segmentation, result = segmented(test)
    found = slicer.util.arrayFromVolume(result.labelmapNode) > 0
    true = phantom.mask > 0
    dice = 2 * np.count_nonzero(found & true) / (found.sum() + true.sum())
    test.assertGreater(dice, 0.5)
    segment = slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, result.segmentID, volume)
    test.assertTrue(np.array_equal(segment > 0, found))


def keeps_edited_segment(test: Any) -> None:
    """A segment that somebody edited stays, and the next run makes another one."""
    _phantom, volume, seeds, segmentation, result = segmented(test, threshold=0.5)
    edited = slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, result.segmentID, volume)
    edited[:2] = 1
    slicer.util.updateSegmentBinaryLabelmapFromArray(edited, segmentation, result.segmentID, volume)
    again = test.newLogic().segment(volume, seeds, threshold=0.4, segmentationNode=segmentation)
    test.assertNotEqual(again.segmentID, result.segmentID)
    kept = slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, result.segmentID, volume)
    test.assertTrue(np.array_equal(kept, edited))


def refuses_without_seeds(test: Any) -> None:
    """Without a point there is a message and nothing new in the scene."""
    _phantom, volume, seeds = add_liver_phantom(16)
    seeds.RemoveAllControlPoints()
    before = slicer.mrmlScene.GetNumberOfNodes()
    with test.assertRaises(InputError) as refusal:
        test.newLogic().segment(volume, seeds)
    test.assertIn(seeds.GetName(), str(refusal.exception))
    test.assertEqual(slicer.mrmlScene.GetNumberOfNodes(), before)


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
    *(segments_phantom, keeps_edited_segment, refuses_without_seeds),
    *(segments, divides_vessels, leaves_others_alone, results_come_and_go_together),
    *(volumes_keep_their_points, preview_is_no_segmentation),
)
