"""Scenes that earlier versions saved load with their meaning unchanged."""

import numpy as np
import pytest

from support.places import ROOT

# Of version 0.1: the liver phantom of 44^3 voxels, both modules' parameters and results. The
# parameters were written by Slicer's own parameterNodeWrapper.
SCENE = ROOT / "Testing" / "saved" / "scene-0.1.mrb"


@pytest.fixture
def panels(slicer_scene, open_panel):
    """Both panels, after the scene was loaded."""
    import slicer

    panels = [open_panel(name) for name in ("FuzzyConnectedGPU", "PotentialSkeleton")]
    slicer.util.loadScene(str(SCENE), {})
    panels[0].process_events()
    return panels


def shown_length(panel):
    """The sum of the table's lengths, in mm."""
    table = panel.ui.branchTable
    return sum(float(table.item(row, 2).text()) for row in range(table.rowCount))


def test_vessels_are_shown_cut_and_found_again(panels):
    import slicer

    panel, parameters = panels[0], panels[0].parameters
    assert parameters.inputVolume.GetName() == "Liver phantom"
    assert parameters.seeds.GetNumberOfControlPoints() == 4
    assert parameters.model.value == "affinity"
    assert parameters.side.value == "bright"
    assert parameters.solver.value == "exact"
    assert parameters.thresholdSource.value == "manual"
    assert parameters.threshold == pytest.approx(0.4)
    assert parameters.sigma == pytest.approx(19.2738)
    assert np.count_nonzero(slicer.util.arrayFromVolume(parameters.labelmap)) == 1680
    assert "428 ml" in panel.ui.volumeValueLabel.text
    panel.ui.thresholdSlider.value = 0.6
    panel.process_events()
    values = slicer.util.arrayFromVolume(parameters.sceneVolume).copy()
    labels = slicer.util.arrayFromVolume(parameters.labelmap)
    assert np.array_equal(labels > 0, values >= np.float32(0.6))
    panel.click("applyButton")
    assert np.array_equal(slicer.util.arrayFromVolume(panel.parameters.sceneVolume), values)


def test_branches_are_shown_and_found_again(panels):
    panel, parameters = panels[1], panels[1].parameters
    assert parameters.input is panels[0].parameters.segmentation
    assert parameters.segment in list(parameters.input.GetSegmentation().GetSegmentIDs())
    assert parameters.curves
    assert parameters.level.name == "LIMBS"
    assert parameters.strength == 6
    assert panel.ui.branchTable.rowCount == 35
    saved = shown_length(panel)
    panel.click("applyButton")
    # Within its junctions, where the object is rough, the skeleton is not that of version 0.1.
    assert shown_length(panel) == pytest.approx(saved, rel=0.02)
    assert panel.ui.branchTable.rowCount > 25
