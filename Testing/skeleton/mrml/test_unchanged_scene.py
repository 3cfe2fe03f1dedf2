"""Refusals, Cancel and failures leave the scene as it was."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled, InputError
from support.mrml_cases import (
    add_volume,
    scene_text,
)
from support.skeleton_cases import (
    ALL,
    LABELMAP,
    MASK,
    add_labelmap,
    add_segmentation,
)


def refusals():
    """Calls that fail: name -> (input and options, part of the message)."""
    other = "vtkMRMLTableNode"
    return {
        "nothing": (lambda s: ((None,), {}), "No input"),
        "another kind": (lambda s: ((add("vtkMRMLModelNode"),), {}), "'new' is no labelmap"),
        "a volume": (lambda s: ((add_volume(np.ones((4, 4, 4))),), {}), "'scan' is no labelmap"),
        "no voxels": (lambda s: ((add(LABELMAP),), {}), "'new' holds no voxels"),
        "label 0": (lambda s: ((s,), {"label": 0}), "no label 0"),
        "half a label": (lambda s: ((s,), {"label": 0.5}), r"label is 0\.5"),
        "no segment": (lambda s: ((add_segmentation(s), "liver"), {}), "'liver'; it has 'vessel'"),
        "which segment": (
            lambda s: ((add_segmentation(add_labelmap(two()), ("a", "b")),), {}),
            "2 segments; choose one of 'a', 'b'",
        ),
        "no segments": (lambda s: ((add("vtkMRMLSegmentationNode"),), {}), "has no segment"),
        "label of segment": (lambda s: ((add_segmentation(s),), {"label": 1}), "name a segment"),
        "segment of label": (lambda s: ((s, "vessel"), {}), "'scan' is a labelmap"),
        "method": (lambda s: ((s,), {"method": "magic"}), "magic"),
        "input as output": (lambda s: ((s,), {"labelmapNode": s}), "'scan' is the input"),
        "output kind": (lambda s: ((s,), {"modelNode": add(other)}), r"'new' \(modelNode\)"),
        "no node": (lambda s: ((s,), {"curveNodes": ["c"]}), r"'c' \(curveNodes\)"),
        "no dict": (lambda s: ((s,), {"criticalPointsNodes": [1]}), "dict of kind"),
        "no kind": (
            lambda s: ((s,), {"criticalPointsNodes": {"sink": add("vtkMRMLMarkupsFiducialNode")}}),
            "kinds are attractor",
        ),
        "twice": (lambda s: ((s,), twice("vtkMRMLModelNode")), "two outputs"),
        "not in the scene": (lambda s: ((s,), {"tableNode": lost(other)}), "'lost' is not in"),
    }


def two():
    labels = MASK.astype(np.uint8)
    labels[2:6, 2:6, 2:6] = 2
    return labels


def add(class_name):
    import slicer

    return slicer.mrmlScene.AddNewNodeByClass(class_name, "new")


def twice(class_name):
    node = add(class_name)
    return {"modelNode": node, "tubesNode": node}


def lost(class_name):
    import slicer

    node = getattr(slicer, class_name)()
    node.SetName("lost")
    return node


@pytest.mark.parametrize("case", refusals())
def test_refused_input_changes_nothing(logic, labelmap, case):
    make, message = refusals()[case]
    arguments, options = make(labelmap)
    before = scene_text()
    with pytest.raises(InputError, match=message):
        logic.extract(*arguments, **options)
    assert scene_text() == before


@pytest.mark.parametrize("share", [0.0, 0.3, 0.75, 1.0])
def test_cancel_changes_nothing(logic, labelmap, hierarchy, share):
    before = scene_text()
    with pytest.raises(Cancelled):
        logic.extract(labelmap, progress=lambda fraction: fraction < share, **ALL)
    assert scene_text() == before


@pytest.mark.parametrize("step", ["show_curve", "group"])
def test_a_failure_while_writing_removes_what_was_added(
    logic, labelmap, hierarchy, monkeypatch, step
):
    from PotentialSkeletonMRML import outputs

    before, items = scene_text(), hierarchy.GetNumberOfItems()
    monkeypatch.setattr(outputs, step, lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        logic.extract(labelmap, **ALL)
    assert scene_text() == before
    assert hierarchy.GetNumberOfItems() == items


@pytest.mark.parametrize("which", ["input", "output"])
def test_a_node_removed_meanwhile_is_named(slicer_scene, logic, labelmap, which):
    model = slicer_scene.AddNewNodeByClass("vtkMRMLModelNode", "lines")
    removed = labelmap if which == "input" else model

    def remove(fraction):
        slicer_scene.RemoveNode(removed)
        return True

    name = "scan" if which == "input" else "lines"
    nodes = slicer_scene.GetNumberOfNodes()
    with pytest.raises(Cancelled, match=f"'{name}' was removed"):
        logic.extract(labelmap, modelNode=model, progress=remove)
    assert slicer_scene.GetNumberOfNodes() <= nodes - 1
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLMarkupsCurveNode") == 0
