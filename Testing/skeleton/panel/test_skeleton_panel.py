"""The second module's panel: real .ui file, real nodes and runs, clicked as a user would."""

import csv

import numpy as np
import pytest

from support.mrml_cases import add_volume

LABELMAP = "vtkMRMLLabelMapVolumeNode"


@pytest.fixture
def panel(skeleton_panel):
    """The panel with a labelmap of two crossing bars and a speck."""
    skeleton_panel.parameters.input = add_bars()
    skeleton_panel.process_events()
    return skeleton_panel


def add_bars(name="bars"):
    array = np.zeros((24, 24, 12), np.uint8)
    array[10:14, 2:22, 4:8] = array[2:22, 10:14, 4:8] = 1
    array[1, 1, 1] = 1
    node = add_volume(array, kind=LABELMAP)
    node.SetName(name)
    return node


def add_segmentation(name="vessels"):
    """Two segments, each a pair of crossing bars."""
    import slicer

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", name)
    node.CreateDefaultDisplayNodes()
    for segment in ("Portal vein", "Hepatic veins"):
        labelmap = add_bars()
        slicer.modules.segmentations.logic().ImportLabelmapToSegmentationNode(labelmap, node)
        slicer.mrmlScene.RemoveNode(labelmap)
        inner = node.GetSegmentation()
        inner.GetNthSegment(inner.GetNumberOfSegments() - 1).SetName(segment)
    return node


def ids(node):
    return list(node.GetSegmentation().GetSegmentIDs())


def lines_of(scene):
    """The models of centrelines; not what shows the chosen branch."""
    import slicer

    models = slicer.util.getNodesByClass("vtkMRMLModelNode", scene)
    return [model for model in models if not model.GetHideFromEditors()]


def column(panel, number, in_order=False):
    """Numbers of a column as the rows are shown, or in the order of the branches."""
    table = panel.ui.branchTable
    rows = range(table.rowCount)
    if in_order:
        rows = sorted(rows, key=lambda row: int(table.item(row, 0).text()))
    return [float(table.item(row, number).text()) for row in rows]


# --- runs


def test_apply_makes_what_is_ticked_and_lists_the_branches(slicer_scene, panel):
    for name in ("tubes", "labelmap", "curves"):
        setattr(panel.parameters, name, True)
    panel.click("applyButton")
    (lines, tubes) = lines_of(slicer_scene)
    count = lines.GetPolyData().GetNumberOfLines()
    assert count > 3
    assert tubes.GetPolyData().GetNumberOfCells() > count

    def numbers():
        kinds = ("vtkMRMLMarkupsCurveNode", "vtkMRMLTableNode", LABELMAP)
        return [slicer_scene.GetNumberOfNodesByClass(kind) for kind in kinds]

    assert numbers() == [count, 1, 2]
    assert panel.ui.branchTable.rowCount == count
    assert panel.ui.statusLabel.text.startswith(f"Found {count} branches.")
    assert panel.ui.summaryLabel.text.startswith(f"{count} branches, ")
    assert "1 island" in panel.ui.notesText.plainText
    for name in ("tubes", "labelmap", "curves", "table"):
        setattr(panel.parameters, name, False)
    panel.click("applyButton")
    assert lines_of(slicer_scene) == [lines]
    assert numbers() == [0, 0, 1]


def test_cancel_ends_a_run_and_changes_nothing(slicer_scene, panel, monkeypatch):
    import slicer

    before = slicer_scene.GetNumberOfNodes()
    monkeypatch.setattr(slicer.app, "processEvents", panel.ui.cancelButton.click)
    panel.click("applyButton")
    assert panel.ui.statusLabel.text.startswith("Cancelled")
    assert slicer_scene.GetNumberOfNodes() == before
    assert panel.ui.applyButton.enabled


# --- the branches


def test_the_table_has_what_the_skeleton_has(slicer_scene, panel):
    panel.click("applyButton")
    table = slicer_scene.GetFirstNodeByClass("vtkMRMLTableNode").GetTable()
    names = ("branch", "generation", "length_mm", "mean_radius_mm", "narrowest_radius_mm")
    for number, name in enumerate(names):
        values = [
            table.GetColumnByName(name).GetValue(row) for row in range(table.GetNumberOfRows())
        ]
        assert column(panel, number, in_order=True) == pytest.approx(values, abs=0.006)
    generations = column(panel, 1)
    assert generations == sorted(generations)
    assert generations[0] == 0


def test_a_click_on_a_branch_shows_it(slicer_scene, slices, panel):
    panel.click("applyButton")
    (lines,) = lines_of(slicer_scene)
    panel.ui.branchTable.selectRow(1)
    number = int(column(panel, 0)[1])
    models = slicer_scene.GetNumberOfNodesByClass("vtkMRMLModelNode")
    chosen = slicer_scene.GetNthNodeByClass(models - 1, "vtkMRMLModelNode")
    assert chosen.GetHideFromEditors()
    assert not chosen.GetSaveWithScene()
    line = lines.GetPolyData().GetCell(number).GetPoints()
    around = np.array(chosen.GetPolyData().GetBounds()).reshape(3, 2)
    inside = np.array([line.GetPoint(n) for n in range(line.GetNumberOfPoints())])
    assert (around[:, 0] <= inside.min(axis=0)).all()
    assert (around[:, 1] >= inside.max(axis=0)).all()
    middle = np.array(line.GetPoint(line.GetNumberOfPoints() // 2))
    for node in slices[::2]:
        place = [node.GetSliceToRAS().GetElement(row, 3) for row in range(3)]
        assert place == pytest.approx(middle, abs=1e-3)
    assert panel.widget.panel.result.plot.curves[0].size == len(inside)
    panel.ui.branchTable.clearSelection()
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLModelNode") == models - 1


def test_table_and_tree_are_saved(slicer_scene, panel, tmp_path, monkeypatch):
    import qt

    panel.click("applyButton")
    asked = iter([str(tmp_path / "branches.csv"), str(tmp_path / "tree"), ""])
    monkeypatch.setattr(qt.QFileDialog, "getSaveFileName", lambda *_: next(asked))
    panel.click("csvButton")
    panel.click("swcButton")
    panel.click("csvButton")  # cancelled in the dialog
    with open(tmp_path / "branches.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["length_mm"]) for row in rows] == pytest.approx(
        column(panel, 2, in_order=True), abs=0.006
    )
    samples = np.loadtxt(tmp_path / "tree.swc")
    bounds = np.array(lines_of(slicer_scene)[0].GetPolyData().GetBounds()).reshape(3, 2)
    assert samples[:, 2:5].min(axis=0) == pytest.approx(bounds[:, 0], abs=1e-4)
    assert samples[:, 2:5].max(axis=0) == pytest.approx(bounds[:, 1], abs=1e-4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["branches.csv", "tree.swc"]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("typed", ["kept", "kept.v2"])
def test_a_file_is_overwritten_only_after_a_question(panel, tmp_path, monkeypatch, several, typed):
    """The dialog asks for the name that was typed; what is added to it is asked for afterwards."""
    import qt
    import slicer

    if several:
        panel.parameters.input = add_segmentation()
        panel.process_events()
        panel.ui.severalCheckBox.click()
    panel.click("applyButton")
    names = [f"{typed}-Hepatic veins.swc", f"{typed}-Portal vein.swc"]
    names = names if several else [f"{typed}.swc"]
    path, asked, answers = tmp_path / names[-1], [], [False, True]
    path.write_text("precious")
    monkeypatch.setattr(qt.QFileDialog, "getSaveFileName", lambda *_: str(tmp_path / typed))
    monkeypatch.setattr(
        slicer.util, "confirmYesNoDisplay", lambda text, **_: asked.append(text) or answers.pop(0)
    )
    panel.click("swcButton")
    assert path.read_text() == "precious"
    assert str(path) in asked[0]
    assert "Saved" not in panel.ui.statusLabel.text
    panel.click("swcButton")
    assert path.read_text() != "precious"
    assert "Saved" in panel.ui.statusLabel.text
    assert sorted(each.name for each in tmp_path.iterdir()) == names
    assert len(asked) == 2


# --- vessels and settings that are changed afterwards


def edit_segment(node, segment_id):
    import slicer

    segment = node.GetSegmentation().GetSegment(segment_id)
    array = slicer.util.arrayFromSegmentInternalBinaryLabelmap(node, segment_id)
    inside = (array == segment.GetLabelValue()).nonzero()
    array[tuple(axis[0] for axis in inside)] = 0  # one voxel is taken away
    image = segment.GetRepresentation("Binary labelmap")
    image.GetPointData().GetScalars().Modified()
    image.Modified()


def test_vessels_and_settings_that_were_changed_ask_for_another_run(panel, slicer_scene, tmp_path):
    import slicer

    edited = "The vessels were edited after the centrelines were found: press Apply."
    stale = "Settings were changed after the centrelines were found: press Apply."
    vessels = panel.parameters.input = add_segmentation()
    panel.process_events()
    panel.click("applyButton")
    advice, parameters = panel.ui.adviceLabel.text, panel.parameters
    parameters.device = type(parameters.device).CPU  # gives the same
    parameters.colouring = type(parameters.colouring).BRANCH  # is not of the run
    edit_segment(vessels, ids(vessels)[1])  # another one
    panel.process_events()
    assert panel.ui.adviceLabel.text == advice
    parameters.strength = 8
    assert panel.ui.adviceLabel.text == stale
    parameters.strength = 6
    assert panel.ui.adviceLabel.text == advice
    parameters.curves = True
    assert panel.ui.adviceLabel.text == stale
    for number, said in enumerate((stale, edited)):
        assert slicer.util.saveScene(str(tmp_path / f"{number}.mrb"), {})
        slicer_scene.Clear(False)
        panel.process_events()
        slicer.util.loadScene(str(tmp_path / f"{number}.mrb"), {})
        panel.process_events()
        assert panel.ui.adviceLabel.text == said  # also after saving and loading
        node = panel.parameters.input
        edit_segment(node, ids(node)[0])
        panel.process_events()
        assert panel.ui.adviceLabel.text == edited
    panel.click("applyButton")
    assert panel.ui.adviceLabel.text == advice


# --- scenes, modules, reload


@pytest.mark.parametrize("suffix", ["mrb", "mrml"])
def test_the_result_is_there_after_saving_and_loading(slicer_scene, panel, tmp_path, suffix):
    import slicer

    panel.parameters.tubes = panel.parameters.curves = True
    panel.parameters.colouring = type(panel.parameters.colouring).BRANCH
    panel.click("applyButton")
    rows = [column(panel, number) for number in range(5)]
    notes = panel.ui.notesText.plainText
    panel.ui.branchTable.selectRow(0)
    for node in slicer.util.getNodesByClass("vtkMRMLStorableNode") if suffix == "mrml" else ():
        if node.GetSaveWithScene() and node.AddDefaultStorageNode() is not False:
            storage = node.GetStorageNode()
            if storage is not None:
                extension = storage.GetDefaultWriteFileExtension()
                slicer.util.saveNode(node, str(tmp_path / f"{node.GetID()}.{extension}"), {})
    assert slicer.util.saveScene(str(tmp_path / f"scene.{suffix}"), {})
    slicer_scene.Clear(False)
    panel.process_events()
    assert panel.ui.resultArea.isHidden()
    slicer.util.loadScene(str(tmp_path / f"scene.{suffix}"), {})
    panel.process_events()
    assert panel.parameters.input.GetName() == "bars"
    assert [column(panel, number) for number in range(5)] == rows
    assert panel.ui.notesText.plainText == notes
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLModelNode") == 2  # no chosen branch
    nodes = slicer_scene.GetNumberOfNodes()
    panel.click("applyButton")
    assert slicer_scene.GetNumberOfNodes() == nodes  # the loaded nodes were filled again


def test_the_module_s_own_tests_pass_in_the_panel(slicer_scene, panel, monkeypatch):
    from PotentialSkeleton import PotentialSkeletonTest

    passed = []
    for name in ("test_centrelines", "test_panel"):
        test = getattr(PotentialSkeletonTest, name)
        recorded = lambda self, test=test: passed.append(test(self))  # noqa: E731
        monkeypatch.setattr(PotentialSkeletonTest, name, recorded)
    PotentialSkeletonTest().runTest()
    assert len(passed) == 2


# --- how it looks


def test_nothing_is_clipped_and_the_first_view_needs_no_scrolling(panel, tmp_path):
    """On 1600 x 1000 pixels Slicer leaves a module about 740 of the height."""
    panel.click("applyButton")
    panel.ui.branchTable.selectRow(0)
    assert panel.ui.advancedSection.collapsed
    assert panel.grab().height() <= 740
    panel.ui.advancedSection.collapsed = False
    assert panel.grab(tmp_path / "panel.png").width() == 420
    assert panel.clipped() == []
