"""Checks of the module's self test, on the liver phantom's vessels.

Each takes the test case, with its assertions, and runs in an empty scene.
"""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import slicer

from FuzzyVesselCoreLib.errors import DeviceError, InputError


class NotPossible(Exception):
    """What a check needs is not there."""


def add_labelmap(size: int) -> tuple[Any, Any]:
    """Return a liver phantom, and the labelmap of its vessels."""
    from FuzzyVesselCoreLib.mrml.points import add_phantom_labelmap
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    phantom = liver_phantom((size, size, size))
    return phantom, add_phantom_labelmap(phantom)


def add_segmentation(size: int) -> Any:
    """Return a segmentation with two segments: the phantom's vessels, and a copy of them."""
    _phantom, labelmap = add_labelmap(size)
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Liver phantom")
    node.CreateDefaultDisplayNodes()
    for _number in range(2):
        slicer.modules.segmentations.logic().ImportLabelmapToSegmentationNode(labelmap, node)
    slicer.mrmlScene.RemoveNode(labelmap)
    return node


def finds_centrelines(test: Any) -> None:
    """The skeleton is inside the vessels, and every output tells of the same branches."""
    phantom, labelmap = add_labelmap(64)
    try:
        result = test.newLogic().extract(labelmap, tubesNode=True)
    except DeviceError as error:
        raise NotPossible(str(error)) from error
    voxels = slicer.util.arrayFromVolume(result.labelmapNode)
    test.assertGreater(voxels.sum(), 50)
    test.assertFalse((voxels[phantom.mask == 0]).any())
    test.assertTrue(all(result.skeleton.report["guarantees"].values()))
    branches = len(result.skeleton.branches)
    test.assertGreater(branches, 3)
    test.assertEqual(len(result.curveNodes), branches)
    test.assertEqual(result.modelNode.GetPolyData().GetNumberOfLines(), branches)
    test.assertEqual(result.tableNode.GetNumberOfRows(), branches)
    test.assertGreater(result.tubesNode.GetPolyData().GetNumberOfCells(), branches)


def refuses_an_empty_labelmap(test: Any) -> None:
    """An empty labelmap gives a message and nothing new in the scene."""
    _phantom, labelmap = add_labelmap(16)
    slicer.util.arrayFromVolume(labelmap)[:] = 0
    before = slicer.mrmlScene.GetNumberOfNodes()
    with test.assertRaises(InputError) as refusal:
        test.newLogic().extract(labelmap)
    test.assertIn(labelmap.GetName(), str(refusal.exception))
    test.assertEqual(slicer.mrmlScene.GetNumberOfNodes(), before)


@contextmanager
def opened() -> Iterator[Any]:
    """Give the module's panel, as while the module is open."""
    try:
        panel = slicer.util.getModuleWidget("PotentialSkeleton")
    except (AttributeError, RuntimeError) as error:
        raise NotPossible(f"there is no user interface: {error}") from error
    if importlib.util.find_spec("numba") is None:
        raise NotPossible("numba is not installed")
    was_open = panel.parent.isEntered
    if not was_open:
        panel.enter()
    try:
        yield panel
    finally:
        if not was_open:
            panel.exit()


def results_of(node: Any) -> list[Any]:
    """Return the models of centrelines that were found in a node."""
    return [
        model
        for model in slicer.util.getNodesByClass("vtkMRMLModelNode")
        if model.GetNodeReference("PotentialSkeleton.Input") is node
    ]


def lists_branches(test: Any) -> None:
    """Apply in the panel lists the branches that the model has; a click shows one of them."""
    with opened() as panel:
        _phantom, labelmap = add_labelmap(48)
        panel.logic.getParameterNode().input = labelmap
        panel.ui.applyButton.click()
        (model,) = results_of(labelmap)
        branches = model.GetPolyData().GetNumberOfLines()
        test.assertGreater(branches, 3)
        test.assertEqual(panel.ui.branchTable.rowCount, branches)
        count = slicer.mrmlScene.GetNumberOfNodesByClass
        models = count("vtkMRMLModelNode")
        panel.ui.branchTable.selectRow(0)
        test.assertEqual(count("vtkMRMLModelNode"), models + 1)
        panel.ui.branchTable.clearSelection()
        test.assertEqual(count("vtkMRMLModelNode"), models)


def removes_what_is_not_wanted_any_more(test: Any) -> None:
    """Outputs that were unticked go together with the next run; the segment comes back."""
    with opened() as panel:
        node = add_segmentation(48)
        display, segment = node.GetDisplayNode(), node.GetSegmentation().GetNthSegmentID(0)
        parameters = panel.logic.getParameterNode()
        parameters.input, parameters.segment = node, segment
        parameters.tubes = parameters.curves = True
        panel.ui.applyButton.click()
        count = slicer.mrmlScene.GetNumberOfNodesByClass
        test.assertGreater(count("vtkMRMLMarkupsCurveNode"), 0)
        parameters.tubes = parameters.curves = False
        panel.ui.applyButton.click()
        test.assertEqual(count("vtkMRMLMarkupsCurveNode"), 0)
        (model,) = results_of(node)
        test.assertLess(display.GetSegmentOpacity3D(segment), 1.0)
        slicer.mrmlScene.RemoveNode(model)
        test.assertEqual(display.GetSegmentOpacity3D(segment), 1.0)


CHECKS = (
    finds_centrelines,
    refuses_an_empty_labelmap,
    lists_branches,
    removes_what_is_not_wanted_any_more,
)
