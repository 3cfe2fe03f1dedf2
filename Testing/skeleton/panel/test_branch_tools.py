"""Branch tools and several segments in the panel, clicked as a user would."""

import json

import numpy as np
import pytest

from support.vessel_scene import GAP, STENOSIS, add_segmentation, vessels, world


@pytest.fixture
def panel(slicer_scene, open_panel, monkeypatch):
    """The panel with a tree of a segment; beside it a vein, and an organ."""
    panel = opened(open_panel, monkeypatch)
    panel.click("applyButton")
    panel.process_events()
    return panel


def opened(open_panel, monkeypatch):
    from scipy import ndimage

    panel = open_panel("PotentialSkeleton")
    import FuzzyVesselCoreLib.widgets.run

    monkeypatch.setattr(FuzzyVesselCoreLib.widgets.run, "ROUND", 0)
    mask = vessels()
    organ = ndimage.binary_dilation(mask, iterations=5)
    panel.parameters.input = add_segmentation(
        {"Portal": mask, "Vein": mask[:, ::-1, ::-1], "Liver": organ}
    )
    panel.parameters.tubes = True
    panel.process_events()
    return panel


def tools(panel):
    return panel.widget.panel.tools.ui


def press(panel, name):
    button = getattr(tools(panel), name)
    assert button.isEnabled(), name
    button.click()
    panel.process_events()


def click_at(panel, voxel):
    """A click in a view while a tool waits for one."""
    node = tools(panel).clickPlaceWidget.currentNode()
    assert node is not None
    node.AddControlPointWorld(world(voxel))
    panel.process_events()


def said(panel):
    return tools(panel).toolLabel.text


def steps(panel):
    rows = tools(panel).stepsList
    return [rows.item(row).text() for row in range(rows.count)]


def choose_trunk(panel):
    """Choose the branch with the stenosis, the first of the trunk."""
    model = panel.widget.panel.result.models[0]
    tree = panel.widget.logic.tree(model)
    there = world((12, 28, 20))[::-1]
    away = [np.linalg.norm(b.points - there, axis=1).min() for b in tree.skeleton.branches]
    branch = int(np.argmin(away))
    panel.widget.panel.result.choose([(model, branch)])
    panel.process_events()
    return branch


def texts(panel, title):
    table = panel.ui.branchTable
    columns = [table.horizontalHeaderItem(n).text() for n in range(table.columnCount)]
    column = columns.index(title)
    assert not table.isColumnHidden(column)
    return [table.item(row, column).text() for row in range(table.rowCount)]


# --- one tree


def test_the_tools_are_there_with_a_tree_only(slicer_scene, open_panel, monkeypatch):
    panel = opened(open_panel, monkeypatch)
    assert panel.ui.branchToolsSection.isHidden()
    panel.click("applyButton")
    assert not panel.ui.branchToolsSection.isHidden()
    assert panel.ui.branchToolsSection.collapsed
    assert not tools(panel).narrowestButton.isEnabled()
    assert "Click a branch" in tools(panel).branchLabel.text


def test_pruning_is_listed_and_taken_back(panel):
    assert panel.ui.branchTable.rowCount == 6
    tools(panel).pruneSpinBox.value = 14
    press(panel, "pruneButton")
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
    tools(panel).pruneSpinBox.value = 14
    press(panel, "pruneButton")
    panel.click("applyButton")
    assert "Portal (steps: 1)" in asked[0]
    assert (panel.ui.branchTable.rowCount, len(steps(panel))) == (4, 1)
    panel.click("applyButton")
    assert (panel.ui.branchTable.rowCount, len(steps(panel))) == (6, 0)


def test_each_kind_of_pruning_has_its_unit(panel):
    box = tools(panel).pruneComboBox
    units = []
    for index in range(box.count):
        box.currentIndex = index
        units.append(tools(panel).pruneSpinBox.suffix)
    assert units == [" mm", " mm", " x radius", ""]
    tools(panel).pruneSpinBox.value = 0
    press(panel, "pruneButton")
    assert steps(panel) == ["1. Removed: beyond generation 0"]


def test_steps_are_repeated_on_another_tree(panel, monkeypatch, tmp_path):
    import qt

    tools(panel).pruneSpinBox.value = 14
    press(panel, "pruneButton")
    press(panel, "bridgeButton")
    click_at(panel, GAP)
    path = str(tmp_path / "steps.json")
    monkeypatch.setattr(qt.QFileDialog, "getSaveFileName", lambda *_: path)
    monkeypatch.setattr(qt.QFileDialog, "getOpenFileName", lambda *_: path)
    press(panel, "saveStepsButton")
    panel.parameters.segment = panel.parameters.input.GetSegmentation().GetNthSegmentID(1)
    panel.click("applyButton")
    assert (panel.ui.branchTable.rowCount, steps(panel)) == (6, [])
    press(panel, "loadStepsButton")
    assert panel.ui.branchTable.rowCount == 4
    assert steps(panel) == ["1. Removed: shorter than 14.0 mm"]
    (tmp_path / "steps.json").write_text("nothing", encoding="utf-8")
    press(panel, "loadStepsButton")
    assert "no list of steps" in said(panel)


def test_a_name_is_kept_and_shown(panel):
    branch = choose_trunk(panel)
    tools(panel).nameEdit.text = "Trunk, main"
    tools(panel).nameEdit.editingFinished.emit()
    panel.process_events()
    assert "Trunk, main" in texts(panel, "Name")
    assert panel.widget.panel.result.chosen()[1] == branch
    tools(panel).nameEdit.text = ""
    tools(panel).nameEdit.editingFinished.emit()
    panel.process_events()
    assert panel.ui.branchTable.isColumnHidden(5)


def choose_rows(panel, rows):
    """Choose rows of the table, as clicks with Ctrl do."""
    for row in rows:
        for column in range(panel.ui.branchTable.columnCount):
            item = panel.ui.branchTable.item(row, column)
            if item is not None:
                item.setSelected(True)
    panel.process_events()


def name_chosen(panel, name):
    tools(panel).nameEdit.text = name
    tools(panel).nameEdit.editingFinished.emit()
    panel.process_events()


def test_several_branches_get_one_name_and_are_a_group(panel):
    choose_rows(panel, (0, 2))
    assert "2 branches" in tools(panel).branchLabel.text
    assert not tools(panel).narrowestButton.isEnabled()
    chosen = panel.widget.panel.result.all_chosen()
    name_chosen(panel, "Left, upper")
    assert texts(panel, "Name").count("Left, upper") == 2
    assert panel.widget.panel.result.all_chosen() == chosen
    assert tools(panel).nameEdit.text == "Left, upper"
    tools(panel).splitComboBox.currentIndex = 2
    press(panel, "splitButton")
    assert "1 segment in Portal by name" in said(panel)


def test_all_chosen_branches_are_drawn(panel):
    import slicer

    def drawn():
        return slicer.util.getNode("Chosen branch").GetPolyData().GetBounds()

    choose_rows(panel, (0,))
    one = drawn()
    choose_rows(panel, (1, 2))
    both = drawn()
    assert both != one
    assert all(both[n] <= one[n] for n in (0, 2, 4))
    assert all(both[n] >= one[n] for n in (1, 3, 5))
    panel.ui.branchTable.clearSelection()
    assert not slicer.util.getNodes("Chosen branch")


def test_the_narrowest_place_is_shown_against_a_reference(panel):
    import slicer

    # No view is needed, and a name of its own: slice nodes are singletons by name.
    node = slicer.vtkMRMLSliceNode()
    node.SetLayoutName("Narrowest")
    node.SetSingletonTag("Narrowest")
    slicer.mrmlScene.AddNode(node)
    try:
        choose_trunk(panel)
        press(panel, "narrowestButton")
        assert abs(node.GetSliceToRAS().GetElement(2, 3) - world(STENOSIS)[2]) < 2
    finally:
        slicer.mrmlScene.RemoveNode(node)
    assert "is narrowest" in tools(panel).branchLabel.text
    tools(panel).referenceSpinBox.value = 10
    assert "% narrower than 10.0 mm" in tools(panel).branchLabel.text
    panel.ui.branchTable.clearSelection()
    assert "Click a branch" in tools(panel).branchLabel.text


def test_a_gap_is_bridged_and_a_branch_cut_by_a_click(panel):
    import slicer

    press(panel, "bridgeButton")
    assert "Click into the gap" in said(panel)
    click_at(panel, GAP)
    assert "separate parts" not in panel.ui.summaryLabel.text
    press(panel, "cutButton")
    click_at(panel, (56, 36, 20))
    assert "2 separate parts" in panel.ui.summaryLabel.text
    assert steps(panel) == ["1. Gap bridged", "2. Branch cut"]
    assert not tools(panel).cutButton.checked
    names = [node.GetName() for node in slicer.util.getNodesByClass("vtkMRMLMarkupsFiducialNode")]
    assert "Branch tool" not in names
    press(panel, "undoButton")
    assert steps(panel) == ["1. Gap bridged"]


def test_a_click_far_from_the_tree_is_said(panel):
    press(panel, "removeButton")
    click_at(panel, (300, 300, 300))
    assert "away from the tree" in said(panel)
    assert steps(panel) == []


def test_the_distance_between_two_clicks(panel):
    press(panel, "distanceButton")
    click_at(panel, (66, 44, 20))
    assert "Click two places" in said(panel)
    click_at(panel, (70, 12, 20))
    assert "along the vessels" in said(panel)
    assert "tortuosity" in said(panel)


def test_a_tool_that_is_pressed_again_waits_no_more(panel):
    press(panel, "cutButton")
    press(panel, "removeButton")
    assert not tools(panel).cutButton.checked
    press(panel, "removeButton")
    assert tools(panel).clickPlaceWidget.currentNode() is None
    press(panel, "cutButton")
    panel.window.exit()
    assert tools(panel).clickPlaceWidget.currentNode() is None


def test_vessels_are_split_and_measured(panel):
    press(panel, "splitButton")
    assert "6 segments in Portal by branch" in said(panel)
    press(panel, "sectionsButton")
    assert "both diameters" in said(panel)
    tree = panel.widget.logic.tree(panel.widget.panel.result.models[0])
    assert "equivalent_diameter_mm" in tree.table()


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


def test_an_organ_is_divided_among_a_named_branch_and_what_lies_downstream(panel):
    ui, node = tools(panel), panel.parameters.input
    ui.organSelector.setCurrentNode(node)
    panel.process_events()
    ui.organSegmentSelector.setCurrentSegmentID(node.GetSegmentation().GetNthSegmentID(2))
    generations = [int(text) for text in texts(panel, "Gen.")]
    choose_rows(panel, [row for row, number in enumerate(generations) if number == 0][:1])
    name_chosen(panel, "All of it")
    choose_rows(panel, [])
    ui.groupComboBox.currentIndex = 3
    press(panel, "organButton")
    assert "1 part; the largest is All of it" in said(panel)


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


def test_several_segments_make_a_tree_each_in_one_list(slicer_scene, open_panel, monkeypatch):
    panel = opened(open_panel, monkeypatch)
    portal, vein, liver = panel.parameters.input.GetSegmentation().GetSegmentIDs()
    panel.parameters.input.GetDisplayNode().SetSegmentVisibility(liver, False)
    panel.ui.severalCheckBox.click()
    assert json.loads(panel.parameters.segments) == [portal, vein]
    assert not panel.ui.segmentsList.isHidden()
    assert panel.ui.segmentSelector.isHidden()
    assert panel.parameters.colouring.value == "tree"
    panel.click("applyButton")
    assert panel.ui.statusLabel.text.startswith("Found 12 branches in 2 trees.")
    assert set(texts(panel, "Tree")) == {"Portal", "Vein"}
    assert "4 separate parts" in panel.ui.summaryLabel.text
    last = panel.ui.branchTable.rowCount - 1
    panel.ui.branchTable.selectRow(last)
    assert panel.widget.panel.result.chosen()[0].GetName() == "Vein centrelines"
    tools(panel).pruneSpinBox.value = 14
    press(panel, "pruneButton")  # of the tree of the chosen branch
    assert texts(panel, "Tree").count("Vein") == 4
    assert texts(panel, "Tree").count("Portal") == 6


def test_one_of_several_segments_is_unticked(slicer_scene, open_panel, monkeypatch):
    import qt

    panel = opened(open_panel, monkeypatch)
    panel.ui.severalCheckBox.click()
    for row in (0, 1, 2):
        panel.ui.segmentsList.item(row).setCheckState(qt.Qt.Unchecked)
    assert not panel.ui.applyButton.isEnabled()
    assert "Tick the segments" in panel.ui.nextLabel.text
    panel.ui.segmentsList.item(1).setCheckState(qt.Qt.Checked)
    panel.click("applyButton")
    assert panel.widget.panel.result.models[0].GetName() == "Vein centrelines"
    panel.ui.severalCheckBox.click()
    assert panel.parameters.segments == ""
    assert panel.parameters.colouring.value == "radius"
    assert panel.ui.segmentsList.isHidden()


def test_a_segment_that_is_removed_is_not_chosen_any_more(slicer_scene, open_panel, monkeypatch):
    panel = opened(open_panel, monkeypatch)
    panel.ui.severalCheckBox.click()
    segmentation = panel.parameters.input.GetSegmentation()
    segmentation.RemoveSegment(segmentation.GetNthSegmentID(0))
    panel.widget.panel.update()
    assert json.loads(panel.parameters.segments) == list(segmentation.GetSegmentIDs())
    panel.click("applyButton")
    assert set(texts(panel, "Tree")) == {"Vein", "Liver"}


def test_the_files_of_several_trees(slicer_scene, open_panel, monkeypatch, tmp_path):
    import qt

    panel = opened(open_panel, monkeypatch)
    panel.ui.severalCheckBox.click()
    panel.click("applyButton")
    for name, suffix in (("csvButton", "csv"), ("swcButton", "swc")):
        path = str(tmp_path / f"all.{suffix}")
        monkeypatch.setattr(qt.QFileDialog, "getSaveFileName", lambda *_, path=path: path)
        panel.click(name)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["all-Liver.swc", "all-Portal.swc", "all-Vein.swc", "all.csv"]
    header = (tmp_path / "all.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.startswith("tree,branch,")


# --- how it looks


def test_nothing_is_clipped(panel, tmp_path):
    choose_trunk(panel)
    panel.ui.branchToolsSection.collapsed = False
    tools(panel).pruneSpinBox.value = 14
    press(panel, "pruneButton")
    panel.grab(tmp_path / "tools.png")
    assert panel.clipped() == []


def test_every_tool_says_what_it_does(panel):
    import qt

    for kind in (qt.QPushButton, qt.QComboBox, qt.QDoubleSpinBox, qt.QLineEdit, qt.QListWidget):
        for each in vars(tools(panel)).values():
            if type(each) is kind and not each.name.startswith("qt_"):
                assert len(each.toolTip) > 20, each.name
