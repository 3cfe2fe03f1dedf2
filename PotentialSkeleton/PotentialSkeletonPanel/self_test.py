"""Checks of the module's self test, on the liver phantom's vessels.

Each takes the test case, with its assertions, and runs in an empty scene.
"""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import slicer

from FuzzyVesselCoreLib.errors import DeviceError


class NotPossible(Exception):
    """What a check needs is not there."""


def add_labelmap(size: int) -> tuple[Any, Any]:
    """A liver phantom, and the labelmap of its vessels."""
    from FuzzyVesselCoreLib.mrml.points import add_phantom_labelmap
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    phantom = liver_phantom((size, size, size))
    return phantom, add_phantom_labelmap(phantom)


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


@contextmanager
def opened() -> Iterator[Any]:
    """The module's panel, as while the module is open."""
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


def lists_branches(test: Any) -> None:
    """Apply in the panel lists the branches; outputs that were unticked go with the next run."""
    with opened() as panel:
        _phantom, labelmap = add_labelmap(48)
        parameters, count = panel.logic.getParameterNode(), slicer.mrmlScene.GetNumberOfNodesByClass
        parameters.input, parameters.curves = labelmap, True
        panel.ui.applyButton.click()
        branches = count("vtkMRMLMarkupsCurveNode")
        test.assertGreater(branches, 3)
        test.assertEqual(panel.ui.branchTable.rowCount, branches)
        models = count("vtkMRMLModelNode")
        panel.ui.branchTable.selectRow(0)  # a branch is shown in the views
        test.assertEqual(count("vtkMRMLModelNode"), models + 1)
        panel.ui.branchTable.clearSelection()
        test.assertEqual(count("vtkMRMLModelNode"), models)
        parameters.curves = False
        panel.ui.applyButton.click()
        test.assertEqual(count("vtkMRMLMarkupsCurveNode"), 0)


CHECKS = (finds_centrelines, lists_branches)
