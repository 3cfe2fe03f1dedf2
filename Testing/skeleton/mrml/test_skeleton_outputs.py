"""What a skeleton is written into: results of one run appear and go together."""

import numpy as np
import pytest

from support.mrml_cases import add_volume

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")

LABELMAP = "vtkMRMLLabelMapVolumeNode"
KINDS = {
    "tubes": "vtkMRMLModelNode",
    "labelmap": LABELMAP,
    "curves": "vtkMRMLMarkupsCurveNode",
    "criticalPoints": "vtkMRMLMarkupsFiducialNode",
    "field": "vtkMRMLVectorVolumeNode",
    "table": "vtkMRMLTableNode",
}


def add_bars(name="bars"):
    array = np.zeros((24, 24, 12), np.uint8)
    array[10:14, 2:22, 4:8] = array[2:22, 10:14, 4:8] = 1
    node = add_volume(array, kind=LABELMAP)
    node.SetName(name)
    return node


@pytest.fixture
def panel(slicer_scene, open_panel):
    panel = open_panel("PotentialSkeleton")
    panel.parameters.input = add_bars()
    panel.process_events()
    return panel


def tick(panel, *names):
    for name in KINDS:
        setattr(panel.parameters, name, name in names)
    panel.click("applyButton")


def test_a_copy_is_filled_by_no_run(slicer_scene, panel):
    """Also where the copy is all that is left of the result."""
    tick(panel)
    model = slicer_scene.GetFirstNodeByName("bars centrelines")
    copy = slicer_scene.AddNewNodeByClass("vtkMRMLModelNode")
    copy.Copy(model)
    copy.SetName("my copy")
    points = copy.GetPolyData()
    slicer_scene.RemoveNode(model)
    panel.process_events()
    models = slicer_scene.GetNumberOfNodesByClass("vtkMRMLModelNode")
    tick(panel)
    assert copy.GetPolyData() is points
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLModelNode") == models + 1
