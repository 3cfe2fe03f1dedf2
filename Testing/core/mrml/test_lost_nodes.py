"""A node that is removed leaves an empty choice in the panels: never another node instead."""

import numpy as np
import pytest

from support.mrml_cases import add_seeds, add_volume

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")

LABELMAP = "vtkMRMLLabelMapVolumeNode"
SHAPE = (14, 16, 18)


def vessel(shape=SHAPE):
    """A noisy tube along I in a darker background."""
    rng = np.random.default_rng(4)
    k, j, _ = np.indices(shape)
    tube = (k - 7) ** 2 + (j - 8) ** 2 <= 9
    return (np.where(tube, 200, 90) + rng.normal(0, 9, shape)).astype(np.int16)


@pytest.fixture
def panel(open_panel):
    """The connectedness panel, with a node before and a node behind each of the inputs."""
    import slicer

    panel, add = open_panel("FuzzyConnectedGPU"), slicer.mrmlScene.AddNewNodeByClass
    volumes = [add_volume(vessel()) for _ in range(3)]
    masks = [add_volume(np.ones(SHAPE, np.uint8), kind=LABELMAP) for _ in range(3)]
    lists = [add_seeds(volumes[1], [(7, 8, 3), (7, 8, 14)], f"list {n}") for n in range(4)]
    rois = [add("vtkMRMLMarkupsROINode", f"box {n}") for n in range(3)]
    parameters = panel.parameters
    parameters.inputVolume, parameters.mask, parameters.roi = volumes[1], masks[1], rois[1]
    parameters.seeds, parameters.backgroundSeeds = lists[1], lists[2]
    panel.process_events()
    return panel


@pytest.mark.parametrize("name", ["inputVolume", "seeds", "backgroundSeeds", "roi", "mask"])
@pytest.mark.parametrize("how", ["selector", "scene"])
def test_an_input_that_goes_leaves_nothing_chosen(slicer_scene, panel, name, how):
    selector = {
        "inputVolume": panel.ui.inputSelector,
        "seeds": panel.ui.seedsSelector,
        "backgroundSeeds": panel.ui.backgroundSelector,
        "roi": panel.ui.roiSelector,
        "mask": panel.ui.maskSelector,
    }[name]
    assert selector.currentNode() is getattr(panel.parameters, name)
    if how == "selector":
        selector.removeCurrentNode()
    else:
        slicer_scene.RemoveNode(getattr(panel.parameters, name))
    panel.process_events()
    assert getattr(panel.parameters, name) is None
    assert selector.currentNode() is None


def test_the_vessel_list_does_not_become_the_background_list(slicer_scene, panel):
    background = panel.parameters.backgroundSeeds
    slicer_scene.RemoveNode(panel.parameters.seeds)
    panel.process_events()
    assert panel.parameters.seeds is None
    assert panel.parameters.backgroundSeeds is background
    assert not panel.ui.applyButton.enabled


def test_an_object_that_goes_leaves_nothing_chosen(slicer_scene, open_panel):
    panel = open_panel("PotentialSkeleton")
    objects = [add_volume(np.ones((5, 5, 5), np.uint8), kind=LABELMAP) for _ in range(3)]
    panel.parameters.input = objects[1]
    panel.process_events()
    slicer_scene.RemoveNode(objects[1])
    panel.process_events()
    assert panel.parameters.input is None
    assert panel.ui.inputSelector.currentNode() is None
    assert not panel.ui.applyButton.enabled
