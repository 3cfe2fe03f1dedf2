"""Checks of the module's self test, on the liver phantom's vessels.

Each takes the test case, with its assertions, and runs in an empty scene.
"""

from typing import Any

import slicer


def add_labelmap(size: int) -> tuple[Any, Any]:
    """A liver phantom, and the labelmap of its vessels."""
    from FuzzyVesselCoreLib.mrml.points import add_phantom_labelmap
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    phantom = liver_phantom((size, size, size))
    return phantom, add_phantom_labelmap(phantom)


def finds_centrelines(test: Any) -> None:
    """The skeleton is inside the vessels, and every output tells of the same branches."""
    phantom, labelmap = add_labelmap(64)
    result = test.newLogic().extract(labelmap, tubesNode=True)
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


def lists_branches(test: Any) -> None:
    """Apply in the panel lists the branches; outputs that were unticked go with the next run."""
    panel = slicer.util.getModuleWidget("PotentialSkeleton")
    opened = panel.parent.isEntered
    if not opened:
        panel.enter()
    try:
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
    finally:
        if not opened:
            panel.exit()


CHECKS = (finds_centrelines, lists_branches)
