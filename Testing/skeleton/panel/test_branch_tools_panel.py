"""Branch tools and several segments in the panel, clicked as a user would."""

import json

import numpy as np
import pytest
from scipy import ndimage

from support.mrml_cases import add_volume
from support.vessel_scene import GAP, MATRIX, STENOSIS, add_segmentation, vessels, world


@pytest.fixture
def opened(skeleton_panel):
    """The panel with a segment; beside it a vein, and an organ."""
    mask = vessels()
    organ = ndimage.binary_dilation(mask, iterations=5)
    skeleton_panel.parameters.input = add_segmentation(
        {"Portal": mask, "Vein": mask[:, ::-1, ::-1], "Liver": organ}
    )
    skeleton_panel.parameters.tubes = True
    skeleton_panel.process_events()
    return skeleton_panel


@pytest.fixture
def panel(opened):
    """The panel with the tree of that segment."""
    opened.click("applyButton")
    opened.ui.branchToolsSection.collapsed = False
    opened.process_events()
    return opened


def tools(panel):
    return panel.widget.panel.tools.ui


def press(panel, name):
    button = getattr(tools(panel), name)
    assert button.isEnabled(), name
    button.click()
    panel.process_events()


def click_at(panel, place):
    """A click in a view (R, A, S) while a tool waits for one."""
    node = tools(panel).clickPlaceWidget.currentNode()
    assert node is not None
    node.AddControlPointWorld(place)
    panel.process_events()


def tree_of(panel):
    return panel.widget.logic.tree(panel.widget.panel.result.models[0])


def said(panel):
    return tools(panel).toolLabel.text


def steps(panel):
    rows = tools(panel).stepsList
    return [rows.item(row).text() for row in range(rows.count)]


def choose_trunk(panel):
    """Choose the branch with the stenosis, the first of the trunk."""
    tree, there = tree_of(panel), world((12, 28, 20))[::-1]
    away = [np.linalg.norm(b.points - there, axis=1).min() for b in tree.skeleton.branches]
    branch = int(np.argmin(away))
    panel.widget.panel.result.choose([(tree.model, branch)])
    panel.process_events()
    return branch


def name_chosen(panel, name):
    tools(panel).nameEdit.text = name
    tools(panel).nameEdit.editingFinished.emit()
    panel.process_events()


def prune(panel, length):
    tools(panel).pruneSpinBox.value = length
    press(panel, "pruneButton")


def texts(panel, title):
    table = panel.ui.branchTable
    columns = [table.horizontalHeaderItem(n).text() for n in range(table.columnCount)]
    column = columns.index(title)
    assert not table.isColumnHidden(column)
    return [table.item(row, column).text() for row in range(table.rowCount)]


# --- one tree


def test_a_closed_section_shows_the_chosen_branch_once_it_is_opened(panel):
    section, label = panel.ui.branchToolsSection, tools(panel).branchLabel
    section.collapsed = True
    before = label.text
    panel.ui.branchTable.selectRow(0)
    panel.process_events()
    assert label.text == before
    section.collapsed = False
    panel.process_events()
    assert label.text != before


def test_pruning_is_listed_and_taken_back(panel):
    assert panel.ui.branchTable.rowCount == 6
    prune(panel, 14)
    assert panel.ui.branchTable.rowCount == 4
    assert steps(panel) == ["1. Removed: shorter than 14.0 mm"]
    assert said(panel) == "6 branches before, 4 now."
    press(panel, "pruneButton")
    assert said(panel) == "No branch is like that; all 4 stay."
    assert len(steps(panel)) == 1
    press(panel, "undoButton")
    assert (panel.ui.branchTable.rowCount, steps(panel)) == (6, [])
    assert not tools(panel).undoButton.isEnabled()


def test_apply_asks_before_steps_are_lost(panel, monkeypatch):
    import slicer

    asked, answers = [], [False, True]
    monkeypatch.setattr(
        slicer.util, "confirmYesNoDisplay", lambda text, **_: asked.append(text) or answers.pop(0)
    )
    panel.click("applyButton")  # nothing is lost
    assert not asked
    prune(panel, 14)
    panel.click("applyButton")
    assert "Portal (steps: 1)" in asked[0]
    assert (panel.ui.branchTable.rowCount, len(steps(panel))) == (4, 1)
    panel.click("applyButton")
    assert (panel.ui.branchTable.rowCount, len(steps(panel))) == (6, 0)


def test_names_are_proposed_changed_by_a_click_and_accepted(panel):
    box = tools(panel).anatomyComboBox
    box.currentIndex = box.findText("aorta")
    press(panel, "proposeButton")
    assert said(panel).startswith("2 names proposed")
    found = set(texts(panel, "Name")) - {""}
    assert "aorta (?)" in found
    assert all(name.endswith("(?)") for name in found)
    branch = choose_trunk(panel)
    names = tools(panel).usualNameComboBox
    names.activated.emit(names.findText("right common iliac"))
    panel.process_events()
    assert {"right common iliac", "aorta (?)"} <= set(texts(panel, "Name"))
    assert panel.widget.panel.result.chosen()[0][1] == branch
    press(panel, "acceptButton")
    assert not any("?" in name for name in texts(panel, "Name"))
    assert "aorta" in texts(panel, "Name")
    assert not tools(panel).acceptButton.isEnabled()


def test_a_name_is_kept_and_shown(panel):
    branch = choose_trunk(panel)
    name_chosen(panel, "Trunk, main")
    assert "Trunk, main" in texts(panel, "Name")
    assert panel.widget.panel.result.chosen()[0][1] == branch
    name_chosen(panel, "")
    assert panel.ui.branchTable.isColumnHidden(5)


def test_the_narrowest_place_is_shown_against_a_reference(panel, slices):
    choose_trunk(panel)
    press(panel, "narrowestButton")
    assert abs(slices[0].GetSliceToRAS().GetElement(2, 3) - world(STENOSIS)[2]) < 2
    assert "is narrowest" in tools(panel).branchLabel.text
    tools(panel).referenceSpinBox.value = 10
    assert "% narrower than 10.0 mm" in tools(panel).branchLabel.text
    panel.ui.branchTable.clearSelection()
    assert "Click a branch" in tools(panel).branchLabel.text


def test_a_gap_is_bridged_and_a_branch_cut_by_a_click(panel):
    import slicer

    press(panel, "bridgeButton")
    assert "Click into the gap" in said(panel)
    click_at(panel, world(GAP))
    assert "separate parts" not in panel.ui.summaryLabel.text
    press(panel, "cutButton")
    click_at(panel, world((56, 36, 20)))
    assert "2 separate parts" in panel.ui.summaryLabel.text
    assert steps(panel) == ["1. Gap bridged", "2. Branch cut"]
    assert not tools(panel).cutButton.checked
    names = [node.GetName() for node in slicer.util.getNodesByClass("vtkMRMLMarkupsFiducialNode")]
    assert "Branch tool" not in names
    press(panel, "undoButton")
    assert steps(panel) == ["1. Gap bridged"]


def test_the_distance_between_two_clicks(panel):
    press(panel, "distanceButton")
    click_at(panel, world((66, 44, 20)))
    assert "Click two places" in said(panel)
    click_at(panel, world((70, 12, 20)))
    assert "along the vessels" in said(panel)
    assert "tortuosity" in said(panel)


def test_a_section_and_a_stenosis_by_clicks(panel):
    press(panel, "sectionButton")
    click_at(panel, world((12, 28, 20)))
    assert "mm2; diameters 9.5 and 9.2 mm" in said(panel)  # 10 mm, in voxels of 1 mm
    press(panel, "stenosisButton")
    click_at(panel, world(STENOSIS))
    assert "Click the narrow place" in said(panel)
    click_at(panel, world((12, 28, 20)))
    assert "% by diameter" in said(panel)
    assert "% by area" in said(panel)


@pytest.fixture
def views(panel, slices):
    """The views show a volume on the vessels' grid."""
    volume = add_volume(vessels().astype(np.int16), MATRIX)
    for view, composite in zip(slices[::2], slices[1::2]):
        view.SetFieldOfView(200, 100, 1)
        composite.SetBackgroundVolumeID(volume.GetID())
    return slices


def test_a_branch_is_straightened_turned_and_found_in_the_patient(panel, views):
    import slicer

    view, composite, other, _other_composite = views
    volume = composite.GetBackgroundVolumeID()
    assert not tools(panel).turnSlider.isVisibleTo(tools(panel).turnSlider.parent())
    choose_trunk(panel)
    press(panel, "straightenButton")
    assert "is shown in the view Green" in said(panel)
    shown = slicer.mrmlScene.GetNodeByID(composite.GetBackgroundVolumeID())
    assert shown.GetName() == "Portal straightened"
    bounds = [0.0] * 6
    shown.GetRASBounds(bounds)
    middle = np.reshape(bounds, (3, 2)).mean(axis=1)
    assert view.GetFieldOfView()[1] >= bounds[5] - bounds[4]
    tools(panel).turnSlider.value = 90
    matrix = view.GetSliceToRAS()
    assert [round(matrix.GetElement(row, 0)) for row in range(3)] == [0, -1, 0]
    assert [matrix.GetElement(row, 3) for row in range(3)] == pytest.approx(middle)
    press(panel, "patientButton")
    click_at(panel, middle)
    assert "in the patient" in said(panel)
    there = [other.GetSliceToRAS().GetElement(row, 3) for row in range(3)]
    branches = tree_of(panel).skeleton.branches
    middles = [branch.points[len(branch.points) // 2][::-1] for branch in branches]
    assert min(np.linalg.norm(each - there) for each in middles) < 1.5
    press(panel, "closeButton")
    assert composite.GetBackgroundVolumeID() == volume
    assert view.GetFieldOfView() == (200, 100, 1)
    assert slicer.mrmlScene.IsNodePresent(shown)
    press(panel, "straightenButton")
    assert tools(panel).turnSlider.value == 0


def test_the_view_is_as_before_when_the_module_is_left(panel, views):
    view, composite, *_others = views
    volume, before = composite.GetBackgroundVolumeID(), view.GetSliceToRAS().GetElement(0, 0)
    choose_trunk(panel)
    press(panel, "straightenButton")
    assert composite.GetBackgroundVolumeID() != volume
    panel.widget.exit()
    assert composite.GetBackgroundVolumeID() == volume
    assert view.GetFieldOfView() == (200, 100, 1)
    assert view.GetSliceToRAS().GetElement(0, 0) == before


def test_vessels_are_split_and_measured(panel, tmp_path):
    press(panel, "splitButton")
    assert "6 segments in Portal by branch" in said(panel)
    press(panel, "sectionsButton")
    assert "both diameters" in said(panel)
    tree = tree_of(panel)
    assert "equivalent_diameter_mm" in tree.table()
    branch = choose_trunk(panel)
    plot, found = panel.widget.panel.result.plot, tree.sectionsAlong(branch)
    rows = found.equivalent_diameter, found.largest_diameter, found.smallest_diameter
    np.testing.assert_array_equal(plot.curves[1], rows)
    panel.grab(tmp_path / "sections.png")
    shown = tree.table()["smallest_diameter_mm"]
    tree.cut(tree.narrowest(branch).position)  # the lines are others now: measured no more
    assert not tree.hasSections
    tree.undo()
    assert tree.table()["smallest_diameter_mm"] == shown


def test_an_organ_is_divided(panel):
    ui = tools(panel)
    assert not ui.organButton.isEnabled()
    node = panel.parameters.input
    ui.organSelector.setCurrentNode(node)
    panel.process_events()
    ui.organSegmentSelector.setCurrentSegmentID(node.GetSegmentation().GetNthSegmentID(2))
    press(panel, "organButton")
    assert "ml." in said(panel)
    ui.groupComboBox.currentIndex = 2
    press(panel, "organButton")
    assert "No branch has a name" in panel.ui.statusLabel.text


def test_the_tree_goes_to_other_programs(panel, monkeypatch, tmp_path):
    import qt
    import slicer

    choose_trunk(panel)
    name_chosen(panel, "Trunk, main")
    press(panel, "vmtkButton")
    assert said(panel) == "Added the model Portal rooted."
    model = slicer.util.getNode("Portal rooted")
    assert model.GetPolyData().GetCellData().HasArray("Name")
    monkeypatch.setattr(qt.QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    press(panel, "formatsButton")
    folder = tmp_path / "Portal for other programs"
    assert f"Saved {folder}" in said(panel)
    assert list((folder / "simvascular-paths").glob("Trunk, main*.pth"))
    press(panel, "formatsButton")
    assert "is there already" in panel.ui.statusLabel.text
    monkeypatch.setattr(qt.QFileDialog, "getExistingDirectory", lambda *_: "")
    press(panel, "formatsButton")
    assert [each.name for each in tmp_path.iterdir()] == [folder.name]


# --- several segments


def test_several_segments_make_a_tree_each_in_one_list(opened):
    panel = opened
    portal, vein, liver = panel.parameters.input.GetSegmentation().GetSegmentIDs()
    panel.parameters.input.GetDisplayNode().SetSegmentVisibility(liver, False)
    panel.ui.severalCheckBox.click()
    assert json.loads(panel.parameters.segments) == [portal, vein]
    assert panel.ui.segmentSelector.selectedSegmentIDs() == (portal, vein)
    panel.ui.segmentSelector.setSelectedSegmentIDs([portal])
    assert json.loads(panel.parameters.segments) == [portal]
    panel.ui.segmentSelector.setSelectedSegmentIDs([portal, vein])
    assert panel.parameters.colouring.value == "tree"
    panel.click("applyButton")
    assert panel.ui.statusLabel.text.startswith("Found 12 branches in 2 trees.")
    assert set(texts(panel, "Tree")) == {"Portal", "Vein"}
    assert "4 separate parts" in panel.ui.summaryLabel.text
    panel.ui.branchToolsSection.collapsed = False
    last = panel.ui.branchTable.rowCount - 1
    panel.ui.branchTable.selectRow(last)
    assert panel.widget.panel.result.chosen()[0][0].GetName() == "Vein centrelines"
    prune(panel, 14)  # of the tree of the chosen branch
    assert texts(panel, "Tree").count("Vein") == 4
    assert texts(panel, "Tree").count("Portal") == 6


# --- how it looks


def test_nothing_is_clipped(panel, tmp_path):
    choose_trunk(panel)
    prune(panel, 14)
    panel.grab(tmp_path / "tools.png")
    assert panel.clipped() == []
