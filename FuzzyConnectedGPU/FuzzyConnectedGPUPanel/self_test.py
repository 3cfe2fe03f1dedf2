"""Checks of the module's self test in the real application: they press the panel's buttons.

Each takes the test case, with its assertions, the panel with a phantom, and its parameters, and
runs in an empty scene.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import slicer


def add_liver_phantom() -> tuple[Any, Any]:
    """The nodes of a liver phantom's volume and seeds."""
    from FuzzyVesselCoreLib.mrml.points import add_phantom
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    return add_phantom(liver_phantom((48, 48, 48)))[:2]


def in_panel(check: Callable[[Any, Any, Any], None]) -> Callable[[Any], None]:
    """A check that opens the panel with a phantom."""

    def run(test: Any) -> None:
        panel = slicer.util.getModuleWidget("FuzzyConnectedGPU")
        opened = panel.parent.isEntered
        if not opened:
            panel.enter()
        try:
            parameters = panel.logic.getParameterNode()
            parameters.inputVolume, parameters.seeds = add_liver_phantom()
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
    """A second vessel gets a segment of its own; undo; an output that is removed is not chosen."""
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
    for name, selector in (
        ("sceneVolume", panel.ui.sceneSelector),
        ("labelmap", panel.ui.labelmapSelector),
        ("segmentation", panel.ui.segmentationSelector),
    ):
        selector.removeCurrentNode()
        slicer.app.processEvents()
        test.assertIsNone(getattr(parameters, name))
        test.assertIsNone(selector.currentNode())


@in_panel
def volumes_keep_their_points(test: Any, panel: Any, parameters: Any) -> None:
    """Points, threshold and result belong to their volume; choosing one starts no run."""
    volume, points = parameters.inputVolume, parameters.seeds
    panel.ui.applyButton.click()
    panel.ui.thresholdSlider.value = 0.25
    slicer.app.processEvents()
    labels = slicer.util.arrayFromVolume(parameters.labelmap).copy()
    panel.ui.inputSelector.setCurrentNode(add_liver_phantom()[0])
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


CHECKS = (segments_in_panel, divides_vessels, volumes_keep_their_points)
