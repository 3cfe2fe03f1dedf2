"""A node that is removed leaves an empty choice in the panels: never another node instead."""

import numpy as np
import pytest

from support.mrml_cases import add_volume

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")

LABELMAP = "vtkMRMLLabelMapVolumeNode"


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
