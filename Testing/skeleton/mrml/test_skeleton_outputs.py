"""What a skeleton is written into: results of one run appear and go together."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.mrml import ownership
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


@pytest.fixture
def logic(slicer_scene):
    from PotentialSkeleton import PotentialSkeletonLogic

    return PotentialSkeletonLogic()


@pytest.fixture
def hierarchy(slicer_scene):
    import slicer

    return slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(slicer_scene)


def counts(scene):
    return {name: scene.GetNumberOfNodesByClass(kind) for name, kind in KINDS.items()}


def tick(panel, *names):
    for name in KINDS:
        setattr(panel.parameters, name, name in names)
    panel.click("applyButton")


def test_outputs_that_are_no_longer_ticked_go_with_their_run(slicer_scene, panel):
    """Else tubes and curves of the old geometry stay beside the new lines."""
    import slicer

    tick(panel)
    alone = counts(slicer_scene)
    tick(panel, *KINDS)
    assert all(count > alone[name] for name, count in counts(slicer_scene).items())
    slicer.util.arrayFromVolume(panel.parameters.input)[:6] = 0
    tick(panel, "table")
    assert counts(slicer_scene) == {**alone, "table": alone["table"] + 1}
    tick(panel)
    assert counts(slicer_scene) == alone


def test_the_folder_of_curves_goes_with_them(slicer_scene, hierarchy, panel):
    items = hierarchy.GetNumberOfItems()
    tick(panel, "curves")
    assert hierarchy.GetNumberOfItems() > items
    tick(panel)
    curves = [hierarchy.GetItemByName("bars branch 0"), hierarchy.GetItemByName("bars centrelines")]
    assert curves == [0, 0]


def test_a_cancelled_run_leaves_what_is_no_longer_ticked(slicer_scene, panel, monkeypatch):
    import slicer

    import FuzzyVesselCoreLib.widgets.run

    tick(panel, *KINDS)
    before = counts(slicer_scene)
    monkeypatch.setattr(FuzzyVesselCoreLib.widgets.run, "ROUND", 0)
    monkeypatch.setattr(slicer.app, "processEvents", panel.widget.panel.running.cancel)
    for name in KINDS:
        setattr(panel.parameters, name, False)
    panel.ui.applyButton.click()
    assert panel.ui.statusLabel.text.startswith("Cancelled")
    assert counts(slicer_scene) == before


def test_results_of_other_objects_and_copies_stay(slicer_scene, panel):
    tick(panel, "tubes", "labelmap")
    model = slicer_scene.GetFirstNodeByName("bars centrelines")
    copy = slicer_scene.AddNewNodeByClass("vtkMRMLModelNode")
    copy.Copy(model)
    copy.SetName("my copy")
    points = copy.GetPolyData()
    panel.parameters.input = add_bars("others")
    tick(panel)
    panel.parameters.input = slicer_scene.GetFirstNodeByName("bars")
    panel.parameters.strength = 4
    tick(panel)
    assert copy.GetPolyData() is points
    assert slicer_scene.GetFirstNodeByName("bars centrelines") is model
    assert slicer_scene.GetFirstNodeByName("others centrelines") is not None
    assert slicer_scene.GetFirstNodeByName("bars tubes") is None


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


def test_outputs_lie_beside_their_object(slicer_scene, hierarchy, logic):
    labelmap = add_bars()
    patient = hierarchy.CreateSubjectItem(hierarchy.GetSceneItemID(), "patient")
    study = hierarchy.CreateStudyItem(patient, "study")
    hierarchy.CreateItem(study, labelmap)
    result = logic.extract(labelmap, tubesNode=True, criticalPointsNodes=True, fieldNode=True)
    assert hierarchy.GetItemParent(result.folderItemID) == study
    singles = (
        result.modelNode,
        result.tubesNode,
        result.labelmapNode,
        result.tableNode,
        result.fieldNode,
        *result.criticalPointsNodes.values(),
    )
    for node in singles:
        assert hierarchy.GetItemParent(hierarchy.GetItemByDataNode(node)) == study
        assert ownership.belongs_to(node, ownership.SKELETON, labelmap)


def test_an_object_that_goes_ends_the_run_at_once(slicer_scene, logic):
    labelmap, calls = add_bars(), []

    def remove(fraction):
        calls.append(fraction)
        if len(calls) == 1:
            slicer_scene.RemoveNode(labelmap)
        return True

    with pytest.raises(Cancelled, match="'bars' was removed"):
        logic.extract(labelmap, progress=remove)
    assert len(calls) == 1
