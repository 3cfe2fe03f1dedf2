"""Checks of the module's self test, in the real application; most press the panel's buttons.

Each takes the test case, with its assertions, and runs in an empty scene.
"""

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import slicer

from FuzzyVesselCoreLib.errors import InputError

OUTPUTS = ("sceneVolume", "labelmap", "segmentation")


class NotPossible(Exception):
    """What a check needs is not there."""


def add_liver_phantom(size: int) -> tuple[Any, Any, Any]:
    """A liver phantom, and the nodes of its volume and seeds."""
    from FuzzyVesselCoreLib.mrml.points import add_phantom
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    phantom = liver_phantom((size, size, size))
    return phantom, *add_phantom(phantom)[:2]


def segments_phantom(test: Any) -> None:
    """Most of the phantom's vessels are found, in the labelmap and in the segment."""
    phantom, volume, seeds = add_liver_phantom(128)
    result = test.newLogic().segment(volume, seeds, segmentationNode=True)
    found = slicer.util.arrayFromVolume(result.labelmapNode) > 0
    true = phantom.mask > 0
    test.assertGreater(2 * np.count_nonzero(found & true) / (found.sum() + true.sum()), 0.5)
    segment = slicer.util.arrayFromSegmentBinaryLabelmap(
        result.segmentationNode, result.segmentID, volume
    )
    test.assertTrue(np.array_equal(segment > 0, found))


def refuses_without_seeds(test: Any) -> None:
    """Without a point there is a message and nothing new in the scene."""
    _phantom, volume, seeds = add_liver_phantom(16)
    seeds.RemoveAllControlPoints()
    before = slicer.mrmlScene.GetNumberOfNodes()
    with test.assertRaises(InputError) as refusal:
        test.newLogic().segment(volume, seeds)
    test.assertIn(seeds.GetName(), str(refusal.exception))
    test.assertEqual(slicer.mrmlScene.GetNumberOfNodes(), before)


def in_panel(check: Callable[[Any, Any, Any], None]) -> Callable[[Any], None]:
    """A check that gets the panel with a phantom, and its parameters, where there is a window."""

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
            parameters = panel.logic.getParameterNode()
            parameters.inputVolume, parameters.seeds = add_liver_phantom(48)[1:]
            slicer.app.processEvents()
            check(test, panel, parameters)
        finally:
            if not opened:
                panel.exit()

    run.__doc__ = check.__doc__
    return run


@in_panel
def segments_in_panel(test: Any, panel: Any, parameters: Any) -> None:
    """Apply makes a segment, in 3D too; the slider changes it; unticked 3D takes its surface."""
    count = parameters.seeds.GetNumberOfControlPoints()
    test.assertEqual(panel.ui.seedsTable.rowCount, count)
    panel.ui.applyButton.click()
    inner = parameters.segmentation.GetSegmentation()
    test.assertEqual(inner.GetNumberOfSegments(), 1)
    panel.ui.thresholdSlider.value = 0.25
    while panel.panel.output.surface.waits:
        slicer.app.processEvents()
    values = slicer.util.arrayFromVolume(parameters.sceneVolume)
    labels = slicer.util.arrayFromVolume(parameters.labelmap)
    test.assertTrue(np.array_equal(labels > 0, values >= np.float32(parameters.threshold)))
    test.assertTrue(inner.ContainsRepresentation("Closed surface"))
    panel.ui.show3DCheckBox.checked = False
    slicer.app.processEvents()
    test.assertFalse(inner.ContainsRepresentation("Closed surface"))


@in_panel
def divides_vessels(test: Any, panel: Any, parameters: Any) -> None:
    """A second vessel gets a segment of its own, which does not overlap the first one's."""
    first = parameters.seeds
    panel.ui.addVesselButton.click()
    second, last = parameters.seeds, first.GetNumberOfControlPoints() - 1
    second.AddControlPointWorld(first.GetNthControlPointPositionWorld(last))
    first.RemoveNthControlPoint(last)
    slicer.app.processEvents()
    panel.ui.applyButton.click()
    node, labels = parameters.segmentation, slicer.util.arrayFromVolume(parameters.labelmap)
    test.assertEqual(node.GetSegmentation().GetNumberOfSegments(), 2)
    for number in range(2):
        segment_id = node.GetSegmentation().GetNthSegmentID(number)
        found = slicer.util.arrayFromSegmentBinaryLabelmap(node, segment_id, parameters.inputVolume)
        test.assertTrue(found.any())
        test.assertTrue(np.array_equal(found > 0, labels == number + 1))
    panel.panel.undoing.undo()
    slicer.app.processEvents()
    test.assertEqual(first.GetNumberOfControlPoints(), last + 1)


@in_panel
def leaves_others_alone(test: Any, panel: Any, parameters: Any) -> None:
    """An output that is removed is chosen no more; other volumes are not written into."""
    volume, other = parameters.inputVolume, add_liver_phantom(48)[1]
    panel.ui.applyButton.click()
    voxels = [slicer.util.arrayFromVolume(each).copy() for each in (volume, other)]
    selectors = (panel.ui.sceneSelector, panel.ui.labelmapSelector, panel.ui.segmentationSelector)
    for name, selector in zip(OUTPUTS, selectors):
        selector.removeCurrentNode()
        slicer.app.processEvents()
        test.assertIsNone(getattr(parameters, name))
        test.assertIsNone(selector.currentNode())
    panel.ui.applyButton.click()
    for each, before in zip((volume, other), voxels):
        test.assertTrue(np.array_equal(slicer.util.arrayFromVolume(each), before))


@in_panel
def volumes_keep_their_points(test: Any, panel: Any, parameters: Any) -> None:
    """Points, threshold and result belong to their volume; choosing one starts no run."""
    volume, points = parameters.inputVolume, parameters.seeds
    panel.ui.applyButton.click()
    panel.ui.thresholdSlider.value = 0.25
    slicer.app.processEvents()
    labels = slicer.util.arrayFromVolume(parameters.labelmap).copy()
    panel.ui.inputSelector.setCurrentNode(add_liver_phantom(48)[1])
    slicer.app.processEvents()
    test.assertIsNone(parameters.seeds)
    test.assertIsNone(parameters.labelmap)
    panel.ui.inputSelector.setCurrentNode(volume)
    slicer.app.processEvents()
    test.assertIs(parameters.seeds, points)
    test.assertAlmostEqual(parameters.threshold, 0.25)
    test.assertTrue(np.array_equal(slicer.util.arrayFromVolume(parameters.labelmap), labels))
    offered = panel.ui.inputSelector
    nodes = [offered.nodeFromIndex(number) for number in range(offered.nodeCount())]
    test.assertNotIn(parameters.sceneVolume, nodes)


CHECKS = (
    *(segments_phantom, refuses_without_seeds),
    *(segments_in_panel, divides_vessels, leaves_others_alone, volumes_keep_their_points),
)
