"""What a run reads, what it leaves alone, and what comes back afterwards."""

import numpy as np
import pytest

from support.mrml_cases import add_volume

LABELMAP = "vtkMRMLLabelMapVolumeNode"


@pytest.fixture
def panel(slicer_scene, open_panel, monkeypatch):
    """The panel with a segmentation of two segments, each a pair of crossing bars."""
    panel = open_panel("PotentialSkeleton")
    import FuzzyVesselCoreLib.widgets.run

    monkeypatch.setattr(FuzzyVesselCoreLib.widgets.run, "ROUND", 0)
    panel.parameters.input = add_segmentation()
    panel.process_events()
    return panel


def add_segmentation(name="vessels"):
    import slicer

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", name)
    node.CreateDefaultDisplayNodes()
    for segment in ("Portal vein", "Hepatic veins"):
        array = np.zeros((24, 24, 12), np.uint8)
        array[10:14, 2:22, 4:8] = array[2:22, 10:14, 4:8] = 1
        labelmap = add_volume(array, kind=LABELMAP)
        slicer.modules.segmentations.logic().ImportLabelmapToSegmentationNode(labelmap, node)
        slicer.mrmlScene.RemoveNode(labelmap)
        inner = node.GetSegmentation()
        inner.GetNthSegment(inner.GetNumberOfSegments() - 1).SetName(segment)
    return node


def ids(panel):
    return list(panel.parameters.input.GetSegmentation().GetSegmentIDs())


def lines_of(scene):
    count = scene.GetNumberOfNodesByClass("vtkMRMLModelNode")
    models = [scene.GetNthNodeByClass(number, "vtkMRMLModelNode") for number in range(count)]
    return [model for model in models if not model.GetHideFromEditors()]


def during_the_run(monkeypatch, action):
    """Let something happen while the panel handles events, once."""
    import slicer

    happened = []

    def process_events(*flags):
        if not happened:
            happened.append(True)
            action()

    monkeypatch.setattr(slicer.app, "processEvents", process_events)
    return happened


# --- inputs


def test_a_run_keeps_the_choices_of_its_beginning(slicer_scene, panel, monkeypatch):
    first, second = ids(panel)
    parameters = panel.parameters
    parameters.tubes = True
    other = add_segmentation("others")

    def change():
        parameters.segment, parameters.tubes, parameters.strength = second, False, 9
        parameters.colouring = type(parameters.colouring).BRANCH
        parameters.input = other

    assert during_the_run(monkeypatch, change) == []
    vessels = parameters.input
    panel.click("applyButton")
    lines, tubes = lines_of(slicer_scene)
    assert lines.GetNodeReference("PotentialSkeleton.Input") is vessels
    assert lines.GetAttribute("PotentialSkeleton.Segment") == first
    assert tubes.GetDisplayNode().GetActiveScalarName() == "Radius"
    monkeypatch.undo()
    parameters.input, parameters.segment = vessels, first
    assert not panel.ui.resultArea.isHidden()


def test_a_result_lies_where_the_vessels_were_when_it_began(slicer_scene, panel, monkeypatch):
    import slicer
    import vtk

    transform = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
    matrix = vtk.vtkMatrix4x4()
    matrix.SetElement(0, 3, 40.0)
    transform.SetMatrixTransformToParent(matrix)
    vessels = panel.parameters.input
    vessels.SetAndObserveTransformNodeID(transform.GetID())
    during_the_run(monkeypatch, lambda: vessels.HardenTransform())
    panel.click("applyButton")
    (lines,) = lines_of(slicer_scene)
    bounds, around = [0.0] * 6, [0.0] * 6
    lines.GetRASBounds(bounds)
    vessels.GetRASBounds(around)
    assert around[0] <= bounds[0] < bounds[1] <= around[1]


def test_removing_the_segment_during_a_run_ends_it(slicer_scene, panel, monkeypatch):
    segmentation = panel.parameters.input.GetSegmentation()
    first = ids(panel)[0]
    during_the_run(monkeypatch, lambda: segmentation.RemoveSegment(first))
    panel.click("applyButton")
    monkeypatch.undo()
    panel.process_events()
    assert panel.ui.statusLabel.text == (
        "Cancelled: the segment 'Portal vein' was removed; nothing was changed."
    )
    assert lines_of(slicer_scene) == []


def test_the_status_goes_with_the_vessels_that_it_speaks_of(panel):
    panel.click("applyButton")
    assert panel.ui.statusLabel.text.startswith("Found")
    panel.parameters.segment = ids(panel)[1]
    assert panel.ui.statusLabel.text == ""


def test_a_scene_that_is_loaded_behind_another_module_keeps_its_input(
    slicer_scene, panel, tmp_path
):
    import slicer

    second = ids(panel)[1]
    panel.parameters.segment = second
    panel.click("applyButton")
    rows, volume = panel.ui.branchTable.rowCount, panel.ui.summaryLabel.text
    assert slicer.util.saveScene(str(tmp_path / "scene.mrb"), {})
    panel.window.exit()
    slicer_scene.Clear(False)
    add_segmentation("others")
    slicer.util.loadScene(str(tmp_path / "scene.mrb"), {})
    panel.process_events()
    panel.window.enter()
    panel.process_events()
    assert panel.parameters.input.GetName() == "vessels"
    assert panel.parameters.segment == second
    assert panel.ui.inputSelector.currentNode() is panel.parameters.input
    assert panel.ui.branchTable.rowCount == rows
    assert panel.ui.summaryLabel.text == volume


def test_a_scene_is_loaded_before_the_module_is_opened(slicer_scene, open_panel, tmp_path):
    import slicer

    from PotentialSkeleton import PotentialSkeletonLogic

    parameters = PotentialSkeletonLogic().getParameterNode()
    parameters.input = add_segmentation()
    parameters.segment = second = parameters.input.GetSegmentation().GetNthSegmentID(1)
    assert slicer.util.saveScene(str(tmp_path / "scene.mrb"), {})
    slicer_scene.Clear(False)
    slicer.util.loadScene(str(tmp_path / "scene.mrb"), {})
    panel = open_panel("PotentialSkeleton")
    assert panel.parameters.input.GetName() == "vessels"
    assert panel.ui.segmentSelector.currentSegmentID() == panel.parameters.segment == second


# --- what is chosen first


def test_the_segment_in_the_segment_editor_is_chosen(slicer_scene, open_panel):
    import slicer

    panel = open_panel("PotentialSkeleton")
    panel.window.exit()
    edited = add_segmentation("edited")
    add_segmentation("newer")
    editor = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentEditorNode")
    editor.SetAndObserveSegmentationNode(edited)
    wanted = list(edited.GetSegmentation().GetSegmentIDs())[1]
    editor.SetSelectedSegmentID(wanted)
    panel.window.enter()
    assert panel.parameters.input is edited
    assert panel.parameters.segment == wanted
    assert panel.ui.segmentSelector.currentSegmentID() == wanted


def test_what_is_shown_is_chosen_before_what_is_hidden(slicer_scene, open_panel):
    panel = open_panel("PotentialSkeleton")
    panel.window.exit()
    shown = add_segmentation("shown")
    add_segmentation("hidden").GetDisplayNode().SetVisibility(False)
    panel.window.enter()
    assert panel.parameters.input is shown


# --- centrelines inside their segment


def opacity(panel, number=0):
    display = panel.parameters.input.GetDisplayNode()
    return display.GetSegmentOpacity3D(ids(panel)[number])


def test_the_segment_is_translucent_while_its_centrelines_are_shown(slicer_scene, panel):
    assert opacity(panel) == 1.0
    panel.click("applyButton")
    assert opacity(panel) < 0.5
    assert opacity(panel, 1) == 1.0
    (lines,) = lines_of(slicer_scene)
    lines.GetDisplayNode().SetVisibility(False)
    assert opacity(panel) == 1.0
    lines.GetDisplayNode().SetVisibility(True)
    assert opacity(panel) < 0.5
    slicer_scene.RemoveNode(lines)
    assert opacity(panel) == 1.0


def test_an_opacity_that_somebody_chose_stays(slicer_scene, panel):
    panel.click("applyButton")
    display = panel.parameters.input.GetDisplayNode()
    display.SetSegmentOpacity3D(ids(panel)[0], 0.7)
    panel.widget.panel.update()
    panel.click("applyButton")
    assert opacity(panel) == 0.7
    slicer_scene.RemoveNode(lines_of(slicer_scene)[0])
    assert opacity(panel) == 0.7


def test_the_opacity_comes_back_after_saving_and_loading(slicer_scene, panel, tmp_path):
    import slicer

    panel.click("applyButton")
    assert slicer.util.saveScene(str(tmp_path / "scene.mrb"), {})
    slicer_scene.Clear(False)
    slicer.util.loadScene(str(tmp_path / "scene.mrb"), {})
    panel.process_events()
    assert opacity(panel) < 0.5
    slicer_scene.RemoveNode(lines_of(slicer_scene)[0])
    assert opacity(panel) == 1.0


# --- outputs


def test_unticked_outputs_go_together_with_the_next_run(slicer_scene, panel):
    for name in ("tubes", "labelmap", "curves", "criticalPoints", "field"):
        setattr(panel.parameters, name, True)
    before = slicer_scene.GetNumberOfNodes()
    panel.click("applyButton")
    for name in ("tubes", "labelmap", "curves", "criticalPoints", "field", "table"):
        setattr(panel.parameters, name, False)
    panel.click("applyButton")
    (lines,) = lines_of(slicer_scene)
    for kind in ("MarkupsCurve", "MarkupsFiducial", "VectorVolume", "LabelMapVolume"):
        assert slicer_scene.GetNumberOfNodesByClass(f"vtkMRML{kind}Node") == 0, kind
    left = {"Model", "ModelDisplay", "ColorLegendDisplay", "ModelStorage"}
    assert slicer_scene.GetNumberOfNodes() - before <= len(left)
    assert lines.GetPolyData().GetNumberOfLines() == panel.ui.branchTable.rowCount


# --- how it is shown


def test_rows_do_not_move_while_a_run_goes_on(panel, monkeypatch):
    import slicer

    panel.click("applyButton")
    panel.grab()
    names = ("applyButton", "nextLabel", "summaryLabel", "branchTable", "advancedSection")
    places = []

    def look(*flags):
        panel.window.layout().activate()
        places.append(tuple(getattr(panel.ui, name).y for name in names))

    look()
    monkeypatch.setattr(slicer.app, "processEvents", look)
    panel.click("applyButton")
    monkeypatch.undo()
    assert len(places) > 2
    assert len(set(places)) == 1


def test_the_first_view_needs_no_scrolling(panel):
    """On 1600 x 1000 pixels Slicer leaves a module about 740 of the height."""
    panel.click("applyButton")
    panel.ui.branchTable.selectRow(0)
    assert panel.ui.advancedSection.collapsed
    assert panel.grab().height() <= 740


def test_everything_else_is_under_two_collapsibles(panel):
    import ctk

    sections = panel.window.findChildren(ctk.ctkCollapsibleButton)
    assert [each.name for each in sections if each.name in vars(panel.ui)] == [
        "branchToolsSection",
        "advancedSection",
    ]


# --- vessels that are edited afterwards


EDITED = "The vessels were edited after the centrelines were found: press Apply."


def edit_segment(node, segment_id):
    import slicer

    segment = node.GetSegmentation().GetSegment(segment_id)
    array = slicer.util.arrayFromSegmentInternalBinaryLabelmap(node, segment_id)
    inside = (array == segment.GetLabelValue()).nonzero()
    array[tuple(axis[0] for axis in inside)] = 0  # one voxel is taken away
    image = segment.GetRepresentation("Binary labelmap")
    image.GetPointData().GetScalars().Modified()
    image.Modified()


def test_a_segment_that_was_edited_asks_for_another_run(panel, tmp_path):
    import slicer

    vessels, (first, second) = panel.parameters.input, ids(panel)
    panel.click("applyButton")
    advice = panel.ui.nextLabel.text
    edit_segment(vessels, second)  # another one: nothing to do
    vessels.GetSegmentation().GetSegment(first).SetColor(0, 1, 0)
    panel.process_events()
    assert panel.ui.nextLabel.text == advice
    edit_segment(vessels, first)
    panel.process_events()
    assert panel.ui.nextLabel.text == EDITED
    assert slicer.util.saveScene(str(tmp_path / "scene.mrb"), {})
    slicer.mrmlScene.Clear(False)
    panel.process_events()
    slicer.util.loadScene(str(tmp_path / "scene.mrb"), {})
    panel.process_events()
    assert panel.ui.nextLabel.text == EDITED  # also after saving and loading
    panel.click("applyButton")
    assert panel.ui.nextLabel.text == advice


def test_a_labelmap_that_was_edited_asks_for_another_run(panel):
    import slicer

    array = np.zeros((24, 24, 12), np.uint8)
    array[10:14, 2:22, 4:8] = 1
    panel.parameters.input = labelmap = add_volume(array, kind=LABELMAP)
    panel.click("applyButton")
    assert panel.ui.nextLabel.text != EDITED
    array[10:14, 2:4, 4:8] = 0
    slicer.util.updateVolumeFromArray(labelmap, array)
    panel.process_events()
    assert panel.ui.nextLabel.text == EDITED


def test_vessels_that_are_moved_take_their_centrelines_along(panel):
    import slicer

    panel.click("applyButton")
    advice = panel.ui.nextLabel.text
    transform = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
    panel.parameters.input.SetAndObserveTransformNodeID(transform.GetID())
    panel.process_events()
    assert panel.ui.nextLabel.text == advice


# --- settings


STALE = "Settings were changed after the centrelines were found: press Apply."


def test_settings_that_were_changed_ask_for_another_run(panel, tmp_path):
    import slicer

    panel.click("applyButton")
    advice, parameters = panel.ui.nextLabel.text, panel.parameters
    parameters.device = type(parameters.device).CPU  # gives the same
    parameters.colouring = type(parameters.colouring).BRANCH  # is not of the run
    assert panel.ui.nextLabel.text == advice
    parameters.strength = 8
    assert panel.ui.nextLabel.text == STALE
    parameters.strength = 6
    assert panel.ui.nextLabel.text == advice
    parameters.curves = True
    assert panel.ui.nextLabel.text == STALE
    assert slicer.util.saveScene(str(tmp_path / "scene.mrb"), {})
    slicer.mrmlScene.Clear(False)
    panel.process_events()
    slicer.util.loadScene(str(tmp_path / "scene.mrb"), {})
    panel.process_events()
    assert panel.ui.nextLabel.text == STALE  # also after saving and loading
    panel.click("applyButton")
    assert panel.ui.nextLabel.text == advice


def test_the_share_of_divergence_counts_only_where_it_is_used(panel):
    parameters = panel.parameters
    panel.click("applyButton")
    parameters.divergence = 30
    assert panel.ui.nextLabel.text == STALE
    parameters.level = type(parameters.level).CORE
    panel.click("applyButton")
    advice = panel.ui.nextLabel.text
    assert advice != STALE
    parameters.divergence = 40
    assert panel.ui.nextLabel.text == advice


# --- another segment's result


def test_an_error_says_whose_centrelines_the_views_show(slicer_scene, panel):
    panel.click("applyButton")
    segmentation = panel.parameters.input.GetSegmentation()
    first = ids(panel)[0]
    panel.parameters.segment = segmentation.AddEmptySegment("", "Nothing yet")
    other = "The views show the centrelines of Portal vein."
    assert panel.ui.nextLabel.text == f"Press Apply to find the centrelines. {other}"
    panel.click("applyButton")
    assert "is empty" in panel.ui.statusLabel.text
    assert panel.ui.nextLabel.text.endswith(f"press Apply again. {other}")
    assert panel.ui.resultArea.isHidden()
    (model,) = lines_of(slicer_scene)
    model.GetDisplayNode().SetVisibility(False)
    panel.widget.panel.update()
    assert "The views show" not in panel.ui.nextLabel.text
    panel.parameters.segment = first
